/* The account as a table and as CSV. */
#include "cost/cost_text.h"

#include "api/terms.h"

#include <inttypes.h>
#include <string.h>

enum {
    NAME_WIDTH = 24
};

struct alar_cost_unit alar_cost_unit(const struct alar_cost *cost)
{
    return cost->is_in_ticks ? (struct alar_cost_unit){"ticks", 1}
                             : (struct alar_cost_unit){"ms", 1e6};
}

static double share_overlapped(int64_t overlapped, int64_t blocked)
{
    return 100 * alar_cost_share(overlapped, overlapped + blocked);
}

/* Long names keep their end, where the line number stands. */
static const char *name_end(const char *name)
{
    size_t length = strlen(name);

    return length > NAME_WIDTH ? name + length - NAME_WIDTH : name;
}

static void text_last(FILE *out, const struct alar_cost_rank *ranks, uint32_t count)
{
    const struct alar_cost_rank *last = alar_cost_last(ranks, count);

    if (last == NULL) {
        fputs("not known", out);
        return;
    }
    fprintf(out, "rank %u: %.0f %% (%.0f to %.0f %%)%s", last->rank,
            100 * (double)last->last / (double)last->of, 100 * last->low, 100 * last->high,
            last->is_chronic ? ", chronic" : "");
}

static void text_site(FILE *out, const struct alar_cost *cost, const struct alar_cost_site *site)
{
    struct alar_cost_unit unit = alar_cost_unit(cost);

    fprintf(out, "%-*s %9" PRIu64 " %9" PRIu64 " %5.0f %% %12.3f %7.2f %% %7.1f %%  ", NAME_WIDTH,
            name_end(site->name), site->operations, site->calls,
            100 * (double)site->sync_calls / (double)site->calls, (double)site->blocked / unit.of,
            100 * alar_cost_share(site->blocked, cost->life),
            share_overlapped(site->overlapped, site->blocked));
    text_last(out, site->rank, cost->ranks);
    fputc('\n', out);
}

static void text_whole(FILE *out, const struct alar_cost *cost)
{
    struct alar_cost_unit unit = alar_cost_unit(cost);

    fprintf(out,
            "\n%" PRIu64 " all-reduces in %" PRIu64 " calls of %u ranks, %.3f %s of their time; "
            "%.3f %s blocked (%.2f %%), %.1f %% of pending time overlapped\n",
            cost->operations, cost->calls, cost->ranks, (double)cost->life / unit.of, unit.name,
            (double)cost->blocked / unit.of, unit.name,
            100 * alar_cost_share(cost->blocked, cost->life),
            share_overlapped(cost->overlapped, cost->blocked));
    if (cost->steps > 0) {
        fprintf(out, "%.2f all-reduces a step, %" PRIu64 " steps\n",
                (double)cost->operations / (double)cost->steps, cost->steps);
    }
    if (cost->has_saving) {
        fprintf(out,
                "waiting at the log line alone would save at most %.3f %s, %.2f %% of the ranks' "
                "time\n",
                (double)cost->saving / unit.of, unit.name,
                100 * alar_cost_share(cost->saving, cost->life));
    } else {
        fputs("what waiting at the log line would save is not known: no report covers a step of "
              "these all-reduces\n",
              out);
    }
    if (!cost->has_shared_clock && cost->ranks > 1) {
        fputs("who arrives last is not known: the ranks share no clock (host and t0 in their "
              "headers)\n",
              out);
    }
    if (cost->unfinished + cost->untimed > 0) {
        fprintf(out,
                "not in these times: %" PRIu64 " calls without an end, %" PRIu64
                " without a time\n",
                cost->unfinished, cost->untimed);
    }
}

void alar_cost_text(FILE *out, const char *name, const struct alar_cost *cost)
{
    struct alar_cost_unit unit = alar_cost_unit(cost);

    fprintf(out, "%s\n%-*s %9s %9s %7s %9s %-2s %9s %9s  %s\n", name, NAME_WIDTH, "called from",
            "all-red.", "calls", "sync", "blocked", unit.name, "of time", "overlap",
            "last to arrive");
    for (size_t k = 0; k < cost->sites; k++) {
        text_site(out, cost, &cost->site[k]);
    }
    text_whole(out, cost);
}

/* ---- CSV --------------------------------------------------------------------------------------
 */

static void csv_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

void alar_cost_csv(FILE *out, const struct alar_cost *cost)
{
    struct alar_cost_unit unit = alar_cost_unit(cost);

    fputs("site,all_reduces,calls,sync_calls", out);
    for (int red = 0; red < ALAR_REDUCTION_WORDS; red++) {
        fprintf(out, ",%s", alar_reduction_names[red]);
    }
    fprintf(out,
            ",elements,blocked_%s,"
            "overlapped_%s,saving_at_most_%s,last_rank,last_times,last_of,last_low,last_high,"
            "chronic\r\n",
            unit.name, unit.name, unit.name);
    for (size_t k = 0; k < cost->sites; k++) {
        const struct alar_cost_site *site = &cost->site[k];
        const struct alar_cost_rank *last = alar_cost_last(site->rank, cost->ranks);

        csv_text(out, site->name);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, site->operations, site->calls,
                site->sync_calls);
        for (int red = 0; red < ALAR_REDUCTION_WORDS; red++) {
            fprintf(out, ",%" PRIu64, site->by_red[red]);
        }
        fprintf(out, ",%" PRIu64 ",%.6f,%.6f,", site->elements, (double)site->blocked / unit.of,
                (double)site->overlapped / unit.of);
        if (cost->has_saving) {
            fprintf(out, "%.6f", (double)site->saving / unit.of);
        }
        if (last != NULL) {
            fprintf(out, ",%u,%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%d\r\n", last->rank, last->last,
                    last->of, last->low, last->high, last->is_chronic);
        } else {
            fputs(",,,,,,\r\n", out);
        }
    }
}

/* ---- two accounts -----------------------------------------------------------------------------
 */

static void compare_row(FILE *out, const char *name, const struct alar_cost cost[2],
                        const struct alar_cost_site *const site[2])
{
    double blocked[2], share[2];

    for (int k = 0; k < 2; k++) {
        blocked[k] = site[k] ? (double)site[k]->blocked / alar_cost_unit(&cost[k]).of : 0;
        share[k] = site[k] ? 100 * alar_cost_share(site[k]->blocked, cost[k].life) : 0;
    }
    fprintf(out, "%-*s %9" PRIu64 " %9" PRIu64 " %12.3f %12.3f", NAME_WIDTH, name_end(name),
            site[0] ? site[0]->calls : 0, site[1] ? site[1]->calls : 0, blocked[0], blocked[1]);
    if (blocked[0] > 0) {
        fprintf(out, " %8.3f", blocked[1] / blocked[0]);
    } else {
        fprintf(out, " %8s", "-");
    }
    fprintf(out, " %7.2f %% %7.2f %%\n", share[0], share[1]);
}

void alar_cost_compare(FILE *out, const char *const name[2], const struct alar_cost cost[2])
{
    struct alar_cost_site whole[2];
    const struct alar_cost_site *both[2] = {&whole[0], &whole[1]};

    fprintf(out, "A: %s\nB: %s\n%-*s %9s %9s %9s %-2s %9s %-2s %8s %9s %9s\n", name[0], name[1],
            NAME_WIDTH, "called from", "calls A", "calls B", "blocked A",
            alar_cost_unit(&cost[0]).name, "B", alar_cost_unit(&cost[1]).name, "B / A", "of time A",
            "B");
    for (size_t k = 0; k < cost[0].sites; k++) {
        const struct alar_cost_site *a = &cost[0].site[k];

        compare_row(out, a->name, cost,
                    (const struct alar_cost_site *[2]){a, alar_cost_find(&cost[1], a->name)});
    }
    for (size_t k = 0; k < cost[1].sites; k++) {
        const struct alar_cost_site *b = &cost[1].site[k];

        if (alar_cost_find(&cost[0], b->name) == NULL) {
            compare_row(out, b->name, cost, (const struct alar_cost_site *[2]){NULL, b});
        }
    }
    for (int k = 0; k < 2; k++) {
        whole[k] = (struct alar_cost_site){.calls = cost[k].calls, .blocked = cost[k].blocked};
    }
    compare_row(out, "all", cost, both);
}
