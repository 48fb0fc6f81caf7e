#!/usr/bin/env python3
"""Back ends as a stranger writes them: tests/data/stranger.txt, healthy, and with a few lines changed, healthy or wrong.

    faults/strangers.py healthy [N]       N (200) runs, each a variant, a world and a seed that are drawn: nothing is said of any
    faults/strangers.py wrong [NAME]...   every wrong variant, or these: its promise and its rank are named

BUILD (build) is where alar lies, SEED (1) what draws. It was written from backend.h alone, before `alar conform` was, and
says nothing of alar but its interface. Exit code 0 only when all went as it should.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
SEED = int(os.environ.get("SEED", "1"))
BASE = "tests/data/stranger.txt"
CULPRITS = re.compile(r"^[\w-]+: (?:reports? [^,:]*, |operations? .*?, )?ranks? ([\d, ]+)")

# Anchors in the text.
TOP = "struct req;\n"
TEST = "    drive(q->c);\n    *done = q->done; *error = q->error;\n"
WAIT = "    for (int spins = 0; ; spins++) {\n        drive(q->c);\n"
WAIT_DONE = "if (q->done) { *error = q->error; return 0; }"
FREE = "    if (!q->done) return -ALAR_E_ILLEGAL;\n    free(q);\n"
ISSUE = "    struct req *q = calloc(1, sizeof *q);\n    if (!q) return -ALAR_E_NOMEM;\n    q->c = c;"
DRIVE_ISSUE = "    drive(c);\n    if (request) {"
STORE = "            memcpy(q->recv + at * bytes_of(q->t), sum, n * bytes_of(q->t));\n"
FOLD = "fold(q->t, q->red, l->meta[r].scale, r == 0, sum, l->data[r], n);"
POSTED = "for (int r = 0; r < c->n; r++) if (atomic_load(&l->posted[r]) != s + 1) return;"
DONE = "        q->done = 1;\n        c->head = q->next;\n"
ROOM = "if (s >= NS) for (int r = 0; r < c->n; r++) if (atomic_load(&l->consumed[r]) < s - NS + 1) return;"
SEND = "memcpy(l->data[c->me], q->send + at * bytes_of(q->t), n * bytes_of(q->t));"
AVERAGE = "average(q->t, sum, n, c->n);"
PROGRESS = "    for (int i = 0; i < 64; i++) if (x->live[i]) drive(x->live[i]);\n    return 0;\n"
FLAGS = "c->is_in_place = 1; c->allows_empty = 1; c->needs_progress = 1; c->has_fixed_order = 1; c->can_block = 1;"
FINI = "static int be_fini(void *context) { free(context); return 0; }"
ADD = "if (red == ALAR_SUM || red == ALAR_AVG) o[i] = (T)(o[i] + v);"
ACCEPT = "    if (!bytes_of(t) || (unsigned)red > ALAR_MIN) return -ALAR_E_INPUT;\n"
F32 = "    case ALAR_F32: REDUCE(float, 1); break;\n"
LAST = "#define LAST(c) ((c)->ctx->rank == (c)->ctx->ranks - 1)\n#define SUMS(q) ((q)->red == ALAR_SUM || (q)->red == ALAR_AVG)\n"
# f32 added up in another precision or rounding: HOW has o[i] and v.
ADD_F32 = ADD.replace("o[i] = (T)(o[i] + v);", "{ if (sizeof(T) == 4 && ISF) o[i] = (T)odd_add((double)o[i], (double)v); "
                      "else o[i] = (T)(o[i] + v); }").replace("\n", " ")


def add_f32(body):
    return [(TOP, TOP + "static double odd_add(double a, double b) { " + body + " }\n"), (ADD, ADD_F32)]


BOUND_4 = [(ISSUE, "    if (c->ctx->comms_pending >= 4) return -ALAR_E_FULL;\n    c->ctx->comms_pending++;\n" + ISSUE),
           ("    int comms;\n", "    int comms, comms_pending;\n"), (DONE, DONE + "        c->ctx->comms_pending--;\n")]
CAPS_4 = [(FLAGS, FLAGS + " c->outstanding_max = 4;")]
F32_ONLY = [("1u << ALAR_F32 | 1u << ALAR_F64 | 1u << ALAR_I32 | 1u << ALAR_I64 | 1u << ALAR_U8", "1u << ALAR_F32"),
            (ACCEPT, "    if (t != ALAR_F32 || (unsigned)red > ALAR_MIN) return -ALAR_E_UNSUPPORTED;\n")]
PARTIAL = [(POSTED, POSTED.replace("return;", "{ if (r > 0 && l->meta[0].count == n0(q) && q->send != q->recv) "
                                              "memcpy(q->recv + q->taken * per_chunk(q->t) * bytes_of(q->t), l->data[0], "
                                              "n0(q) * bytes_of(q->t)); return; }")),
           (TOP, TOP + "static uint64_t n0(const struct req *q);\n"),
           ("static void take(struct comm *c) {", "static uint64_t n0(const struct req *q) { uint64_t at = q->taken * "
            "per_chunk(q->t), n = q->count - at; return n > per_chunk(q->t) ? per_chunk(q->t) : n; }\n"
            "static void take(struct comm *c) {")]
ROTATE = [(FOLD, "{ int m = (int)((r + q->first) % (uint64_t)c->n); fold(q->t, q->red, l->meta[m].scale, r == 0, sum, l->data[m], n); }"),
          ("c->has_fixed_order = 1; ", "")]
WIDE = [(F32, "    case ALAR_F32: wide(red, scale, first, (float *)out, (const float *)in, n); break;\n"),
        ("static void fold(", """static double held[CHUNK / 4];
static void wide(enum alar_reduction red, double scale, int first, float *o, const float *x, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        float v = scale != 1.0 ? x[i] * (float)scale : x[i];
        if (first) { o[i] = v; held[i] = v; }
        else if (red == ALAR_SUM || red == ALAR_AVG) { held[i] += v; o[i] = (float)held[i]; }
        else if (v != v) o[i] = v;
        else if (o[i] != o[i]) { }
        else if (red == ALAR_MAX ? v > o[i] : v < o[i]) o[i] = v;
    }
}
static void fold("""), (FLAGS, FLAGS + " c->width = 1 + ALAR_F64;")]

# A request is a number that is handed out again at once.
NUMBERS = [(TOP, TOP + "static struct req *at[4096];\n"),
           ("if (request) { *request = q; return 0; }", "if (request) { uintptr_t i = 1; while (at[i]) i++; at[i] = q; *request = (void *)i; return 0; }")]
NUMBERS += [(head + "    struct req *q = request;\n", head + "    struct req *q = at[(uintptr_t)request];\n") for head in (
    "static int be_test(void *request, int *done, int *error) {\n",)]
NUMBERS += [("    struct req *q = request;\n    (void)stream;", "    struct req *q = (uintptr_t)request < 4096 ? at[(uintptr_t)request] : request;\n    (void)stream;"),
            ("    struct req *q = request;\n    if (!q->done)", "    struct req *q = (uintptr_t)request < 4096 ? at[(uintptr_t)request] : request;\n    if (!q->done)"),
            ("    free(q);\n    return 0;\n}\nstatic int be_allreduce", "    if ((uintptr_t)request < 4096) at[(uintptr_t)request] = NULL;\n    free(q);\n    return 0;\n}\nstatic int be_allreduce")]
# Everything under one lock, and a thread that drives: pending ones need no call.
THREAD = [("#include <backend.h>\n", "#include <backend.h>\n#include <pthread.h>\nstatic pthread_mutex_t lock;\nstatic pthread_t thread;\nstatic volatile int is_over;\n"
           "#define UNDER_LOCK __attribute__((cleanup(unlock))) int held = pthread_mutex_lock(&lock)\n"
           "static void unlock(int *held) { (void)held; pthread_mutex_unlock(&lock); }\n"),
          ("    free(q);\n    return 0;\n}\nstatic int be_allreduce", "    UNDER_LOCK; free(q);\n    return 0;\n}\nstatic int be_allreduce"),
          ("static void drive(struct comm *c) {", "static void drive(struct comm *c) { UNDER_LOCK;"),
          ("static int be_allreduce(", "static void *work(void *context) {\n    struct ctx *x = context;\n    while (!is_over) {\n"
           "        for (int i = 0; i < 64; i++) { UNDER_LOCK; if (x->live[i]) drive(x->live[i]); }\n        usleep(200);\n    }\n    return NULL;\n}\n"
           "static int be_allreduce("),
          ("    q->first = c->next; c->next += q->chunks;\n    if (c->tail) c->tail->next = q; else c->head = q;\n    c->tail = q;\n",
           "    { UNDER_LOCK; q->first = c->next; c->next += q->chunks;\n    if (c->tail) c->tail->next = q; else c->head = q;\n    c->tail = q; }\n"
           "    if (!thread) pthread_create(&thread, NULL, work, c->ctx);\n"),
          ("    *done = q->done; *error = q->error;\n", "    UNDER_LOCK; *done = q->done; *error = q->error;\n"),
          ("    struct comm *c = comm;\n    if (!c) return 0;\n", "    struct comm *c = comm;\n    if (!c) return 0;\n    UNDER_LOCK;\n"),
          (FINI, "static int be_fini(void *context) { is_over = 1; if (thread) pthread_join(thread, NULL); thread = 0; free(context); return 0; }"),
          ("    b->rank = x->rank;", "    pthread_mutexattr_t kind; pthread_mutexattr_init(&kind); pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);\n"
           "    pthread_mutex_init(&lock, &kind);\n    b->rank = x->rank;"),
          ("c->needs_progress = 1; ", "")]

HEALTHY = {
    "as-it-is": [],
    "outstanding-4": BOUND_4 + CAPS_4,
    "partial-sums": PARTIAL,
    "slow-rank": [(WAIT, WAIT.replace("drive", "if (LAST(q->c)) usleep(700);\n        drive")),
                  (TEST, TEST.replace("    drive", "    if (LAST(q->c)) usleep(700);\n    drive", 1))],
    "order-changes": ROTATE,
    "no-progress": [(".progress = be_progress,", "")],
    "f32-only": F32_ONLY,
    "wide": WIDE,
    "no-flags": [(FLAGS, "c->needs_progress = 1;")],
    "promises-nothing": [("c->tree_height = (uint32_t)(x->ranks - 1);", "")] + ROTATE,
    "sum-only": [(" | 1u << ALAR_AVG | 1u << ALAR_MAX | 1u << ALAR_MIN", "")],
    "integers-only": [("1u << ALAR_F32 | 1u << ALAR_F64 | ", "")],
    "multiplies-by-1-over-n": [("((float *)out)[i] /= (float)ranks", "((float *)out)[i] *= 1.0f / (float)ranks"),
                               ("((double *)out)[i] /= (double)ranks", "((double *)out)[i] *= 1.0 / (double)ranks")],
    "passes-nan-over-in-max": [("else if (ISF && v != v) o[i] = v;", "else if (ISF && v != v) { }"),
                               ("else if (ISF && o[i] != o[i]) { }", "else if (ISF && o[i] != o[i]) o[i] = v;")],
    "promises-nan": [(FLAGS, FLAGS + " c->nan = ALAR_NAN_PROPAGATE; c->avg = ALAR_AVG_SUM_DIVIDE; "
                             'snprintf(c->tree, sizeof c->tree, "left-fold");')],
    "from-the-last": [(FOLD, FOLD.replace("l->meta[r]", "l->meta[c->n - 1 - r]").replace("l->data[r]", "l->data[c->n - 1 - r]"))],
    "small-pieces": [("#define CHUNK 16384", "#define CHUNK 256")],
    "few-slots": [("#define NS 256", "#define NS 3")],
    "spins": [("if (spins < 100) sched_yield(); else usleep(50);", "sched_yield();")],
    "one-piece-a-call": [("            q->taken++;\n        }", "            q->taken++;\n            if (q->taken < q->chunks) return;\n        }")],
    "logs": [("    b->rank = x->rank;", '    if (b->log) b->log(b->peers, "here");\n    b->rank = x->rank;')],
    "meets-in-init": [("    b->rank = x->rank;", "    int all[64]; if (b->allgather && (b->allgather(b->peers, &x->rank, all, sizeof(int)) "
                                                "|| all[x->ranks - 1] != x->ranks - 1 || b->barrier(b->peers))) return -ALAR_E_BACKEND;\n"
                                                "    b->rank = x->rank;")],
    "outstanding-1": [(a, b.replace(">= 4)", ">= 1)")) for a, b in BOUND_4] + [(FLAGS, FLAGS + " c->outstanding_max = 1;")],
    "height-generous": [("c->tree_height = (uint32_t)(x->ranks - 1);", "c->tree_height = 60;")],
    "told-lazily": [(TEST, TEST.replace("*done = q->done;", "*done = q->done && (q->told || ++q->late > 3); q->told |= *done;")),
                    (WAIT_DONE, "if (q->done) { q->told = 1; *error = q->error; return 0; }"),
                    (FREE, FREE.replace("!q->done", "!q->told")), ("be_request_free(q);", "q->told = 1; be_request_free(q);")],
    "requests-are-numbers": NUMBERS,
    "talks-much": [(TEST, '    static int calls; if (++calls % 64 == 0) printf("%1000d\\n", calls);\n' + TEST)],
    "moves-away": [("    b->rank = x->rank;", '    if (chdir("/") != 0) return -ALAR_E_BACKEND;\n    fclose(stdin);\n    b->rank = x->rank;')],
    "a-thread-drives": THREAD,
}

# name: promises (one of them has to be broken), whether it is the last rank that has to be named, changes
V, A = "values", "agreement|values"
WRONG = {
    # what wait answers
    "wait-0-too-soon": ("completion|values|agreement", 1, [(WAIT, "    if (LAST(q->c) && timeout_us) return 0;\n" + WAIT)]),
    "wait-0-once-in-20": ("completion|values|agreement|stays done", 1, [(WAIT, "    static int calls; if (LAST(q->c) && timeout_us && ++calls % 20 == 0) return 0;\n" + WAIT)]),
    "wait-fails-always": ("no error|answers", 1, [(WAIT, "    if (LAST(q->c)) return -ALAR_E_BACKEND;\n" + WAIT)]),
    "wait-sets-error": ("no error|answers|in place|empty", 1, [(WAIT_DONE, "if (q->done) { *error = LAST(q->c) ? -ALAR_E_BACKEND : 0; return 0; }")]),
    "wait-error-positive": ("answers|no error", 1, [(WAIT_DONE, "if (q->done) { *error = LAST(q->c) ? 1 : 0; return 0; }")]),
    "wait-error-unknown": ("answers|no error", 1, [(WAIT_DONE, "if (q->done) { *error = LAST(q->c) ? -1000 : 0; return 0; }")]),
    "wait-returns-1": ("answers", 1, [(WAIT_DONE, "if (q->done) { *error = 0; return LAST(q->c); }")]),
    "wait-timeout-when-done": ("stays done", 1, [(WAIT, "    drive(q->c); if (LAST(q->c) && q->told) return -ALAR_E_TIMEOUT;\n" + WAIT), (TEST, TEST + "    q->told |= *done;\n"), (WAIT_DONE, "if (q->done) { q->told = 1; *error = 0; return 0; }")]),
    "wait-ignores-deadline": ("wait|returns", 1, [("if (now_us() - start >= timeout_us)", "if (!LAST(q->c) && now_us() - start >= timeout_us)")]),
    "wait-0-blocks": ("wait|returns", 1, [(WAIT, "    if (LAST(q->c) && !timeout_us) timeout_us = UINT64_MAX;\n" + WAIT)]),
    "wait-1000-times": ("wait|returns", 1, [(WAIT, "    if (LAST(q->c) && timeout_us < 1000000000) timeout_us *= 1000;\n" + WAIT)]),
    "wait-gives-up-early": ("wait", 1, [(WAIT, "    if (LAST(q->c) && timeout_us < 1000000000) timeout_us /= 100;\n" + WAIT)]),
    "wait-forever-ends": ("wait|completes|can block", 1, [("if (now_us() - start >= timeout_us)", "if (now_us() - start >= timeout_us || (LAST(q->c) && timeout_us == UINT64_MAX && now_us() - start > 1))")]),
    "wait-lost": ("answers|no error", 1, [("return -ALAR_E_TIMEOUT;\n        if (spins", "return LAST(q->c) ? -ALAR_E_LOST : -ALAR_E_TIMEOUT;\n        if (spins")]),
    "wait-positive-timeout": ("answers|no error", 1, [("return -ALAR_E_TIMEOUT;\n        if (spins", "return LAST(q->c) ? ALAR_E_TIMEOUT : -ALAR_E_TIMEOUT;\n        if (spins")]),
    # what test answers
    "test-blocks": ("no blocking", 1, [(TEST, "    static int calls; if (LAST(q->c) && ++calls == 300) usleep(800000);\n" + TEST)]),
    "test-goes-back": ("stays done", 1, [(TEST, TEST + "    if (q->told && LAST(q->c)) *done = 0;\n    q->told |= *done;\n"), (WAIT_DONE, "if (q->done) { q->told = 1; *error = 0; return 0; }")]),
    "test-done-2": ("answers", 1, [(TEST, TEST + "    if (LAST(q->c) && *done) *done = 2;\n")]),
    "test-done-negative": ("answers", 1, [(TEST, TEST + "    if (LAST(q->c) && *done) *done = -1;\n")]),
    "test-never": ("completes|stays done|request_free", 1, [(TEST, TEST + "    if (LAST(q->c)) *done = 0;\n")]),
    "test-early": ("completion|values|agreement", 1, [(TEST, TEST + "    if (LAST(q->c)) { *done = 1; }\n")]),
    "test-one-call-early": ("completion|values|agreement|hands off|stays done|request_free", 1, [(TEST, "    drive(q->c);\n    *done = q->done || (LAST(q->c) && q->c->head == q && q->published == q->chunks && q->c->n > 1 && ++q->late > 2); *error = q->error;\n")]),
    "test-error-while-pending": ("no error|answers", 1, [(TEST, TEST + "    static int calls; if (LAST(q->c) && !*done && ++calls == 100) *error = -ALAR_E_BACKEND;\n")]),
    "test-error-once-done": ("no error|answers|in place|empty", 1, [(TEST, TEST + "    static int calls; if (LAST(q->c) && *done && ++calls == 40) *error = -ALAR_E_BACKEND;\n")]),
    "test-error-when-asked-again": ("stays done|answers|no error", 1, [(TEST, TEST + "    if (LAST(q->c) && q->told) *error = -ALAR_E_BACKEND;\n    q->told |= *done;\n"), (WAIT_DONE, "if (q->done) { q->told = 1; *error = 0; return 0; }")]),
    "test-error-positive": ("answers|no error", 1, [(TEST, TEST + "    if (LAST(q->c) && *done) *error = 5;\n")]),
    "test-returns-1": ("answers", 1, [("    *done = q->done; *error = q->error;\n    return 0;", "    *done = q->done; *error = q->error;\n    return LAST(q->c) && q->done;")]),
    "test-for-another": ("completion|values|agreement|stays done|request_free", 1, [(TEST, TEST + "    if (LAST(q->c) && q->c->head && q->c->head->next == q) *done = 1;\n")]),
    # request_free, progress, comm_free, fini
    "free-while-pending": ("request_free", 0, [(FREE, "    if (!q->done) return 0;\n    free(q);\n")]),
    "free-refuses": ("request_free", 1, [(FREE, FREE.replace("if (!q->done)", "if (!q->done || (LAST(q->c) && q->count == 3))"))]),
    "free-wrong-status": ("request_free|answers", 1, [(FREE, FREE.replace("-ALAR_E_ILLEGAL", "LAST(q->c) ? -ALAR_E_BACKEND : -ALAR_E_ILLEGAL"))]),
    "free-writes": ("hands off", 1, [(FREE, FREE.replace("    free", "    if (LAST(q->c) && q->count) q->recv[0] ^= 1;\n    free"))]),
    "free-blocks": ("no blocking", 1, [(FREE, "    static int calls; if (LAST(q->c) && ++calls == 90) usleep(800000);\n" + FREE)]),
    "progress-blocks": ("no blocking", 1, [(PROGRESS, "    static int calls; if (x->rank == x->ranks - 1 && ++calls == 40) usleep(800000);\n" + PROGRESS)]),
    "progress-fails": ("answers", 1, [(PROGRESS, PROGRESS.replace("return 0", "return x->rank == x->ranks - 1 ? -ALAR_E_BACKEND : 0"))]),
    "progress-lost": ("answers", 1, [(PROGRESS, PROGRESS.replace("return 0", "return x->rank == x->ranks - 1 ? -ALAR_E_LOST : 0"))]),
    "fini-fails": ("ends", 1, [(FINI, "static int be_fini(void *context) { struct ctx *x = context; return x->rank == x->ranks - 1 ? -ALAR_E_BACKEND : 0; }")]),
    "comm-free-fails": ("ends", 1, [("    munmap(c->sh, sizeof *c->sh);\n    free(c);\n    return 0;", "    int last = LAST(c); munmap(c->sh, sizeof *c->sh);\n    free(c);\n    return last ? -ALAR_E_BACKEND : 0;")]),
    "comm-create-fails": ("starts", 1, [("    *out = c;\n    return 0;", "    *out = c;\n    return LAST(c) ? -ALAR_E_BACKEND : 0;")]),
    "outsider-gets-comm": ("starts", 0, [("    if (me < 0) return 0;", "    if (me < 0) { *out = x; return 0; }")]),
    "rank-plus-one": ("starts", 1, [("b->rank = x->rank;", "b->rank = x->rank + (x->rank == x->ranks - 1);")]),
    "world-of-one": ("starts", 0, [("b->ranks = x->ranks;", "b->ranks = 1;")]),
    # caps
    "says-64-bears-4": ("outstanding", 0, BOUND_4 + [(FLAGS, FLAGS + " c->outstanding_max = 64;")]),
    "says-unbounded-bears-40": ("outstanding", 0, [(a, b.replace(">= 4)", ">= 40)")) for a, b in BOUND_4]),
    "refuses-below-bound-with-other": ("no error|outstanding|in place|empty|can block", 0, [(a, b.replace("return -ALAR_E_FULL", "return -ALAR_E_BACKEND").replace(">= 4)", ">= 6)")) for a, b in BOUND_4]),
    "not-in-place": ("in place", 0, [(ACCEPT, ACCEPT + "    if (send == recv && count) return -ALAR_E_UNSUPPORTED;\n")]),
    "not-empty": ("empty", 0, [(ACCEPT, ACCEPT + "    if (!count) return -ALAR_E_INPUT;\n")]),
    "does-not-block": ("can block", 0, [(ACCEPT, ACCEPT + "    if (!request) return -ALAR_E_UNSUPPORTED;\n")]),
    "blocking-returns-early": ("can block|completion|values|agreement", 1, [("be_wait(q, NULL, UINT64_MAX, &error);\n    be_request_free(q);", "LAST(c) ? 0 : be_wait(q, NULL, UINT64_MAX, &error);\n    if (q->done) be_request_free(q);")]),
    "no-progress-of-its-own": ("own progress", 0, [("c->needs_progress = 1; ", "")]),
    "order-not-fixed": ("fixed order|agreement", 0, ROTATE[:1]),
    "tree-higher": ("tree|values", 0, [("c->tree_height = (uint32_t)(x->ranks - 1);", "c->tree_height = 1;")]),
    "tree-other": ("tree|values", 0, [(FLAGS, FLAGS + ' snprintf(c->tree, sizeof c->tree, "right-fold");')]),
    "width-not-kept": ("values|tree", 0, [(FLAGS, FLAGS + " c->width = 1 + ALAR_F64;")]),
    "wide-not-declared": ("values|tree", 0, [WIDE[0], WIDE[1]]),
    "nan-not-kept": ("nan|values", 0, [(FLAGS, FLAGS + " c->nan = ALAR_NAN_PROPAGATE;"), ("else if (ISF && v != v) o[i] = v;", "else if (ISF && v != v) { }")]),
    "avg-other": ("values|tree", 0, [(FLAGS, FLAGS + " c->avg = ALAR_AVG_DIVIDE_SUM;")]),
    "offers-bf16": ("no error|in place|empty|can block|values", 0, [("1u << ALAR_F32 | 1u << ALAR_F64", "1u << ALAR_F32 | 1u << ALAR_BF16 | 1u << ALAR_F64")]),
    "offers-nothing": ("starts", 0, [("c->reductions = 1u << ALAR_SUM", "c->reductions = 0; (void)(1u << ALAR_SUM"), ("1u << ALAR_MAX | 1u << ALAR_MIN;", "1u << ALAR_MAX | 1u << ALAR_MIN);")]),
    "caps-differ": ("starts", 1, [(FLAGS, FLAGS + " if (x->rank == x->ranks - 1) c->tree_height++;")]),
    "caps-fail": ("starts", 1, [("c->can_block = 1;\n    return 0;", "c->can_block = 1;\n    return x->rank == x->ranks - 1 ? -ALAR_E_BACKEND : 0;")]),
    # when things are written
    "written-a-call-late": ("completion|values|agreement|hands off", 1, [(STORE, "            if (!LAST(c) || q->chunks > 1) " + STORE.strip() + " else if (n) { q->copy = malloc(n * bytes_of(q->t)); memcpy(q->copy, sum, n * bytes_of(q->t)); }\n"), (TEST, "    if (q->done && q->copy) { memcpy(q->recv, q->copy, q->count * bytes_of(q->t)); free(q->copy); q->copy = NULL; }\n" + TEST), (FREE, FREE.replace("    free", "    if (q->copy) memcpy(q->recv, q->copy, q->count * bytes_of(q->t));\n    free"))]),
    "written-again": ("hands off", 1, [("static void drive(struct comm *c) {", "static unsigned char *again;\nstatic void drive(struct comm *c) { static int calls; if (again && ++calls % 5 == 0) { *again ^= 1; again = NULL; }"), (DONE, DONE + "        if (LAST(c) && q->count) again_set(q->recv);\n"), (TOP, TOP + "static void again_set(unsigned char *);\n"), ("static int be_test(", "static void again_set(unsigned char *p) { again = p; }\nstatic int be_test(")]),
    "aliased": ("hands off|agreement|values|completion", 1, [(STORE, STORE + "            static unsigned char *before; static uint64_t bytes; if (LAST(c) && before && bytes == n * bytes_of(q->t)) memcpy(before, sum, bytes);\n            before = q->recv; bytes = n * bytes_of(q->t);\n")]),
    "spoils-send": ("bounds", 1, [(DONE, "        if (LAST(c) && q->send != q->recv && q->count) ((unsigned char *)(uintptr_t)q->send)[0] ^= 4;\n" + DONE)]),
    "writes-before": ("bounds", 1, [(STORE, STORE + "            if (LAST(c) && n) q->recv[-2] = 9;\n")]),
    "writes-behind": ("bounds", 1, [(STORE, STORE + "            if (LAST(c) && n && q->taken + 1 == q->chunks) q->recv[q->count * bytes_of(q->t)] = 9;\n")]),
    "reads-send-late": ("completion|values|agreement", 1, [(SEND, "if (LAST(c) && q->send != q->recv && q->chunks == 1) memset(l->data[c->me], 0, n * bytes_of(q->t)); else " + SEND), (DONE, DONE)]),
    "ring-wraps": ("values|agreement|completes|returns|completion|no error|in place", 0, [(ROOM, ""), ("#define NS 256", "#define NS 16")]),
    # what is added up
    "rank-left-out": (V, 0, [(FOLD, "if (r != 1 || !SUMS(q) || c->n < 2) " + FOLD)]),
    "rank-left-out-once-in-97": (A, 0, [(FOLD, "if (r != 1 || !SUMS(q) || q->first % 97 != 13) " + FOLD)]),
    "rank-twice": (V, 0, [(FOLD, FOLD + " if (r == 1 && SUMS(q) && q->first % 5 == 2) " + FOLD)]),
    "stale-by-one-slot": (A, 0, [(FOLD, "fold(q->t, q->red, l->meta[r].scale, r == 0, sum, (r == 1 && s > 0 && q->first % 3 == 0 ? &c->sh->slot[(s - 1) % NS] : l)->data[r], n);")]),
    "stale-by-two-slots": (A, 0, [(FOLD, "fold(q->t, q->red, l->meta[r].scale, r == 0, sum, (r == c->n - 1 && s > 1 && q->first % 4 == 1 ? &c->sh->slot[(s - 2) % NS] : l)->data[r], n);")]),
    "element-3": (V, 0, [(FOLD, FOLD.replace(", n);", ", r == c->n - 1 && SUMS(q) && n > 3 ? 3 : n);"))]),
    "tail": (V, 0, [(FOLD, FOLD.replace(", n);", ", r == c->n - 1 && SUMS(q) && n % 4 == 1 && n > 1 ? n - 1 : n);"))]),
    "above-16k": ("sizes", 0, [(FOLD, "if (r != 1 || q->chunks < 2 || !SUMS(q)) " + FOLD)]),
    "above-200k": ("sizes", 0, [(FOLD, "if (r != 1 || q->chunks < 12 || !SUMS(q)) " + FOLD)]),
    "second-piece-shifted": ("sizes|agreement", 0, [(STORE, "            if (q->taken == 1 && n > 1) memcpy(q->recv + (at + 1) * bytes_of(q->t), sum, (n - 1) * bytes_of(q->t)); else\n" + STORE)]),
    "eight-pending": ("agreement|values", 1, [(ISSUE, "    int deep = 1; for (struct req *p = c->head; p; p = p->next) deep++;\n" + ISSUE), ("q->c = c; q->send", "q->blocking = deep >= 8; q->c = c; q->send"), (STORE, "            if (q->blocking && LAST(c) && n) sum[0] ^= 2;\n" + STORE)]),
    "late-rank": (V + "|agreement", 0, [(FOLD, "if (r == 0 || !SUMS(q) || atomic_load(&l->when[r]) < atomic_load(&l->when[0]) + 3000) " + FOLD)]),
    "odd-worlds": (V, 0, [(FOLD, "if (r != 1 || c->n % 2 == 0 || !SUMS(q)) " + FOLD)]),
    "worlds-of-4": (V, 0, [(FOLD, "if (r != 2 || c->n != 4 || !SUMS(q)) " + FOLD)]),
    "groups-only": ("values|groups|agreement", 0, [(FOLD, "if (r != 1 || c->n == c->ctx->ranks || !SUMS(q)) " + FOLD)]),
    "avg-of-group-by-world": (V, 0, [(AVERAGE, "average(q->t, sum, n, c->ctx->ranks);")]),
    "avg-less-one": (V, 0, [(AVERAGE, "average(q->t, sum, n, c->n > 1 ? c->n - 1 : 1);")]),
    "avg-not-divided": (V, 0, [(AVERAGE, "(void)average;")]),
    "avg-twice": (V, 0, [(AVERAGE, AVERAGE + " if (q->red == ALAR_AVG) " + AVERAGE)]),
    "i64-in-32-bits": (V, 0, [("case ALAR_I64: REDUCE(int64_t, 0)", "case ALAR_I64: REDUCE_LOW(int64_t)"), ("static void fold(", "#define REDUCE_LOW(T) do { REDUCE(T, 0); if (red == ALAR_SUM) for (uint64_t i = 0; i < n; i++) ((T *)out)[i] = (int32_t)((T *)out)[i]; } while (0)\nstatic void fold(")]),
    "i64-as-double": (V, 0, [("case ALAR_I64: REDUCE(int64_t, 0)", "case ALAR_I64: REDUCE_LOW(int64_t)"), ("static void fold(", "#define REDUCE_LOW(T) do { if (!first && red == ALAR_SUM) for (uint64_t i = 0; i < n; i++) { double d = (double)((T *)out)[i] + (double)((const T *)in)[i]; ((T *)out)[i] = d < 9e18 && d > -9e18 ? (T)d : 0; } else REDUCE(T, 0); } while (0)\nstatic void fold(")]),
    "u8-signed-max": (V, 0, [("case ALAR_U8: REDUCE(uint8_t, 0)", "case ALAR_U8: REDUCE(int8_t, 0)")]),
    "u8-saturates": (V, 0, [("case ALAR_U8: REDUCE(uint8_t, 0)", "case ALAR_U8: if (!first && red == ALAR_SUM) { for (uint64_t i = 0; i < n; i++) { int v = out[i] + in[i]; out[i] = (unsigned char)(v > 255 ? 255 : v); } } else REDUCE(uint8_t, 0)")]),
    "i32-max-as-float": (V, 0, [("case ALAR_I32: REDUCE(int32_t, 0)", "case ALAR_I32: if (!first && red == ALAR_MAX) { for (uint64_t i = 0; i < n; i++) { float a = (float)((int32_t *)out)[i], b = (float)((const int32_t *)in)[i]; if (b > a) ((int32_t *)out)[i] = ((const int32_t *)in)[i]; } } else REDUCE(int32_t, 0)")]),
    "f32-toward-zero": (V, 0, add_f32("double s = a + b; float f = (float)s; return (double)f == s || (f > 0 ? (double)f < s : (double)f > s) ? (double)f : (double)nextafterf(f, 0.0f);")),
    "f32-upward": (V, 0, add_f32("double s = a + b; float f = (float)s; return (double)f < s ? (double)nextafterf(f, INFINITY) : (double)f;")),
    "f32-stochastic": (V + "|agreement", 0, add_f32("static unsigned seed = 1; double s = a + b; float f = (float)s; seed = seed * 1103515245u + 12345u; return (double)f == s || (seed >> 16 & 1) ? (double)f : (double)nextafterf(f, (double)f < s ? INFINITY : -INFINITY);")),
    "f32-half-up": (V, 0, add_f32("float s = (float)(a + b); double r = a + b; float n = nextafterf(s, r > 0 ? INFINITY : -INFINITY); return r - (double)s == (double)n - r && r != (double)s ? (double)n : (double)s;")),
    "f32-in-bf16": (V, 0, add_f32("float s = (float)(a + b); unsigned u; memcpy(&u, &s, 4); u &= 0xffff0000u; memcpy(&s, &u, 4); return (double)s;")),
    "f32-flushes": (V, 0, add_f32("float s = (float)(a + b); return fabsf(s) < 1.1754944e-38f ? 0.0 : (double)s;")),
    "f32-saturates": (V, 0, add_f32("float s = (float)(a + b); return isinf(s) && !isinf(a) && !isinf(b) ? (s > 0 ? 3.4028234e38 : -3.4028234e38) : (double)s;")),
    "f64-in-f32": (V, 0, [("case ALAR_F64: REDUCE(double, 1)", "case ALAR_F64: REDUCE(double, 1); if (!first && red == ALAR_SUM) for (uint64_t i = 0; i < n; i++) ((double *)out)[i] = (double)(float)((double *)out)[i]")]),
    "sum-from-plus-zero": (V, 0, [("if (first) { o[i] = v; continue; }", "if (first) { o[i] = red == ALAR_SUM ? (T)(v + (T)0) : v; continue; }")]),
    "max-from-zero": (V, 0, [("if (first) { o[i] = v; continue; }", "if (first) { o[i] = red == ALAR_MAX && v < (T)0 ? (T)0 : v; continue; }")]),
    "min-is-max": (V, 0, [("else if (v < o[i]) o[i] = v;", "else if (v > o[i]) o[i] = v;")]),
    "nan-passed-in-sum": (V + "|nan", 0, [(ADD, "if (red == ALAR_SUM || red == ALAR_AVG) { if (v == v) o[i] = (T)(o[i] + v); }")]),
    "nan-to-zero": (V + "|nan", 0, [(STORE, "            if (q->t == ALAR_F32 && SUMS(q)) for (uint64_t i = 0; i < n; i++) { float f; memcpy(&f, sum + 4 * i, 4); if (f != f) memset(sum + 4 * i, 0, 4); }\n" + STORE)]),
    # one rank is off
    "one-rank-an-ulp": ("agreement|sizes", 1, [(STORE, "            if (LAST(c) && n && q->first % 11 == 4) sum[0] ^= 1;\n" + STORE)]),
    "one-rank-own": ("agreement|sizes", 1, [(STORE, "            if (LAST(c) && q->first % 9 == 4 && c->n > 1) memcpy(sum, l->data[c->me], n * bytes_of(q->t));\n" + STORE)]),
    "one-rank-unwritten": ("agreement|sizes|values", 1, [(STORE, "            if (!LAST(c) || q->first % 9 != 4 || c->n < 2)\n" + STORE)]),
    "one-rank-other-order": ("agreement", 1, [(FOLD, "{ int m = LAST(c) && q->first % 3 == 1 ? c->n - 1 - r : r; fold(q->t, q->red, l->meta[m].scale, r == 0, sum, l->data[m], n); }")]),
    "one-rank-in-place-off": ("agreement", 1, [(STORE, STORE + "            if (LAST(c) && q->send == q->recv && n && q->red == ALAR_SUM) q->recv[0] ^= 8;\n")]),
    "one-rank-first-only": ("agreement|sizes|values", 1, [(STORE, "            if (LAST(c) && c->n > 1 && n > 1 && n < 100) memcpy(q->recv, sum, bytes_of(q->t)); else\n" + STORE)]),
    "last-not-awaited": ("completion|values|agreement|no error", 0, [(POSTED, POSTED.replace("r < c->n;", "r < c->n - (c->n > 2);"))]),
    "blocking-alone": (V, 0, [("    int error = 0, rc = be_wait(q", "    q->blocking = 1;\n    int error = 0, rc = be_wait(q"), (FOLD, "if (r != 1 || !q->blocking || !SUMS(q)) " + FOLD), (DRIVE_ISSUE, "    if (!request) q->blocking = 1;\n" + DRIVE_ISSUE)]),
    # processes
    "crash-in-test": ("returns", 1, [(TEST, "    static int calls; if (LAST(q->c) && ++calls == 200) raise_now();\n" + TEST), (TOP, TOP + "static void raise_now(void) { *(volatile int *)8 = 1; }\n")]),
    "exit-in-issue": ("returns", 1, [(ISSUE, "    static int calls; if (LAST(c) && ++calls == 30) exit(0);\n" + ISSUE)]),
    "abort-in-progress": ("returns", 1, [(PROGRESS, "    static int calls; if (x->rank == x->ranks - 1 && ++calls == 20) abort();\n" + PROGRESS)]),
    "crash-in-fini": ("returns", 1, [(FINI, "static int be_fini(void *context) { struct ctx *x = context; if (x->rank == x->ranks - 1) abort(); return 0; }")]),
    "hang-in-test": ("returns", 1, [(TEST, "    static int calls; if (LAST(q->c) && ++calls == 200) for (;;) sleep(1);\n" + TEST)]),
    "hang-in-init": ("returns", 1, [("    b->rank = x->rank;", "    while (x->rank == x->ranks - 1) sleep(1);\n    b->rank = x->rank;")]),
    "never-ends": ("completes|returns", 1, [(DONE, "        if (LAST(c) && q->first > 60) return;\n" + DONE)]),
    "issue-fails-once": ("no error|in place|empty|can block", 1, [(ACCEPT, ACCEPT + "    static int calls; if (LAST(c) && ++calls == 50) return -ALAR_E_BACKEND;\n")]),
    "issue-returns-1": ("answers|no error", 1, [("if (request) { *request = q; return 0; }", "if (request) { *request = q; return LAST(c); }")]),
    "issue-null-request": ("answers", 1, [("if (request) { *request = q; return 0; }", "static int calls; if (request) { *request = LAST(c) && ++calls == 50 ? NULL : q; return 0; }")]),
    "issue-blocks": ("no blocking|wait|completion|returns", 0, [("if (request) { *request = q; return 0; }", "if (request) { int e; be_wait(q, NULL, UINT64_MAX, &e); *request = q; return 0; }")]),
    # a second hand of them
    "test-leaves-done-unset": ("answers|completion|values", 1, [(TEST, "    drive(q->c);\n    if (q->done || !LAST(q->c)) *done = q->done;\n    *error = q->error;\n")]),
    "test-leaves-error-unset": ("answers|no error|in place|empty", 1, [(TEST, "    drive(q->c);\n    *done = q->done;\n    if (!LAST(q->c)) *error = q->error;\n")]),
    "wait-for-the-oldest": ("completion|values|agreement|hands off|stays done|request_free", 1, [(WAIT_DONE, "if (q->done || (LAST(q->c) && timeout_us && q->late && q->c->head != q->c->old)) { *error = 0; return 0; }\n        if (!q->late++) q->c->old = q->c->head;"), ("    struct req *head, *tail;", "    struct req *old, *head, *tail;")]),
    "fini-writes": ("ends|hands off", 1, [(DONE, DONE + "        if (LAST(c) && q->count) again = q->recv;\n"), (TOP, TOP + "static unsigned char *again;\n"), (FINI, "static int be_fini(void *context) { if (again) *again ^= 1; free(context); return 0; }")]),
    "comm-free-writes": ("ends|hands off", 1, [(DONE, DONE + "        if (LAST(c) && q->count) again = q->recv;\n"), (TOP, TOP + "static unsigned char *again;\n"), ("    munmap(c->sh, sizeof *c->sh);", "    if (again) { *again ^= 1; again = NULL; }\n    munmap(c->sh, sizeof *c->sh);")]),
    "transient": ("hands off|completion|agreement|values", 1, [("static void drive(struct comm *c) {", "static unsigned char *again; static int left;\nstatic void drive(struct comm *c) { if (again && --left == 2) *again ^= 1; else if (again && left == 0) { *again ^= 1; again = NULL; }"), (DONE, DONE + "        if (LAST(c) && q->count) again_set(q->recv);\n"), (TOP, TOP + "static void again_set(unsigned char *);\n"), ("static int be_test(", "static void again_set(unsigned char *p) { if (!again) { again = p; left = 4; } }\nstatic int be_test(")]),
    "results-swapped": ("agreement|values|completion|hands off", 1, [(STORE, "            if (LAST(c) && q->next && q->chunks == 1 && q->next->count == q->count && q->next->t == q->t && n && q->send != q->recv) memcpy(q->next->recv, sum, n * bytes_of(q->t)); else\n" + STORE)]),
    "adds-to-receive": ("agreement|values|sizes", 1, [(STORE, "            if (LAST(c) && q->send != q->recv && q->t == ALAR_I32 && q->red == ALAR_SUM && n) *(int32_t *)sum += *(int32_t *)(q->recv + at * 4);\n" + STORE)]),
    "stale-by-address": ("agreement|values|completion|sizes", 0, [(SEND, "{ static const void *was; static uint64_t bytes; static unsigned char kept[CHUNK]; if (LAST(c) && q->send == was && bytes == n * bytes_of(q->t)) memcpy(l->data[c->me], kept, bytes); else { " + SEND + " was = q->send; bytes = n * bytes_of(q->t); memcpy(kept, q->send + at * bytes_of(q->t), bytes); } }")]),
    "count-in-16-bits": ("sizes", 0, [("    q->chunks = count ?", "    if (count > 65536) q->count = count &= 65535; q->chunks = count ?")]),
    "empty-never-ends": ("completes|empty|returns", 1, [(DONE, "        if (LAST(c) && !q->count) return;\n" + DONE)]),
    "empty-writes": ("bounds|returns", 1, [(DONE, "        if (LAST(c) && !q->count) q->recv[-1] = 3;\n" + DONE)]),
    "group-is-the-world": ("completes|values|agreement|returns|starts|completion|no error|in place|hands off|bounds|sizes", 0, [("    *out = NULL;\n", "    *out = NULL; if (ranks && count > 1) { ranks = NULL; }\n")]),
    "progress-ends-early": ("completion|values|agreement|hands off|stays done", 1, [(PROGRESS, "    if (x->rank == x->ranks - 1) for (int i = 0; i < 64; i++) if (x->live[i] && x->live[i]->head) x->live[i]->head->blocking = 7;\n" + PROGRESS), (TEST, TEST + "    if (q->blocking == 7) *done = 1;\n")]),
    "i32-saturates": (V, 0, [("case ALAR_I32: REDUCE(int32_t, 0)", "case ALAR_I32: if (!first && red == ALAR_SUM) { for (uint64_t i = 0; i < n; i++) { int64_t v = (int64_t)((int32_t *)out)[i] + ((const int32_t *)in)[i]; ((int32_t *)out)[i] = (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v); } } else REDUCE(int32_t, 0)")]),
    "says-streams-has-none": ("starts", 0, [("c->wait_kind = ALAR_WAIT_HOST;", "c->wait_kind = ALAR_WAIT_STREAM;")]),
    "dtypes-beyond": ("starts", 0, [(FLAGS, FLAGS + " c->dtypes |= 1u << 30;")]),
    "adder-beyond": ("starts", 0, [(FLAGS, FLAGS + " c->adder = 99;")]),
    "tree-unknown": ("starts|tree", 0, [(FLAGS, FLAGS + ' snprintf(c->tree, sizeof c->tree, "no such tree");')]),
    "roll-call-invents": ("roll call", 0, [("static const struct alar_backend table = {", "static int be_note(void *x, const struct alar_note *n) { (void)x; (void)n; return 0; }\nstatic int be_roll(void *context, uint64_t us, uint8_t *here, struct alar_note *n) { struct ctx *x = context; (void)us; memset(n, 0, sizeof *n * (size_t)x->ranks); memset(here, ALAR_HERE, (size_t)x->ranks); return 0; }\nstatic int be_bye(void *x, uint64_t us) { (void)x; (void)us; return 0; }\nstatic void be_leave(void *x, int code, const uint8_t *here, uint64_t us) { (void)x; (void)here; (void)us; _exit(code); }\nstatic const struct alar_backend table = {\n    .note_set = be_note, .roll_call = be_roll, .farewell = be_bye, .leave = be_leave,")]),
    "stops-itself": ("returns", 1, [("#include <backend.h>\n", "#include <backend.h>\n#include <signal.h>\n"), (TEST, "    static int calls; if (LAST(q->c) && ++calls == 200) raise(SIGSTOP);\n" + TEST)]),
    "overflows-its-stack": ("returns", 1, [(TEST, "    static int calls; if (LAST(q->c) && ++calls == 200) deeper(1);\n" + TEST), (TOP, TOP + "static int deeper(volatile int n) { volatile char room[4096]; room[n] = 1; return n > 0 ? deeper(n % 1000 + 1) + room[n] : 0; }\n")]),
    "exits-in-fini": ("returns", 1, [(FINI, "static int be_fini(void *context) { struct ctx *x = context; if (x->rank == x->ranks - 1) exit(0); free(context); return 0; }")]),
    "ends-a-peer": ("returns", 0, [("#include <backend.h>\n", "#include <backend.h>\n#include <signal.h>\n"), (TEST, "    static int calls; if (LAST(q->c) && ++calls == 200) kill(peer, SIGKILL);\n" + TEST), (TOP, TOP + "static int peer;\n"), ("    b->rank = x->rank;", "    int all[64], own = (int)getpid(); if (b->allgather(b->peers, &own, all, sizeof own) != 0) return -ALAR_E_BACKEND;\n    peer = all[0];\n    b->rank = x->rank;")]),
    "burns-in-issue": ("returns", 1, [(ISSUE, "    static int calls; if (LAST(c) && ++calls == 40) for (volatile int i = 1; i;) { }\n" + ISSUE)]),
}


def changed(changes):
    with open(BASE, encoding="utf-8") as file:
        text = file.read()
    text = text.replace(TOP, TOP, 1)
    for old, new in changes:
        if text.count(old) < 1:
            sys.exit("strangers: %r: expected that in %s" % (old, BASE))
        text = text.replace(old, new, 1)
    return text.replace("static FILE *truth;", LAST + "static FILE *truth;", 1)


def build(folder, name, changes):
    source, library = os.path.join(folder, name + ".c"), os.path.join(folder, name + ".so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(changed(changes))
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-Iref/api", source, "-o", library,
                    "-lrt", "-lm"], check=True)
    return library


def conform(folder, library, *words):
    report = os.path.join(folder, "table.json")
    process = subprocess.run(["timeout", "-k", "2", "120", os.path.join(BUILD, "alar"), "conform", library, "--output",
                              os.path.join(folder, "failures"), "--json", report, "--seconds", "60", *words],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if process.returncode > 2 or not os.path.exists(report):
        return process.returncode, [{"name": "-", "reason": process.stdout.strip(), "ranks": 0}]
    with open(report, encoding="utf-8") as file:
        return process.returncode, [row for row in json.load(file)["rows"] if row["level"] == "must" and row["failed"]]


def healthy(runs):
    draw = random.Random(SEED)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        libraries = {name: build(folder, name, changes) for name, changes in HEALTHY.items()}
        names = list(libraries)
        for k in range(runs):
            name = draw.choice(names)
            words = ["--ranks", str(draw.randint(1, 5)), "--seed", str(draw.randint(1, 1 << 40))]
            code, rows = conform(folder, libraries[name], *words)
            if code != 0:
                bad += 1
                print("%s %s: code %d; %s" % (name, " ".join(words), code,
                                              "; ".join(r["name"] + ": " + r.get("reason", "")[:300] for r in rows)), flush=True)
    print("%d runs of %d healthy variants: %d with a must broken" % (runs, len(names), bad))
    return 1 if bad else 0


def named(row, is_last):
    found = CULPRITS.match(row["reason"])
    ranks = set(found.group(1).replace(" ", "").strip(",").split(",")) if found else set()
    return not is_last or ranks == {str(row["ranks"] - 1)}


def wrong(names):
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            promises, is_last, changes = WRONG[name]
            _, rows = conform(folder, build(folder, name, changes), "--ranks", "3:4")
            hits = [row for row in rows if row["name"] in promises.split("|")]
            good = bool(hits) and all(named(row, is_last) for row in hits)
            right += good
            if not good:
                print("  %-28s %s" % (name, "; ".join("%s: %s" % (row["name"], row["reason"][:170]) for row in rows) or "silent"),
                      flush=True)
    print("%d of %d wrong variants named rightly" % (right, len(names)))
    return 0 if right == len(names) else 1


def main():
    what, more = sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:]
    if what == "healthy":
        return healthy(int(more[0]) if more else 200)
    if what == "wrong":
        return wrong(more or list(WRONG))
    print(__doc__)
    return 3


if __name__ == "__main__":
    sys.exit(main())
