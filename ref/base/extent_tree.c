/* A treap with parents: nodes by where they begin, a heap by drawn weights. */
#include "base/extent_tree.h"

#include "base/chain.h"

#include <stddef.h>

static struct alar_extent *range_at(const struct alar_arena *arena, uint64_t range)
{
    return alar_arena_at(arena, range);
}

static uint64_t end_of(uint64_t at, uint64_t n)
{
    return n > UINT64_MAX - at ? UINT64_MAX : at + n;
}

static uint64_t greatest(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t most = a > b ? a : b;

    return most > c ? most : c;
}

/* From the range itself and the nodes below it. False: nothing changed. */
static bool range_update(const struct alar_arena *arena, struct alar_extent *range)
{
    static const struct alar_extent none;
    const struct alar_extent *left = range->left ? range_at(arena, range->left) : &none;
    const struct alar_extent *right = range->right ? range_at(arena, range->right) : &none;
    uint64_t latest = greatest(range->order, left->latest, right->latest);
    bool is_changed = latest != range->latest;

    range->latest = latest;
    for (unsigned mark = 0; mark < ALAR_EXTENT_MARKS; mark++) {
        uint64_t mine = range->marks >> mark & 1 ? end_of(range->at, range->n) : 0;
        uint64_t reach = greatest(mine, left->reach[mark], right->reach[mark]);

        is_changed = is_changed || reach != range->reach[mark];
        range->reach[mark] = reach;
    }
    return is_changed;
}

/* This one and those above it, up to one that stays as it is. */
static void update_up(const struct alar_arena *arena, uint64_t at)
{
    while (at && range_update(arena, range_at(arena, at))) {
        at = range_at(arena, at)->up;
    }
}

/* Puts `other` where `old` hangs below `up`. Returns the root. */
static uint64_t range_hang(const struct alar_arena *arena, uint64_t root, uint64_t up, uint64_t old,
                           uint64_t other)
{
    if (other) {
        range_at(arena, other)->up = up;
    }
    if (up == 0) {
        return other;
    }
    struct alar_extent *above = range_at(arena, up);

    *(above->left == old ? &above->left : &above->right) = other;
    return root;
}

/* Lifts a node above the one it hangs below. Returns the root. */
static uint64_t range_lift(const struct alar_arena *arena, uint64_t root, uint64_t at)
{
    struct alar_extent *range = range_at(arena, at);
    uint64_t down = range->up;
    struct alar_extent *above = range_at(arena, down);
    bool is_left = above->left == at;
    uint64_t moved = is_left ? range->right : range->left;

    root = range_hang(arena, root, above->up, down, at);
    *(is_left ? &above->left : &above->right) = moved;
    if (moved) {
        range_at(arena, moved)->up = down;
    }
    *(is_left ? &range->right : &range->left) = down;
    above->up = at;
    (void)range_update(arena, above);
    (void)range_update(arena, range);
    return root;
}

static bool is_before(const struct alar_extent *a, const struct alar_extent *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

uint64_t alar_extent_add(struct alar_arena *arena, uint64_t root, uint64_t made)
{
    struct alar_extent *range = range_at(arena, made);
    uint64_t up = 0, at = root;

    PRE(range->marks & 1);
    range->weight = (uint32_t)(range->order * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    range->left = range->right = 0;
    (void)range_update(arena, range);
    while (at) {
        up = at;
        at = is_before(range, range_at(arena, at)) ? range_at(arena, at)->left
                                                   : range_at(arena, at)->right;
    }
    range->up = up;
    if (up == 0) {
        return made;
    }
    *(is_before(range, range_at(arena, up)) ? &range_at(arena, up)->left
                                            : &range_at(arena, up)->right) = made;
    update_up(arena, up);
    while (range->up && range_at(arena, range->up)->weight < range->weight) {
        root = range_lift(arena, root, made);
    }
    return root;
}

uint64_t alar_extent_remove(struct alar_arena *arena, uint64_t root, uint64_t removed)
{
    struct alar_extent *range = range_at(arena, removed);

    while (range->left && range->right) {
        bool is_left = range_at(arena, range->left)->weight > range_at(arena, range->right)->weight;

        root = range_lift(arena, root, is_left ? range->left : range->right);
    }
    uint64_t up = range->up;

    root = range_hang(arena, root, up, removed, range->left ? range->left : range->right);
    update_up(arena, up);
    return root;
}

void alar_extent_mark(struct alar_arena *arena, uint64_t at, uint32_t marks)
{
    range_at(arena, at)->marks &= marks;
    update_up(arena, at);
}

bool alar_extent_meets(const struct alar_extent *range, uint64_t at, uint64_t n)
{
    return at >= range->at ? at - range->at < range->n : range->at - at < n;
}

/* What is asked for. */
struct range_query {
    const struct alar_arena *arena;
    unsigned mark;
    uint64_t at, n;
};

/* May a range below it, itself included, end behind the beginning of what is asked for? */
static bool is_worth(const struct range_query *query, uint64_t at)
{
    return at && range_at(query->arena, at)->reach[query->mark] > query->at;
}

static bool is_hit(const struct range_query *query, const struct alar_extent *range)
{
    return (range->marks >> query->mark & 1) && alar_extent_meets(range, query->at, query->n);
}

/* Does it begin before the end of what is asked for? What is to its right does not, otherwise. */
static bool is_in_reach(const struct range_query *query, const struct alar_extent *range)
{
    return range->at <= query->at || range->at - query->at < query->n;
}

/* The leftmost hit below a node that is worth it; 0: none. Where the ranges to the left reach far
   enough and none is a hit, all of them begin too late, and so does what is to their right. */
static uint64_t hit_first(const struct range_query *query, uint64_t at)
{
    while (is_worth(query, at)) {
        const struct alar_extent *range = range_at(query->arena, at);

        if (is_worth(query, range->left)) {
            at = range->left;
        } else if (is_hit(query, range)) {
            return at;
        } else {
            at = is_in_reach(query, range) ? range->right : 0;
        }
    }
    return 0;
}

/* The next hit to the right of one; 0: none. */
static uint64_t hit_next(const struct range_query *query, uint64_t at)
{
    for (;;) {
        const struct alar_extent *range = range_at(query->arena, at);
        uint64_t found = is_in_reach(query, range) ? hit_first(query, range->right) : 0;

        if (found) {
            return found;
        }
        while (range->up && range_at(query->arena, range->up)->right == at) {
            at = range->up;
            range = range_at(query->arena, at);
        }
        at = range->up;
        if (at == 0 || !is_in_reach(query, range_at(query->arena, at))) {
            return 0;
        }
        if (is_hit(query, range_at(query->arena, at))) {
            return at;
        }
    }
}

uint64_t alar_extent_list(const struct alar_arena *arena, uint64_t root, unsigned mark, uint64_t at,
                          uint64_t n)
{
    struct range_query query = {arena, mark, at, n};
    uint64_t list = 0;

    for (uint64_t hit = hit_first(&query, root); hit; hit = hit_next(&query, hit)) {
        range_at(arena, hit)->next = list;
        list = hit;
    }
    return alar_chain_sort(arena, list, offsetof(struct alar_extent, next),
                           offsetof(struct alar_extent, order), true);
}

/* May it hold, itself included, a hit that is later than `best`? */
static bool is_better(const struct range_query *query, uint64_t at, uint64_t best)
{
    return is_worth(query, at) && range_at(query->arena, at)->latest > best;
}

/* Each node is entered from above once, and left at once when it can't hold a better one. */
uint64_t alar_extent_latest(const struct alar_arena *arena, uint64_t root, uint64_t at, uint64_t n)
{
    struct range_query query = {arena, 0, at, n};
    uint64_t best = 0, found = 0, node = root, from = 0;

    while (node) {
        const struct alar_extent *range = range_at(arena, node);
        bool is_left_first =
            range->left && (!range->right || range_at(arena, range->left)->latest >
                                                 range_at(arena, range->right)->latest);
        uint64_t first = is_left_first ? range->left : range->right;
        uint64_t second = is_left_first ? range->right : range->left;
        uint64_t next = 0;

        if (from == range->up && range->order > best && is_hit(&query, range)) {
            best = range->order;
            found = node;
        }
        if (from == range->up && is_better(&query, first, best)) {
            next = first;
        } else if ((from == range->up || from == first) && is_better(&query, second, best)) {
            next = second;
        }
        from = node;
        node = next ? next : range->up;
    }
    return found;
}
