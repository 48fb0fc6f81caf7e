/* In what order MPICH adds: build/tests/mpi/order PLUGIN SEED. Each rank knows every rank's vector
   from the seed and replays MPICH's default tree in plain C: of n ranks, with p the largest power
   of two up to n, the first 2(n - p) are added in pairs; then a binary tree over p. Both the
   blocking and the non-blocking sum must hold its very bits. */
#include "world.h"

enum {
    RANKS_MOST = 8,
    COUNT_MOST = 1024,
    CLASSES = 4,
    ROUNDS = 2
};

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* From 0 up to 1. */
static double draw_unit(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

/* The kinds of number that a log holds, and two on which every order shows. */
static double draw_value(uint64_t *state, int class)
{
    double unit = draw_unit(state);
    double scale = 1;

    switch (class) {
    case 0: /* sums of losses */
        return 2000 + 500 * unit;
    case 1: /* mean losses */
        return 2.31 + 0.1 * unit;
    case 2: /* about zero */
        return 2 * unit - 1;
    default: /* exponents from -20 to 20 */
        for (uint64_t i = draw(state) % 41; i > 0; i--) {
            scale *= 2;
        }
        return (2 * unit - 1) * scale * 0x1p-20;
    }
}

struct vectors {
    float f32[RANKS_MOST][COUNT_MOST];
    double f64[RANKS_MOST][COUNT_MOST];
};

static void hostile_draw(struct vectors *vectors, uint64_t seed, int32_t ranks, uint64_t count,
                         int class)
{
    uint64_t state = seed;

    for (int32_t rank = 0; rank < ranks; rank++) {
        for (uint64_t i = 0; i < count; i++) {
            vectors->f64[rank][i] = draw_value(&state, class);
            vectors->f32[rank][i] = (float)vectors->f64[rank][i];
        }
    }
}

/* Rank `from` is added to rank `to`, element by element, each sum rounded once. */
static void fold(struct vectors *vectors, int32_t to, int32_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        vectors->f32[to][i] = vectors->f32[to][i] + vectors->f32[from][i];
        vectors->f64[to][i] = vectors->f64[to][i] + vectors->f64[from][i];
    }
}

/* Leaves the sum with the returned rank. */
static int32_t tree_replay(struct vectors *vectors, int32_t ranks, uint64_t count)
{
    int32_t leaf[RANKS_MOST];
    int32_t leaves = 1;

    while (2 * leaves <= ranks) {
        leaves *= 2;
    }
    int32_t pairs = ranks - leaves;
    for (int32_t i = 0; i < leaves; i++) {
        leaf[i] = i < pairs ? 2 * i : i + pairs;
        if (i < pairs) {
            fold(vectors, 2 * i, 2 * i + 1, count);
        }
    }
    for (int32_t stride = 1; stride < leaves; stride *= 2) {
        for (int32_t i = 0; i < leaves; i += 2 * stride) {
            fold(vectors, leaf[i], leaf[i + stride], count);
        }
    }
    return leaf[0];
}

/* From the left, as one rank alone would: a different tree from 4 ranks on. */
static void left_replay(struct vectors *vectors, int32_t ranks, uint64_t count)
{
    for (int32_t i = 1; i < ranks; i++) {
        fold(vectors, 0, i, count);
    }
}

static void sum(struct world *world, const void *send, void *recv, uint64_t count,
                enum alar_dtype dtype, bool is_blocking)
{
    void *request = NULL;

    CLAIM(world, world_post(world, world->comm, send, recv, count, dtype, ALAR_SUM,
                            is_blocking ? NULL : &request) == 0);
    CLAIM(world, is_blocking || world_finish(world, request));
}

static uint64_t seed;
static int differences; /* elements on which the tree and the fold from the left differ */

static void one_round(struct world *world, uint64_t count, int class)
{
    static struct vectors vectors;
    static struct vectors left;
    static float f32[2][COUNT_MOST];
    static double f64[2][COUNT_MOST];
    uint64_t bytes32 = count * sizeof(float);
    uint64_t bytes64 = count * sizeof(double);

    hostile_draw(&vectors, seed++, world->ranks, count, class);
    for (int blocking = 0; blocking < 2; blocking++) {
        sum(world, vectors.f32[world->rank], f32[blocking], count, ALAR_F32, blocking);
        sum(world, vectors.f64[world->rank], f64[blocking], count, ALAR_F64, blocking);
    }
    left = vectors;
    left_replay(&left, world->ranks, count);
    int32_t root = tree_replay(&vectors, world->ranks, count);
    for (int blocking = 0; blocking < 2; blocking++) {
        CLAIM(world, memcmp(f32[blocking], vectors.f32[root], bytes32) == 0);
        CLAIM(world, memcmp(f64[blocking], vectors.f64[root], bytes64) == 0);
    }
    differences += memcmp(left.f32[0], vectors.f32[root], bytes32) != 0;
}

static void sums_are_the_default_tree(struct world *world)
{
    const uint64_t counts[] = {1, 2, 7, COUNT_MOST};

    for (int round = 0; round < ROUNDS; round++) {
        for (int class = 0; class < CLASSES; class ++) {
            for (int i = 0; i < 4; i++) {
                if (counts[i] < COUNT_MOST || round == 0) {
                    one_round(world, counts[i], class);
                }
            }
        }
    }
}

/* Otherwise the claim above could not fail. */
static void the_order_shows(struct world *world)
{
    CLAIM(world, world->ranks < 4 ? differences == 0 : differences > 0);
}

int main(int argc, char **argv)
{
    static const struct claim claims[] = {
        {"sums hold the bits of MPICH's default tree, blocking or not", sums_are_the_default_tree},
        {"from 4 ranks on, a fold from the left gives other bits", the_order_shows},
    };
    struct world world;

    if (argc < 3) {
        return ALAR_CLASS_UNUSABLE;
    }
    seed = strtoull(argv[2], NULL, 10);
    world_start(&world, argv[1], "");
    claims_run(&world, claims, 2);
    return world_stop(&world);
}
