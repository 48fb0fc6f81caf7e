/* Hostile inputs that are numbers in an order: ledgers, masks, ties, trees, counts. The kinds
   that live at the edges of the formats are in hostile_edge.c. */
#include "numbers/hostile_maker.h"

#include "base/check.h"
#include "numbers/fp.h"
#include "numbers/tree.h"

#include <string.h>

enum {
    LEDGER_RANKS = 12,  /* base-4 digits that fp32 holds */
    SEARCH_RANKS = 64,  /* more ranks are not searched for trees that differ */
    SEARCH_TRIES = 200, /* of one element */
};

const struct alar_hostile_row alar_hostile_kinds[ALAR_HOSTILE_COUNT] = {
#define HOSTILE(token, name, what, reveals) {name, what, reveals},
#include "numbers/hostile.def"
};

enum alar_status alar_hostile_find(const char *name, enum alar_hostile *kind)
{
    for (int i = 0; i < ALAR_HOSTILE_COUNT; i++) {
        if (strcmp(name, alar_hostile_kinds[i].name) == 0) {
            *kind = (enum alar_hostile)i;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

/* A loss of a language model. */
static double loss_draw(struct hostile_maker *maker)
{
    return 1.0 + 11.0 * alar_rng_unit(&maker->rng);
}

/* Twelve ranks an element; the digit of a rank moves on with each operation. */
static void make_ledger(struct hostile_maker *maker)
{
    uint32_t needed = (maker->ranks + LEDGER_RANKS - 1) / LEDGER_RANKS;
    uint32_t elements = needed < ALAR_HOSTILE_ELEMENTS_MAX ? needed : ALAR_HOSTILE_ELEMENTS_MAX;

    maker->input->elements = elements;
    hostile_fill(maker, 0.0);
    for (uint32_t r = 0; r < maker->ranks && r / LEDGER_RANKS < elements; r++) {
        uint64_t digit = (r + maker->index) % LEDGER_RANKS;

        hostile_set(maker, r, r / LEDGER_RANKS, (double)(UINT64_C(1) << (2 * digit)));
    }
}

/* All pairs of ranks while they fit, then drawn ones. */
static void make_masks(struct hostile_maker *maker)
{
    uint32_t n = maker->ranks;
    uint64_t pairs = (uint64_t)n * (n - 1) / 2;
    uint32_t element = 0;

    if (n < 2) {
        hostile_fill(maker, 1.0);
        return;
    }
    maker->input->elements =
        (uint32_t)(pairs < ALAR_HOSTILE_ELEMENTS_MAX ? pairs : ALAR_HOSTILE_ELEMENTS_MAX);
    hostile_fill(maker, 1.0);
    for (uint32_t i = 0; i < n && element < maker->input->elements; i++) {
        for (uint32_t j = i + 1; j < n && element < maker->input->elements; j++, element++) {
            uint32_t at = pairs > ALAR_HOSTILE_ELEMENTS_MAX ? hostile_below(maker, n - 1) : i;
            uint32_t other =
                pairs > ALAR_HOSTILE_ELEMENTS_MAX ? at + 1 + hostile_below(maker, n - 1 - at) : j;

            hostile_set(maker, at, element, 0x1p100);
            hostile_set(maker, other, element, -0x1p100);
        }
    }
}

static void make_width(struct hostile_maker *maker)
{
    /* The last two values of a row go to two ranks, the first one to the others that remain. */
    static const double rows[][3] = {
        {0x1p-4, 0x1p15, 0x1p-4}, /* fp16 accumulates neither */
        {1.0, 0x1p24, 1.0},       /* fp32 loses what fp64 keeps */
        {0x1p-60, 1.0, 0x1p-24},  /* fp64, then fp32: rounded twice */
        {0x1p-8, 1.0, 0x1p-9},    /* bf16 */
        {0.0, 0x1.000002p0, 0x1p-54},
    };

    maker->input->elements = sizeof(rows) / sizeof(rows[0]);
    for (uint32_t e = 0; e < maker->input->elements; e++) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            hostile_set(maker, r, e, rows[e][r == 0 ? 1 : r == 1 ? 2 : 0]);
        }
        hostile_shuffle(maker, e);
    }
}

static void make_ties(struct hostile_maker *maker)
{
    maker->input->elements = 8;
    for (uint32_t e = 0; e < 8; e++) {
        double sign = e & 1 ? -1.0 : 1.0;
        double odd = e & 2 ? 0x1p-23 : 0.0;

        for (uint32_t r = 0; r < maker->ranks; r++) {
            double halves = (double)(1 + 2 * hostile_below(maker, 2)) * 0x1p-24;

            hostile_set(maker, r, e, sign * (r == 0 ? 1.0 + odd : halves));
        }
        hostile_shuffle(maker, e);
    }
}

/* Number of different values among those that five usual trees give. */
static uint32_t trees_apart(const struct alar_hostile_input *input, uint32_t ranks,
                            uint32_t element)
{
    static const enum alar_tree_kind kinds[] = {ALAR_TREE_LEFT_FOLD, ALAR_TREE_RIGHT_FOLD,
                                                ALAR_TREE_DOUBLING_HEAD, ALAR_TREE_DOUBLING_TAIL,
                                                ALAR_TREE_BINOMIAL};
    const struct alar_adder adder = {input->dtype, input->dtype, ALAR_NEAREST, false};
    int32_t node[2 * SEARCH_RANKS];
    uint64_t column[SEARCH_RANKS];
    uint64_t stack[SEARCH_RANKS];
    uint64_t seen[sizeof(kinds) / sizeof(kinds[0])];
    uint32_t count = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        column[r] = input->bits[(size_t)r * input->elements + element];
    }
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct alar_tree tree = {.node = node, .capacity = 2 * SEARCH_RANKS};
        uint32_t same = 0;

        alar_tree_build(&tree, (struct alar_tree_name){kinds[k], 0}, ranks);
        uint64_t value = alar_tree_evaluate(&tree, adder, column, stack);
        while (same < count && seen[same] != value) {
            same++;
        }
        if (same == count) {
            seen[count++] = value;
        }
    }
    return count;
}

static void element_draw(struct hostile_maker *maker, uint32_t element)
{
    for (uint32_t r = 0; r < maker->ranks; r++) {
        hostile_set(maker, r, element, loss_draw(maker));
    }
}

/* Three ranks have three trees over them, of which the usual ones make two. */
static void make_ordered(struct hostile_maker *maker)
{
    uint32_t wanted = maker->ranks < 4 ? 2 : 3;

    maker->input->elements = 4;
    for (uint32_t e = 0; e < 4; e++) {
        element_draw(maker, e);
        for (uint32_t k = 0;
             k < SEARCH_TRIES && maker->ranks >= 3 && maker->ranks <= SEARCH_RANKS &&
             trees_apart(maker->input, maker->ranks, e) < wanted;
             k++) {
            element_draw(maker, e);
        }
    }
}

/* Even indexes stay below 2^24 in all, odd ones go beyond it. */
static void make_unordered(struct hostile_maker *maker)
{
    uint64_t limit = (UINT64_C(1) << 24) / maker->ranks;
    uint64_t base = maker->index % 2 == 0 ? limit - limit / 8 : limit + limit / 2;

    maker->input->elements = 4;
    for (uint32_t e = 0; e < 4; e++) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            uint64_t less = alar_rng_below(&maker->rng, limit / 8 + 1);

            hostile_set(maker, r, e, (double)(base - less));
        }
    }
}

static void make_cancel(struct hostile_maker *maker)
{
    maker->input->elements = 4;
    hostile_fill(maker, 0.0);
    for (uint32_t e = 0; e < 4; e++) {
        for (uint32_t r = 0; r + 1 < maker->ranks; r += 2) {
            int scale = (int)hostile_below(maker, 20);
            double large = loss_draw(maker) * (double)(1 << scale);

            hostile_set(maker, r, e, large);
            hostile_set(maker, r + 1, e, -large * (1.0 + 0x1p-20 * alar_rng_unit(&maker->rng)));
        }
        if (maker->ranks % 2 == 1) {
            hostile_set(maker, maker->ranks - 1, e, 0x1p-10 * loss_draw(maker));
        }
        hostile_shuffle(maker, e);
    }
}

/* Numbers that name operation and rank; the second half belongs to another salt. Exact in fp32
   while ranks * 2 * 4096 * ranks stays below 2^24. */
static void make_async(struct hostile_maker *maker)
{
    uint32_t elements = 2 + 2 * (uint32_t)(maker->index % 4);

    maker->input->elements = elements;
    for (uint32_t e = 0; e < elements; e++) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            uint64_t salt = (maker->index * 2 + (e >= elements / 2)) % 4096;

            hostile_set(maker, r, e, (double)(1 + r + maker->ranks * salt));
        }
    }
}

static void make_degenerate(struct hostile_maker *maker)
{
    static const uint32_t counts[] = {1, 7, 13, 17, 33};
    uint32_t alone = hostile_below(maker, maker->ranks);
    double value = loss_draw(maker);

    maker->input->elements = counts[maker->index % 5];
    if (maker->index % 3 == 0) {
        hostile_fill(maker, value);
    } else if (maker->index % 3 == 1) {
        hostile_fill(maker, 0.0);
        for (uint32_t e = 0; e < maker->input->elements; e++) {
            hostile_set(maker, alone, e, loss_draw(maker));
        }
    } else {
        for (uint32_t e = 0; e < maker->input->elements; e++) {
            element_draw(maker, e);
        }
    }
}

void alar_hostile_make(const struct alar_hostile_key *key, struct alar_hostile_input *input)
{
    static void (*const makers[])(struct hostile_maker *) = {
        [ALAR_HOSTILE_LEDGER] = make_ledger,         [ALAR_HOSTILE_MASKS] = make_masks,
        [ALAR_HOSTILE_WIDTH] = make_width,           [ALAR_HOSTILE_TIES] = make_ties,
        [ALAR_HOSTILE_ORDERED] = make_ordered,       [ALAR_HOSTILE_UNORDERED] = make_unordered,
        [ALAR_HOSTILE_CANCEL] = make_cancel,         [ALAR_HOSTILE_EDGES] = hostile_edges,
        [ALAR_HOSTILE_SPECIALS] = hostile_specials,  [ALAR_HOSTILE_AVERAGES] = hostile_averages,
        [ALAR_HOSTILE_INTEGERS] = hostile_integers,  [ALAR_HOSTILE_ASYNC] = make_async,
        [ALAR_HOSTILE_DEGENERATE] = make_degenerate, [ALAR_HOSTILE_LIVE] = hostile_live,
    };
    struct hostile_maker maker = {.input = input, .ranks = key->ranks, .index = key->index};

    PRE(key->kind < ALAR_HOSTILE_COUNT);
    PRE(key->ranks >= 1);
    PRE(key->ranks <= ALAR_HOSTILE_RANKS_MAX);
    maker.rng = alar_rng_stream(alar_rng_fold(key->seed, key->index), key->kind);
    input->dtype = ALAR_F32;
    input->red = ALAR_SUM;
    input->elements = 1;
    input->is_contested = false;
    makers[key->kind](&maker);
    POST(input->elements <= ALAR_HOSTILE_ELEMENTS_MAX);
}
