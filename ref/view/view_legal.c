/* Why a value is legal: what the judge knew when it said so, and the range of all orders. */
#include "view/view.h"

#include "legal/hull.h"

#include <stdlib.h>
#include <string.h>

enum {
    HULL_RANKS_MOST = 8 /* 3^8 splits an element are no matter */
};

/* The ends of what any order of additions gives, for small float sums. */
static void legal_range(struct alar_view_legal *legal, const struct alar_legal_view *view)
{
    const struct alar_reduce *reduce = view->reduce;
    struct alar_scratch scratch = view->scratch;
    struct alar_hull hull;

    if (view->origin->has_range) {
        legal->has_range = true;
        legal->low = view->origin->low;
        legal->high = view->origin->high;
        return;
    }
    if (reduce->red != ALAR_SUM || reduce->n > HULL_RANKS_MOST ||
        !alar_dtype_is_float(reduce->adder.dtype)) {
        return;
    }
    struct alar_range *range = alar_scratch_take(&scratch, (size_t)1 << reduce->n, sizeof *range);
    if (range == NULL) {
        return;
    }
    alar_hull_build(&hull, reduce->adder, reduce->bits, reduce->n, range);
    const struct alar_range *all = &range[((size_t)1 << reduce->n) - 1];
    if (all->low <= all->high) {
        legal->has_range = true;
        legal->low = alar_fp_from_double(reduce->adder.dtype, all->low);
        legal->high = alar_fp_from_double(reduce->adder.dtype, all->high);
    }
}

void alar_view_legal_add(void *context, const struct alar_legal_view *view)
{
    struct alar_view_legals *legals = context;

    if (view->element >= ALAR_VIEW_LEGAL_ELEMENTS || legals->count == ALAR_VIEW_LEGAL_MAX) {
        return;
    }
    if (legals->count == legals->room) {
        size_t room = legals->room ? 2 * legals->room : 256;
        struct alar_view_legal *grown = realloc(legals->legal, room * sizeof *grown);

        if (grown == NULL) {
            return;
        }
        legals->legal = grown;
        legals->room = room;
    }
    struct alar_view_legal *legal = &legals->legal[legals->count++];
    memset(legal, 0, sizeof *legal);
    legal->group = alar_timeline_name(legals->timeline, view->group);
    legal->number = view->number;
    legal->element = view->element;
    legal->dtype = view->reduce->adder.dtype;
    legal->value = view->value;
    legal->proof = alar_proof_name(view->origin->proof);
    if (view->origin->name_count > 0) {
        alar_tree_name_print(view->origin->name[0], legal->tree);
    }
    legal_range(legal, view);
}
