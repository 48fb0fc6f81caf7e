/* `alar order`: the order in which a back end adds, found by masks. */
#include "cli/cli_order.h"
#include "cli/cli.h"
#include "cli/cli_apart.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNTS_MOST = 16,
    LOAD_MS = 60000 /* for a back end to be loaded */
};

const char *const cli_order_calls[] = {"non-blocking", "blocking", "both", NULL};
static const char *const reductions[] = {"sum", "avg", NULL};
static const char *const dtypes[] = {"f16", "bf16", "f32", "f64", NULL};

struct order {
    struct alar_order_place place;
    struct alar_order_options options;
    uint64_t counts[COUNTS_MOST];
    size_t count_count;
    int call, dtype, reduction, sim_order;
    uint64_t ranks, repeat, seed;
    const char *count_list;
    bool all_pairs, is_dot, is_strict;
    bool is_told; /* this process prints: it has rank 0 */
    enum alar_class worst;
    struct cli_order_view view;
    struct alar_cli_progress progress;
};

/* "1,2,1024". Errors: ALAR_E_INPUT. */
static enum alar_status counts_parse(struct order *order)
{
    const char *at = order->count_list;
    char word[24];

    while (order->count_count < COUNTS_MOST) {
        size_t length = strcspn(at, ",");

        if (length >= sizeof(word)) {
            return ALAR_E_INPUT;
        }
        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        ALAR_TRY(alar_number_parse(word, 1, 1 << 24, &order->counts[order->count_count++]));
        if (at[length] == '\0') {
            return ALAR_OK;
        }
        at += length + 1;
    }
    return ALAR_E_INPUT;
}

static enum alar_class measured_class(const struct order *order,
                                      const struct alar_order_measured *measured, uint32_t n)
{
    bool is_wrong = measured->disagreed > 0 || !cli_order_alike(measured, n) ||
                    (order->is_strict && measured->changed > 0);

    return is_wrong ? ALAR_CLASS_WRONG : ALAR_CLASS_GOOD;
}

static void tell_progress(void *data, uint64_t calls)
{
    struct order *order = data;

    alar_cli_progress_say(&order->progress, "order: %llu elements, %llu all-reduces so far",
                          (unsigned long long)order->options.call.count, (unsigned long long)calls);
}

static enum alar_status count_measure(struct order *order, struct alar_order_world *world,
                                      uint64_t count, bool is_blocking)
{
    struct alar_order_measured measured;

    order->options.call.count = count;
    order->options.call.is_blocking = is_blocking;
    enum alar_status status = alar_order_measure(world, &order->options, &measured);

    alar_cli_progress_end(&order->progress);
    ALAR_TRY(status);
    order->worst = alar_class_worst(order->worst, measured_class(order, &measured, world->ranks));
    if (order->is_told && order->is_dot) {
        cli_order_dot(&measured.order[0], cli_order_calls[is_blocking]);
    } else if (order->is_told) {
        cli_order_show(&order->view, &measured, world->ranks);
    }
    alar_order_measured_free(&measured);
    return ALAR_OK;
}

static enum alar_status world_measure(struct order *order, struct alar_order_world *world)
{
    for (size_t k = 0; k < order->count_count; k++) {
        if (order->call != 1) {
            ALAR_TRY(count_measure(order, world, order->counts[k], false));
        }
        if (order->call == 1 || (order->call == 2 && world->caps.can_block)) {
            ALAR_TRY(count_measure(order, world, order->counts[k], true));
        }
    }
    return ALAR_OK;
}

static int order_run(struct order *order)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_order_world world;
    enum alar_status status = alar_order_world_open(&world, &order->place, error_line);

    if (status != ALAR_OK) {
        alar_cli_complain("order", error_line);
        return (int)alar_status_class(status);
    }
    order->is_told = world.first == 0;
    world.progress = order->is_told ? tell_progress : NULL;
    world.data = order;
    if (order->is_told && !order->view.as_json && !order->is_dot) {
        printf("%u ranks on %s, %s of %s\n", world.ranks, order->place.backend,
               reductions[order->reduction], dtypes[order->dtype]);
    }
    status = world_measure(order, &world);
    if (status != ALAR_OK) {
        alar_cli_complain("order", alar_status_text(status));
    }
    alar_order_world_close(&world);
    (void)alar_cli_flush();
    return (int)alar_class_worst(order->worst, alar_status_class(status));
}

static int order_options(struct order *order, int argc, char **argv)
{
    int operands;
    const struct alar_option options[] = {
        {"backend", ALAR_OPTION_TEXT, &order->place.backend, "NAME",
         "mpi (default), sim, or the path of a plug-in", NULL, 0, 0},
        {"ranks", ALAR_OPTION_NUMBER, &order->ranks, "N", "ranks of the simulator (5)", NULL, 1,
         ALAR_ORDER_RANKS_MOST},
        {"sim-order", ALAR_OPTION_CHOICE, &order->sim_order, "NAME",
         "how the simulator adds (recursive-doubling)", alar_sim_order_names, 0, 0},
        {"call", ALAR_OPTION_CHOICE, &order->call, NULL,
         "which calls (both, where there is a blocking one)", cli_order_calls, 0, 0},
        {"counts", ALAR_OPTION_TEXT, &order->count_list, "N,N,...",
         "numbers of elements: production's own (1,2,1024)", NULL, 0, 0},
        {"dtype", ALAR_OPTION_CHOICE, &order->dtype, "NAME", "f16 bf16 f32 f64 (f32)", dtypes, 0,
         0},
        {"reduction", ALAR_OPTION_CHOICE, &order->reduction, NULL, "sum (default) or avg",
         reductions, 0, 0},
        {"all-pairs", ALAR_OPTION_FLAG, &order->all_pairs, NULL,
         "measure every pair of ranks, also what follows from others", NULL, 0, 0},
        {"repeat", ALAR_OPTION_NUMBER, &order->repeat, "N",
         "calls for the comparison between calls (20)", NULL, 0, 100000},
        {"seed", ALAR_OPTION_NUMBER, &order->seed, "N", "of their inputs (1)", NULL, 0, UINT64_MAX},
        {"strict", ALAR_OPTION_FLAG, &order->is_strict, NULL,
         "an order that changes between calls is wrong, too", NULL, 0, 0},
        {"dot", ALAR_OPTION_FLAG, &order->is_dot, NULL, "as Graphviz graphs", NULL, 0, 0},
        {"json", ALAR_OPTION_FLAG, &order->view.as_json, NULL, "as lines of JSON", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "order",
        .summary = "reveal the order in which a back end adds",
        .options = options,
        .examples = "  mpiexec.mpich -n 5 alar order\n"
                    "  alar order --backend sim --sim-order ring --ranks 8 --dot | dot -Tsvg\n",
    };
    int code = alar_cli_options(&command, argc, argv, &operands);

    return code;
}

int alar_cli_order(int argc, char **argv)
{
    static struct order order = {
        .place = {.backend = "mpi"},
        .ranks = 5,
        .sim_order = ALAR_SIM_RECURSIVE_DOUBLING,
        .call = 2,
        .count_list = "1,2,1024",
        .dtype = 2,
        .repeat = 20,
        .seed = 1,
    };
    int code = order_options(&order, argc, argv);

    if (code >= 0) {
        return code;
    }
    if (counts_parse(&order) != ALAR_OK) {
        return alar_cli_complain("order", "--counts: expected at most 16 numbers from 1 to "
                                          "16777216, as 1,2,1024");
    }
    order.place.ranks = (uint32_t)order.ranks;
    order.place.seed = order.seed;
    order.place.sim_order = (enum alar_sim_order)order.sim_order;
    order.options.call.dtype = (enum alar_dtype)order.dtype;
    order.options.call.reduction = order.reduction == 0 ? ALAR_SUM : ALAR_AVG;
    order.options.all_pairs = order.all_pairs;
    order.options.repeat = (uint32_t)order.repeat;
    order.options.seed = order.seed;
    order.view.options = &order.options;
    code = alar_cli_apart("order", order.place.backend, LOAD_MS);
    return code >= 0 ? code : order_run(&order);
}
