/* Each run leaves a digest per operation; the digests are sorted by name and compared. */
#include "check/rerun_compare.h"

#include <stdlib.h>
#include <string.h>

struct digest {
    uint64_t group, key; /* hashes of names; no key where operations do not name their step */
    int64_t step, mb;
    uint64_t number;
    uint64_t in, out; /* hashes of bits */
    bool has_out;
    struct alar_place place;
};

struct digests {
    struct digest *item;
    size_t count, room;
    bool is_out_of_memory;
};

static uint64_t digest_bits(const uint64_t *bits, size_t count)
{
    return alar_text_hash((struct alar_text){(const char *)bits, count * sizeof *bits});
}

static void digest_take(void *context, const struct alar_op_view *view)
{
    struct digests *digests = context;

    if (digests->count == digests->room) {
        size_t room = digests->room ? 2 * digests->room : 256;
        struct digest *grown = realloc(digests->item, room * sizeof *grown);

        if (grown == NULL) {
            digests->is_out_of_memory = true;
            return;
        }
        digests->item = grown;
        digests->room = room;
    }
    digests->item[digests->count++] = (struct digest){
        alar_text_hash((struct alar_text){view->group, strlen(view->group)}),
        view->step >= 0 ? alar_text_hash(view->key) : 0,
        view->step,
        view->step >= 0 ? view->mb : -1,
        view->number,
        digest_bits(view->in, (size_t)view->members * view->elements),
        view->out != NULL ? digest_bits(view->out, view->elements) : 0,
        view->out != NULL,
        view->place,
    };
}

/* By group, key, step and microbatch. */
static int order_label(const struct digest *a, const struct digest *b)
{
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    return a->mb < b->mb ? -1 : a->mb > b->mb;
}

static int order(const void *left, const void *right)
{
    const struct digest *a = left, *b = right;
    int side = order_label(a, b);

    return side != 0 ? side : a->number < b->number ? -1 : a->number > b->number;
}

/* How many digests from `at` on have its label; those without a step are told apart by number. */
static size_t digest_run(const struct digests *digests, size_t at)
{
    size_t end = at + 1;

    while (digests->item[at].step >= 0 && end < digests->count &&
           order_label(&digests->item[at], &digests->item[end]) == 0) {
        end++;
    }
    return end - at;
}

static void digests_sort(struct digests *digests)
{
    if (digests->count > 0) {
        qsort(digests->item, digests->count, sizeof *digests->item, order);
    }
}

static void rerun_pair(struct alar_rerun *rerun, const struct digest *a, const struct digest *b)
{
    if (a->in != b->in || !a->has_out || !b->has_out) {
        rerun->other++;
    } else if (a->out == b->out) {
        rerun->same++;
    } else {
        rerun->different++;
        if (!rerun->has_first) {
            rerun->has_first = true;
            rerun->number = a->number;
            rerun->place[0] = a->place;
            rerun->place[1] = b->place;
        }
    }
}

static void rerun_walk(struct alar_rerun *rerun, struct digests *a, struct digests *b)
{
    size_t i = 0, k = 0;

    digests_sort(a);
    digests_sort(b);
    while (i < a->count && k < b->count) {
        bool has_step = a->item[i].step >= 0 && b->item[k].step >= 0;
        int side =
            has_step ? order_label(&a->item[i], &b->item[k]) : order(&a->item[i], &b->item[k]);
        size_t mine = side <= 0 ? digest_run(a, i) : 0, theirs = side >= 0 ? digest_run(b, k) : 0;
        size_t both = mine < theirs ? mine : theirs; /* the last attempts, with each other */

        for (size_t n = 1; n <= both; n++) {
            rerun_pair(rerun, &a->item[i + mine - n], &b->item[k + theirs - n]);
        }
        rerun->other += mine + theirs - 2 * both;
        i += mine;
        k += theirs;
    }
    rerun->other += a->count - i + b->count - k;
}

enum alar_status alar_rerun_compare(const struct alar_history_files files[2],
                                    struct alar_reading reading[2], struct alar_rerun *rerun)
{
    struct digests digests[2];
    enum alar_status status = ALAR_OK;

    memset(digests, 0, sizeof digests);
    memset(reading, 0, 2 * sizeof *reading);
    memset(rerun, 0, sizeof *rerun);
    for (unsigned k = 0; k < 2 && status == ALAR_OK; k++) {
        struct alar_reading_hooks hooks = {.settled = digest_take, .context = &digests[k]};

        status = alar_reading_judge(&reading[k], &files[k], &hooks);
        if (status == ALAR_OK && digests[k].is_out_of_memory) {
            status = ALAR_E_NOMEM;
        }
    }
    if (status == ALAR_OK) {
        rerun_walk(rerun, &digests[0], &digests[1]);
    }
    free(digests[0].item);
    free(digests[1].item);
    return status;
}
