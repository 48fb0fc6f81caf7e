/* Scenes: which all-reduces they hold, who takes part, and which scenes a world plays. */
#include "conform/conform_scene.h"

#include "base/rng.h"

enum {
    ALL_COMBINATIONS = 48, /* of one scene of values */
    DEEP_FREE = 300,       /* pending where caps sets no bound: more than a ring may have slots */
    DEEP_MOST = 1024,
    SIZES_QUICK = 11,
    IDLE_BYTES = 1 << 23, /* more than goes out at once, ... */
    IDLE_RANKS = 4        /* ... or, of more ranks, an eighth of it */
};

const char *const conform_scene_names[SCENE_KINDS] = {
    "values",   "late",   "wait", "deep",      "long", "sizes",
    "blocking", "repeat", "idle", "contested", "edge", "end",
};

static const uint64_t sizes[] = {1,    2,     3, 16,   17,    63,     64,    255,    1000,
                                 4097, 65537, 5, 1024, 16385, 262144, 99999, 1000000};

static uint64_t draw(const struct conform_scene *scene, uint32_t index, uint64_t what)
{
    return alar_rng_fold(alar_rng_fold(scene->seed, index), what);
}

bool conform_is_served(const struct alar_caps *caps, enum alar_dtype dtype,
                       enum alar_reduction reduction)
{
    return (caps->dtypes >> dtype & 1U) != 0 && (caps->reductions >> reduction & 1U) != 0 &&
           (reduction != ALAR_AVG || alar_dtype_is_float(dtype));
}

static bool is_extreme(enum alar_reduction reduction)
{
    return reduction == ALAR_MAX || reduction == ALAR_MIN;
}

/* Contested: libraries in use differ on MAX and MIN of NaN and of zeros of both signs. */
static bool suits(const struct conform_op *op, bool is_contested)
{
    bool is_float = alar_dtype_is_float(op->dtype);
    bool is_special = op->family == FAMILY_SPECIALS || op->family == FAMILY_EDGES;

    if (!is_float) {
        return !is_contested && (op->family == FAMILY_LEDGER || op->family == FAMILY_UNORDERED ||
                                 op->family == FAMILY_WRAP || op->family >= FAMILY_ASYNC);
    }
    return op->family != FAMILY_WRAP && (is_extreme(op->reduction) && is_special) == is_contested;
}

/* The k-th combination that is offered; returns how many there are when k is beyond them. */
static uint32_t combination(const struct alar_caps *caps, bool is_contested, uint32_t k,
                            struct conform_op *op)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < FAMILY_COUNT * ALAR_REDUCTION_COUNT * ALAR_DTYPE_COUNT; at++) {
        op->dtype = (enum alar_dtype)(at % ALAR_DTYPE_COUNT);
        op->reduction = (enum alar_reduction)(at / ALAR_DTYPE_COUNT % ALAR_REDUCTION_COUNT);
        op->family = (enum conform_family)(at / ALAR_DTYPE_COUNT / ALAR_REDUCTION_COUNT);
        if (conform_is_served(caps, op->dtype, op->reduction) && suits(op, is_contested)) {
            if (count == k) {
                return k;
            }
            count++;
        }
    }
    return count;
}

static void combination_get(const struct alar_caps *caps, bool is_contested, uint32_t at,
                            struct conform_op *op)
{
    uint32_t count = combination(caps, is_contested, UINT32_MAX, op);

    if (count == 0) { /* nothing is contested: it offers no MAX and MIN of floats */
        is_contested = false;
        count = combination(caps, is_contested, UINT32_MAX, op);
    }
    combination(caps, is_contested, count > 0 ? at % count : 0, op);
}

/* What caps leaves out, one after the other. */
static void unserved_get(const struct alar_caps *caps, uint32_t index, struct conform_op *op)
{
    uint32_t count = 0;

    op->is_unserved = true;
    op->family = FAMILY_ASYNC;
    for (uint32_t at = 0; at < ALAR_DTYPE_COUNT * ALAR_REDUCTION_COUNT; at++) {
        op->dtype = (enum alar_dtype)(at / ALAR_REDUCTION_COUNT);
        op->reduction = (enum alar_reduction)(at % ALAR_REDUCTION_COUNT);
        if (((caps->dtypes >> op->dtype & 1U) == 0 ||
             (caps->reductions >> op->reduction & 1U) == 0) &&
            count++ == index) {
            return;
        }
    }
    op->elements = 0;
    op->is_unserved = false;
}

/* Sums above all: a rank that is left out of a MAX may not be missed. */
static void sizes_get(const struct conform_scene *scene, const struct alar_caps *caps,
                      uint32_t index, struct conform_op *op)
{
    static const enum alar_reduction wanted[] = {ALAR_SUM, ALAR_SUM, ALAR_MAX, ALAR_SUM, ALAR_MIN};
    uint64_t which = draw(scene, index, 5);

    combination_get(caps, false, index, op);
    for (uint64_t k = 0; k < ALAR_DTYPE_COUNT * 2; k++) {
        enum alar_dtype dtype = (enum alar_dtype)((which + k) % ALAR_DTYPE_COUNT);
        enum alar_reduction reduction =
            k < ALAR_DTYPE_COUNT ? wanted[(index + scene->first) % 5] : ALAR_SUM;

        if (conform_is_served(caps, dtype, reduction)) {
            op->dtype = dtype;
            op->reduction = reduction;
            break;
        }
    }
    op->family = FAMILY_ASYNC;
    op->elements = sizes[index % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* Of what is done again every other one is a sum whose bits tell the order of its additions. */
static void order_get(const struct conform_scene *scene, const struct alar_caps *caps,
                      struct conform_op *op)
{
    static const enum conform_family tells[] = {FAMILY_ORDERED, FAMILY_THIRDS, FAMILY_CANCEL};
    static const enum alar_dtype floats[] = {ALAR_F32, ALAR_F64, ALAR_BF16, ALAR_F16};
    const uint32_t count = sizeof(floats) / sizeof(floats[0]);
    uint64_t which = draw(scene, op->number, 6);

    for (uint32_t k = 0; op->number % 2 == 0 && k < count; k++) {
        enum alar_dtype dtype = floats[(which + k) % count];

        if (conform_is_served(caps, dtype, ALAR_SUM)) {
            op->dtype = dtype;
            op->reduction = ALAR_SUM;
            op->family = tells[which / count % 3];
            op->elements = 7;
            return;
        }
    }
}

/* How often the same contributions come in a row. */
static uint32_t repeats_of(const struct conform_scene *scene, const struct alar_caps *caps)
{
    return scene->kind != SCENE_REPEAT ? 1 : caps->can_block ? 3 : 2;
}

static void manner_draw(const struct conform_scene *scene, const struct alar_caps *caps,
                        uint32_t ranks, uint32_t index, struct conform_op *op)
{
    uint64_t which = draw(scene, index, 2) % 8;
    uint32_t turn = index % repeats_of(scene, caps);

    op->is_again = turn > 0;
    op->is_blocking = caps->can_block && ((scene->kind == SCENE_BLOCKING && index % 3 == 2) ||
                                          (scene->kind == SCENE_REPEAT && turn == 2));
    op->is_in_place = caps->is_in_place && draw(scene, index, 3) % 3 == 0;
    if (ranks >= 3 && (scene->kind == SCENE_VALUES || scene->kind == SCENE_LONG) && which < 3) {
        op->group = which == 0 ? GROUP_PARITY : GROUP_HALF;
    }
    if (caps->allows_empty && draw(scene, index, 4) % 24 == 0 && !op->is_again &&
        scene->kind != SCENE_REPEAT && scene->kind != SCENE_EDGE) {
        op->elements = 0;
    }
}

struct conform_op conform_op_get(const struct conform_scene *scene, const struct alar_caps *caps,
                                 uint32_t ranks, uint32_t index)
{
    struct conform_op op = {.number = index / repeats_of(scene, caps)};
    /* In a long one eight in a row have one shape, as their results could be taken for each other.
     */
    uint32_t shape = scene->kind == SCENE_LONG ? index / 8 : op.number;

    op.elements = 1 + draw(scene, shape, 1) % 7;
    if (scene->kind == SCENE_EDGE) {
        unserved_get(caps, index, &op);
    } else if (scene->kind == SCENE_SIZES) {
        sizes_get(scene, caps, index, &op);
    } else {
        combination_get(caps, scene->kind == SCENE_CONTESTED, scene->first + shape, &op);
    }
    if (scene->kind == SCENE_REPEAT) {
        order_get(scene, caps, &op);
    }
    if (scene->kind == SCENE_IDLE && index % 2 == 1) {
        op.elements =
            (uint64_t)IDLE_BYTES / (ranks > IDLE_RANKS ? 8 : 1) / alar_dtype_bytes(op.dtype);
        op.family = FAMILY_ASYNC;
    }
    if (scene->kind != SCENE_SIZES || op.elements > 4) {
        manner_draw(scene, caps, ranks, index, &op);
    }
    return op;
}

uint32_t conform_members(enum conform_group group, uint32_t ranks, uint32_t rank, int32_t *members,
                         uint32_t *member)
{
    uint32_t half = (ranks + 1) / 2;
    uint32_t count = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        bool is_in = group == GROUP_WORLD ||
                     (group == GROUP_HALF ? (r < half) == (rank < half) : r % 2 == rank % 2);

        if (is_in) {
            *member = r == rank ? count : *member;
            members[count++] = (int32_t)r;
        }
    }
    return count;
}

const char *conform_group_name(enum conform_group group, uint32_t ranks, uint32_t rank)
{
    switch (group) {
    case GROUP_HALF:
        return rank < (ranks + 1) / 2 ? "half0" : "half1";
    case GROUP_PARITY:
        return rank % 2 == 0 ? "even" : "odd";
    default:
        return "world";
    }
}

/* ---- the plan of a world -----------------------------------------------------------------------
 */

static void plan_add(struct conform_scene *scene, uint32_t *count, struct conform_scene wanted)
{
    if (*count < CONFORM_SCENES_MAX) {
        wanted.seed = alar_rng_fold(wanted.seed, *count);
        scene[(*count)++] = wanted;
    }
}

uint32_t conform_plan(struct conform_scene *scene, uint32_t ranks, bool is_full, uint64_t seed)
{
    uint32_t count = 0;
    uint64_t own = alar_rng_fold(seed, ranks);
    uint32_t rounds = is_full ? 6 : 1;
    const struct conform_scene base = {.late_rank = -1, .depth = 8, .seed = own};

#define SCENE(...) plan_add(scene, &count, (struct conform_scene){.seed = own, __VA_ARGS__})
    for (uint32_t k = 0; k < rounds; k++) {
        uint32_t first = (k * 9 + ranks) * ALL_COMBINATIONS;
        int32_t late = (int32_t)((own + k) % ranks);

        SCENE(.kind = SCENE_VALUES, .ops = ALL_COMBINATIONS, .depth = k % 3 == 1 ? 1 : 8,
              .first = first, .late_rank = -1);
        SCENE(.kind = SCENE_LATE, .ops = 8, .depth = 4, .first = first * 7, .late_rank = late,
              .late_us = 4000);
        SCENE(.kind = SCENE_WAIT, .ops = 4, .depth = 2, .first = first * 3,
              .late_rank = (int32_t)((own + k + 1) % ranks), .late_us = 1500000);
        SCENE(.kind = SCENE_REPEAT, .ops = is_full ? 24 : 18, .depth = 3, .first = first,
              .late_rank = -1);
        SCENE(.kind = SCENE_BLOCKING, .ops = 9, .depth = 4, .first = first * 5, .late_rank = -1);
    }
    SCENE(.kind = SCENE_SIZES, .ops = is_full ? sizeof(sizes) / sizeof(sizes[0]) : SIZES_QUICK,
          .depth = 3, .first = ranks, .late_rank = -1);
    SCENE(.kind = SCENE_DEEP, .ops = is_full ? DEEP_MOST : DEEP_FREE, .depth = DEEP_FREE,
          .first = ranks, .late_rank = -1);
    SCENE(.kind = SCENE_LONG, .ops = is_full ? 1000 : 300, .depth = 8, .first = 0, .late_rank = -1);
    SCENE(.kind = SCENE_IDLE, .ops = 2, .depth = 1, .first = ranks,
          .late_rank = (int32_t)ranks - 1);
    SCENE(.kind = SCENE_CONTESTED, .ops = is_full ? 16 : 6, .depth = 4, .first = ranks * 6,
          .late_rank = -1);
    SCENE(.kind = SCENE_EDGE, .ops = ALAR_DTYPE_COUNT * ALAR_REDUCTION_COUNT, .depth = 1,
          .late_rank = -1);
    SCENE(.kind = SCENE_END, .ops = 2, .depth = 2, .late_rank = -1);
#undef SCENE
    (void)base;
    return count;
}
