/* The records of the recorder, with the fields of spec/history.md that only it has. dladdr, which
   says in which file of the program an address lies, is an extension. */
#define _GNU_SOURCE
#include "record_mpi.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLACES = 256
};

/* Callers are few and looking one up is slow. */
static struct place {
    const void *caller;
    char text[RECORD_SRC_BYTES];
} places[PLACES];

/* "file+0x1234": where in which file the call stands, for addr2line. A file that is not position
   independent has its addresses as they are. */
static void place_find(struct place *place, const void *caller)
{
    const char *call = (const char *)caller - 1;
    Dl_info info = {0};

    place->caller = caller;
    place->text[0] = '\0';
    if (dladdr(call, &info) == 0 || info.dli_fname == NULL) {
        return;
    }
    const Elf64_Ehdr *header = info.dli_fbase;
    const char *base = header->e_type == ET_DYN ? info.dli_fbase : NULL;
    char *path = realpath(info.dli_fname, NULL);

    snprintf(place->text, sizeof(place->text), "%s+0x%lx", path != NULL ? path : info.dli_fname,
             (unsigned long)(call - base));
    free(path);
}

static const char *place_text(const void *caller)
{
    struct place *place = &places[(uintptr_t)caller * UINT64_C(0x9E3779B97F4A7C15) >> 56];

    if (place->caller != caller) {
        place_find(place, caller);
    }
    return place->text[0] != '\0' ? place->text : NULL;
}

/* Time never runs backwards in a file, whatever thread was first. */
static struct alar_json *begin_at(uint64_t t, const char *event)
{
    recorder.last = t > recorder.last ? t : recorder.last;
    return history_begin(recorder.history, recorder.last, event);
}

struct alar_json *record_begin(const char *event, const struct record_op *op, const void *caller)
{
    struct alar_json *json = begin_at(op != NULL && event[0] == 'i' ? op->t : record_now(), event);

    if (op != NULL) {
        alar_json_op(json, "op", op->group->name, op->number);
    }
    if (caller != NULL) {
        alar_json_text(json, "src", place_text(caller));
    }
    return json;
}

void record_end(void)
{
    history_end(recorder.history);
}

/* "nan=propagate,order=fixed": fields of the header, as `alar record` checked them. */
static void contract_add(struct alar_json *json, const char *contract)
{
    char field[2][32];
    int used = 0;

    while (contract != NULL &&
           sscanf(contract, "%31[a-z]=%31[a-z-]%n", field[0], field[1], &used) == 2) {
        alar_json_text(json, field[0], field[1]);
        contract += used;
        contract += *contract == ',';
    }
}

static const char *level_text(int level)
{
    return level == MPI_THREAD_MULTIPLE     ? "multiple"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
                                            : "single";
}

/* "MPICH Version:\t4.0.2\n..." and "Open MPI v4.1.4, package: ..." as name and version. */
static void library_shorten(char *text)
{
    static const char noise[] = " Version:\t";
    char *at = strstr(text, noise);

    if (at != NULL) {
        memmove(at + 1, at + sizeof(noise) - 1, strlen(at + sizeof(noise) - 1) + 1);
    }
    text[strcspn(text, "\n,")] = '\0';
}

/* Which start of the machine the clock counts from: hosts may share a name. */
static void boot_read(char *text, size_t bytes)
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t count = file >= 0 ? read(file, text, bytes - 1) : 0;

    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file >= 0) {
        close(file);
    }
}

static void deadline_add(struct alar_json *json, const char *text)
{
    unsigned long long ms = text != NULL ? strtoull(text, NULL, 10) : 0;

    if (ms > 0) {
        alar_json_count(json, "deadline", ms * 1000000ULL);
    }
}

void record_write_trace(int level)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    char host[65] = "";
    char boot[48] = "";
    int length = 0;
    const char *tag = getenv("ALAR_RECORD_TAG");

    PMPI_Get_library_version(library, &length);
    library_shorten(library);
    (void)gethostname(host, sizeof(host) - 1);
    boot_read(boot, sizeof(boot));
    struct alar_json *json = begin_at(0, "trace");
    alar_json_count(json, "v", 1);
    alar_json_count(json, "world", recorder.ranks);
    alar_json_text(json, "backend", library);
    alar_json_text(json, "tag", tag != NULL ? tag : "record");
    alar_json_text(json, "clock", "monotonic_ns");
    alar_json_count(json, "t0", recorder.t0);
    alar_json_text(json, "host", host);
    alar_json_text(json, "boot_id", boot[0] != '\0' ? boot : NULL);
    alar_json_text(json, "sees", "values polls ends writes handles");
    alar_json_text(json, "thread_level", level_text(level));
    contract_add(json, getenv("ALAR_RECORD_CONTRACT"));
    deadline_add(json, getenv("ALAR_RECORD_DEADLINE_MS"));
    record_end();
}

static void group_declare(struct record_group *group, uint64_t t)
{
    struct alar_json *json = begin_at(t, "declare");

    alar_json_text(json, "group", group->name);
    alar_json_ranks(json, "members", group->member, group->members);
    record_end();
    group->is_declared = true;
}

/* Storage by its address. */
static void buffer_add(struct alar_json *json, const char *key, const void *buffer)
{
    static const char digits[] = "0123456789abcdef";
    char name[2 + 2 * sizeof(uintptr_t) + 1];
    char *at = name + sizeof(name) - 1;
    uintptr_t address = (uintptr_t)buffer;

    *at = '\0';
    do {
        *--at = digits[address & 15];
        address >>= 4;
    } while (address != 0);
    *--at = 'x';
    *--at = '0';
    alar_json_text(json, key, at);
}

/* Which collective, of an all-reduce nothing; and the root, as a rank of the world. */
static void collective_add(struct alar_json *json, const struct record_op *op)
{
    static const char *const names[] = {NULL, "all_gather", "reduce", "reduce_scatter", "scan"};
    enum alar_reduction red = op->type.red;

    alar_json_text(json, "coll", names[op->call.kind]);
    if (op->call.kind == RECORD_REDUCE) {
        alar_json_count(json, "root", op->group->order[op->call.root]);
    }
    alar_json_text(json, "red", red < ALAR_REDUCTION_WORDS ? alar_reduction_names[red] : NULL);
}

void record_write_issue(struct record_op *op)
{
    if (!op->group->is_declared) {
        group_declare(op->group, op->t);
    }
    struct alar_json *json = record_begin("issue", op, op->call.caller);
    collective_add(json, op);
    alar_json_text(json, "dtype", alar_dtype_name(op->type.dtype));
    alar_json_count(json, "n", op->n);
    alar_json_flag(json, "sync", op->call.is_sync);
    alar_json_text(json, "function", op->call.name);
    alar_json_count(json, "nth", op->position);
    if (op->out_bytes > 0) {
        buffer_add(json, "buf", op->call.recv);
    }
    if (op->call.send != MPI_IN_PLACE) {
        buffer_add(json, "send", op->call.send);
    }
    if (!op->is_opaque) {
        history_elements(recorder.history, "in",
                         (struct alar_elements){op->in, op->kept, op->type.dtype});
    }
    alar_json_text(json, "refused", op->type.refusal);
    record_end();
}

void record_write_call(struct record_group *group, const char *name, int root, const void *caller)
{
    if (group->is_foreign) {
        return;
    }
    if (!group->is_declared) {
        group_declare(group, record_now());
    }
    struct alar_json *json = begin_at(record_now(), "call");
    alar_json_text(json, "group", group->name);
    alar_json_count(json, "nth", group->calls++);
    alar_json_text(json, "function", name);
    if (root != RECORD_NO_PEER) {
        alar_json_signed(json, "root", root);
    }
    alar_json_text(json, "src", place_text(caller));
    record_end();
}

void record_collective(const char *name, MPI_Comm comm, int root, const void *caller)
{
    if (recorder.history == NULL) {
        return;
    }
    record_lock();
    struct record_group *group = recorder.history != NULL ? record_group_of(comm) : NULL;
    if (group != NULL) {
        record_write_call(group, name, root, caller);
    }
    record_unlock();
}

void record_write_refuse(const char *name, struct record_group *group, const char *text,
                         bool is_fatal, const void *caller)
{
    struct alar_json *json = begin_at(record_now(), "refuse");

    alar_json_text(json, "function", name);
    alar_json_text(json, "group", group != NULL ? group->name : NULL);
    alar_json_text(json, "text", text);
    if (is_fatal) {
        alar_json_flag(json, "fatal", true);
    }
    alar_json_text(json, "src", place_text(caller));
    record_end();
}

void record_write_stand(const struct record_slot *slot, uint64_t since, const char *reason)
{
    struct alar_json *json = begin_at(record_now(), "stand");
    const char *name = slot != NULL ? slot->name : NULL;

    if (name != NULL) {
        int peer = slot->peer;

        alar_json_text(json, "function", name);
        if (peer != RECORD_NO_PEER) {
            alar_json_signed(json, "peer", peer);
        }
        alar_json_text(json, "src", place_text(slot->caller));
    }
    alar_json_count(json, "since", since);
    alar_json_text(json, "text", reason);
    record_end();
}
