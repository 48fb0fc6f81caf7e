/* What `alar order` prints. */
#include "cli/cli_order.h"
#include "sys/json_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 2 * CLI_ORDER_TEXT_BYTES
};

/* The expression, or why there is none; and the name, or "". */
static void order_describe(const struct alar_order *found, char *text,
                           char name[ALAR_TREE_NAME_MAX])
{
    size_t bytes = alar_order_scratch(found->n);
    struct alar_scratch scratch = {malloc(bytes), bytes};
    void *memory = scratch.memory;
    int32_t *node = malloc(2 * (size_t)found->n * sizeof(*node));
    struct alar_tree tree = {node, 0, 2 * found->n - 1};
    struct alar_tree_name named = {ALAR_TREE_LEFT_FOLD, 0};

    name[0] = '\0';
    if (memory == NULL || node == NULL) {
        snprintf(text, CLI_ORDER_TEXT_BYTES, "out of memory");
    } else if (alar_order_is_wide(found)) {
        snprintf(text, CLI_ORDER_TEXT_BYTES, "no order shows: nothing is rounded away");
    } else if (alar_order_decode(found, &tree, scratch) != ALAR_OK) {
        snprintf(text, CLI_ORDER_TEXT_BYTES, "no tree: the order changes between calls");
    } else if (alar_order_print(&tree, text, CLI_ORDER_TEXT_BYTES, scratch) != ALAR_OK) {
        snprintf(text, CLI_ORDER_TEXT_BYTES, "a tree that is too large to print");
    } else if (alar_order_name(found, &named, scratch) == ALAR_OK) {
        alar_tree_name_print(named, name);
    }
    free(memory);
    free(node);
}

/* A postfix program as a graph: every value on the stack is a node. */
void cli_order_dot(const struct alar_order *found, const char *title)
{
    size_t bytes = alar_order_scratch(found->n);
    struct alar_scratch scratch = {malloc(bytes), bytes};
    void *memory = scratch.memory;
    int32_t *node = malloc(2 * (size_t)found->n * sizeof(*node));
    uint32_t *stack = malloc(2 * (size_t)found->n * sizeof(*stack));
    struct alar_tree tree = {node, 0, 2 * found->n - 1};
    uint32_t depth = 0;

    if (memory != NULL && node != NULL && stack != NULL &&
        alar_order_decode(found, &tree, scratch) == ALAR_OK) {
        printf("digraph order {\n    label=\"%s\";\n    rankdir=BT;\n", title);
        for (uint32_t k = 0; k < tree.count; k++) {
            if (node[k] >= 0) {
                printf("    n%u [label=\"%d\", shape=box];\n", k, (int)node[k]);
            } else {
                printf("    n%u [label=\"+\", shape=circle];\n", k);
                for (int32_t child = 0; child <= -node[k]; child++) {
                    printf("    n%u -> n%u;\n", stack[--depth], k);
                }
            }
            stack[depth++] = k;
        }
        puts("}");
    }
    free(memory);
    free(node);
    free(stack);
}

/* Do two ranks? */
static bool ranks_alike(const struct alar_order_measured *measured, uint32_t a, uint32_t b)
{
    const struct alar_order_run *run = measured->run;
    uint32_t first[2] = {0, 0};
    uint32_t count[2] = {0, 0};

    for (uint32_t k = 0; k < measured->run_count; k++) {
        for (int side = 0; side < 2; side++) {
            if (run[k].rank == (side == 0 ? a : b)) {
                first[side] = count[side] == 0 ? k : first[side];
                count[side]++;
            }
        }
    }
    for (uint32_t k = 0; k < count[0] && count[0] == count[1]; k++) {
        if (run[first[0] + k].at != run[first[1] + k].at ||
            run[first[0] + k].order != run[first[1] + k].order) {
            return false;
        }
    }
    return count[0] == count[1];
}

bool cli_order_alike(const struct alar_order_measured *measured, uint32_t n)
{
    for (uint32_t rank = 1; rank < n; rank++) {
        if (!ranks_alike(measured, 0, rank)) {
            return false;
        }
    }
    return true;
}

/* "elements 3 to 5, " with "rank 2, " or "every rank, " before it. */
static void run_print(const struct alar_order_run *run, bool is_every_rank, uint64_t count)
{
    if (is_every_rank) {
        printf("every rank, ");
    } else {
        printf("rank %u, ", run->rank);
    }
    if (run->count == count) {
        printf("every element");
    } else if (run->count == 1) {
        printf("element %llu", (unsigned long long)run->at);
    } else {
        printf("elements %llu to %llu", (unsigned long long)run->at,
               (unsigned long long)(run->at + run->count - 1));
    }
}

static void run_json(const struct cli_order_view *view, const struct alar_order_run *run,
                     const char *text, const char *name)
{
    static char bytes[LINE_BYTES];
    struct alar_json json = {bytes, sizeof(bytes), 0, false};

    alar_json_begin(&json);
    alar_json_text(&json, "call", cli_order_calls[view->options->call.is_blocking]);
    alar_json_count(&json, "count", view->options->call.count);
    alar_json_count(&json, "rank", run->rank);
    alar_json_count(&json, "at", run->at);
    alar_json_count(&json, "n", run->count);
    alar_json_text(&json, "tree", text);
    alar_json_text(&json, "name", name[0] != '\0' ? name : NULL);
    alar_json_end(&json);
    fwrite(bytes, 1, json.length, stdout);
}

static void summary_json(const struct cli_order_view *view,
                         const struct alar_order_measured *measured, bool is_alike)
{
    static char bytes[LINE_BYTES];
    struct alar_json json = {bytes, sizeof(bytes), 0, false};

    alar_json_begin(&json);
    alar_json_text(&json, "call", cli_order_calls[view->options->call.is_blocking]);
    alar_json_count(&json, "count", view->options->call.count);
    alar_json_flag(&json, "ranks_agree", is_alike && measured->disagreed == 0);
    alar_json_count(&json, "orders", measured->order_count);
    alar_json_count(&json, "probes", measured->probes);
    alar_json_count(&json, "repeated", measured->repeated);
    alar_json_count(&json, "changed", measured->changed);
    alar_json_count(&json, "disagreed", measured->disagreed);
    alar_json_count(&json, "accumulator", (uint64_t)measured->accumulator);
    alar_json_end(&json);
    fwrite(bytes, 1, json.length, stdout);
}

static const char *width_text(int bits)
{
    switch (bits) {
    case 8:
        return "8 bits, as bf16";
    case 11:
        return "11 bits, as f16";
    case 24:
        return "24 bits, as f32";
    case 53:
        return "53 bits, as f64";
    default:
        return "of another width";
    }
}

static void summary_print(const struct cli_order_view *view,
                          const struct alar_order_measured *measured, bool is_alike)
{
    printf("    %llu probes; ", (unsigned long long)measured->probes);
    if (measured->accumulator > 0) {
        printf("accumulator: %s; ", width_text(measured->accumulator));
    }
    printf("between calls: %u of %u repeated calls gave other bits\n", measured->changed,
           measured->repeated);
    if (measured->is_cut) {
        puts("    there are more orders than are shown");
    }
    if (!is_alike || measured->disagreed > 0) {
        printf("    ranks disagree: wrong, every rank must hold the same bits (%u of %u calls)\n",
               measured->disagreed, view->options->repeat);
    }
}

/* One kind of call with one count. */
void cli_order_show(struct cli_order_view *view, const struct alar_order_measured *measured,
                    uint32_t n)
{
    static char text[CLI_ORDER_TEXT_BYTES];
    char name[ALAR_TREE_NAME_MAX];
    bool is_alike = cli_order_alike(measured, n);
    const struct alar_order_call *call = &view->options->call;
    char *first = view->first[call->is_blocking];

    if (!view->as_json) {
        printf("%s, %llu element%s\n", cli_order_calls[call->is_blocking],
               (unsigned long long)call->count, call->count == 1 ? "" : "s");
    }
    for (uint32_t k = 0; k < measured->run_count; k++) {
        const struct alar_order_run *run = &measured->run[k];

        if (is_alike && run->rank > 0 && !view->as_json) {
            break;
        }
        order_describe(&measured->order[run->order], text, name);
        if (k == 0 && first[0] == '\0') {
            snprintf(first, CLI_ORDER_TEXT_BYTES, "%s", text);
        } else if (k == 0 && strcmp(first, text) != 0 && !view->as_json) {
            puts("    the order depends on the number of elements");
        }
        if (view->as_json) {
            run_json(view, run, text, name);
        } else {
            printf("    %s  %s%s", text, name, name[0] != '\0' ? "  " : "");
            run_print(run, is_alike, call->count);
            puts("");
        }
    }
    if (view->as_json) {
        summary_json(view, measured, is_alike);
    } else {
        summary_print(view, measured, is_alike);
    }
}
