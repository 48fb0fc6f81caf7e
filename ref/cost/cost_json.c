/* The account as JSON and as a picture. */
#include "cost/cost_text.h"

#include "api/terms.h"
#include "sys/json_gen.h"

#include <inttypes.h>

static void json_last(yajl_gen json, const struct alar_cost_rank *ranks, uint32_t count)
{
    alar_gen_text(json, "last");
    yajl_gen_array_open(json);
    for (uint32_t r = 0; r < count; r++) {
        if (ranks[r].of == 0) {
            continue;
        }
        yajl_gen_map_open(json);
        alar_gen_key_count(json, "rank", ranks[r].rank);
        alar_gen_key_count(json, "times", ranks[r].last);
        alar_gen_key_count(json, "of", ranks[r].of);
        alar_gen_key_real(json, "low", ranks[r].low, 4);
        alar_gen_key_real(json, "high", ranks[r].high, 4);
        alar_gen_key_flag(json, "chronic", ranks[r].is_chronic);
        alar_gen_key_signed(json, "late", ranks[r].late);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void json_site(yajl_gen json, const struct alar_cost *cost,
                      const struct alar_cost_site *site)
{
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "site", site->name);
    alar_gen_key_count(json, "all_reduces", site->operations);
    alar_gen_key_count(json, "calls", site->calls);
    alar_gen_key_count(json, "sync_calls", site->sync_calls);
    alar_gen_text(json, "calls_by_reduction");
    yajl_gen_map_open(json);
    for (int red = 0; red < ALAR_REDUCTION_WORDS; red++) {
        alar_gen_key_count(json, alar_reduction_names[red], site->by_red[red]);
    }
    yajl_gen_map_close(json);
    alar_gen_key_count(json, "elements", site->elements);
    alar_gen_key_signed(json, "blocked", site->blocked);
    alar_gen_key_real(json, "blocked_share", alar_cost_share(site->blocked, cost->life), 6);
    alar_gen_key_signed(json, "overlapped", site->overlapped);
    if (cost->has_saving) {
        alar_gen_key_signed(json, "saving_at_most", site->saving);
    }
    json_last(json, site->rank, cost->ranks);
    yajl_gen_map_close(json);
}

enum alar_status alar_cost_json(FILE *out, const char *name, const struct alar_cost *cost)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    if (json == NULL) {
        return ALAR_E_NOMEM;
    }
    yajl_gen_map_open(json);
    alar_gen_key_text(json, "path", name);
    alar_gen_key_text(json, "unit", cost->is_in_ticks ? "ticks" : "ns");
    alar_gen_key_count(json, "ranks", cost->ranks);
    alar_gen_key_count(json, "all_reduces", cost->operations);
    alar_gen_key_count(json, "calls", cost->calls);
    alar_gen_key_count(json, "steps", cost->steps);
    alar_gen_key_count(json, "unfinished", cost->unfinished);
    alar_gen_key_count(json, "untimed", cost->untimed);
    alar_gen_key_signed(json, "time", cost->life);
    alar_gen_key_signed(json, "blocked", cost->blocked);
    alar_gen_key_signed(json, "overlapped", cost->overlapped);
    if (cost->has_saving) {
        alar_gen_key_signed(json, "saving_at_most", cost->saving);
    }
    alar_gen_key_flag(json, "shared_clock", cost->has_shared_clock);
    json_last(json, cost->rank, cost->ranks);
    alar_gen_text(json, "sites");
    yajl_gen_array_open(json);
    for (size_t k = 0; k < cost->sites; k++) {
        json_site(json, cost, &cost->site[k]);
    }
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
    alar_gen_write(json, out);
    return ALAR_OK;
}

/* ---- the picture ------------------------------------------------------------------------------
 */

enum {
    PICTURE_WIDTH = 800,
    PICTURE_LEFT = 90,
    PICTURE_BAR = 560, /* of the longest rank */
    PICTURE_ROW = 26,
    PICTURE_TOP = 64,
    PICTURE_RANKS_MOST = 64
};

static void svg_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '<'                 ? "&lt;"
              : *text == '&'               ? "&amp;"
              : (unsigned char)*text < ' ' ? "?"
                                           : (char[]){*text, '\0'},
              out);
    }
}

static void svg_bar(FILE *out, double x, double y, double width, const char *fill, const char *what)
{
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"16\" fill=\"%s\"><title>%s</title>"
            "</rect>\n",
            x, y, width > 0 ? width : 0, fill, what);
}

static void svg_rank(FILE *out, const struct alar_cost *cost, const struct alar_cost_rank *rank,
                     uint32_t row, double scale)
{
    struct alar_cost_unit unit = alar_cost_unit(cost);
    double y = PICTURE_TOP + (double)row * PICTURE_ROW;
    double blocked = (double)rank->blocked * scale;
    char what[96];

    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">rank %u</text>\n", PICTURE_LEFT - 8,
            y + 13, rank->rank);
    snprintf(what, sizeof what, "blocked %.3f %s", (double)rank->blocked / unit.of, unit.name);
    svg_bar(out, PICTURE_LEFT, y, blocked, "#d55e00", what);
    snprintf(what, sizeof what, "the rest of %.3f %s", (double)rank->life / unit.of, unit.name);
    svg_bar(out, PICTURE_LEFT + blocked, y, (double)rank->life * scale - blocked, "#0072b2", what);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%.2f %% blocked%s</text>\n",
            PICTURE_LEFT + (double)rank->life * scale + 6, y + 13,
            100 * alar_cost_share(rank->blocked, rank->life),
            rank->is_chronic ? ", often last" : "");
}

void alar_cost_svg(FILE *out, const char *name, const struct alar_cost *cost)
{
    uint32_t rows = cost->ranks < PICTURE_RANKS_MOST ? cost->ranks : PICTURE_RANKS_MOST;
    int64_t longest = 1;

    for (uint32_t r = 0; r < cost->ranks; r++) {
        longest = cost->rank[r].life > longest ? cost->rank[r].life : longest;
    }
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"16\" y=\"24\" font-size=\"15\">What logging costs: ",
            PICTURE_WIDTH, PICTURE_TOP + (int)rows * PICTURE_ROW + 40);
    svg_text(out, name);
    fputs("</text>\n", out);
    svg_bar(out, PICTURE_LEFT, 36, 16, "#d55e00", "blocked");
    fprintf(out, "<text x=\"%d\" y=\"49\">blocked in waits</text>\n", PICTURE_LEFT + 22);
    svg_bar(out, PICTURE_LEFT + 140, 36, 16, "#0072b2", "the rest");
    fprintf(out, "<text x=\"%d\" y=\"49\">all else, also beside pending all-reduces</text>\n",
            PICTURE_LEFT + 162);
    for (uint32_t r = 0; r < rows; r++) {
        svg_rank(out, cost, &cost->rank[r], r, (double)PICTURE_BAR / (double)longest);
    }
    if (rows < cost->ranks) {
        fprintf(out, "<text x=\"16\" y=\"%d\">and %u ranks more</text>\n",
                PICTURE_TOP + (int)rows * PICTURE_ROW + 20, cost->ranks - rows);
    }
    fputs("</svg>\n", out);
}
