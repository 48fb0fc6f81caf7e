/* A rank file says so in its first record, and holds nothing of other ranks. */
#include "check/history_head.h"

#include "sys/line_read.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_RECORDS = 256,
    HEAD_TAIL_BYTES = 64 << 10
};

/* Is the line a record of another rank? */
static bool line_is_of_other(struct alar_record_reader *records, const char *text, size_t length,
                             int64_t rank)
{
    struct alar_record_error error;
    struct alar_event event;

    return length > 0 && alar_record_read(records, text, length, &event, &error) == ALAR_OK &&
           event.has[ALAR_FIELD_RANK] && event.number[ALAR_FIELD_RANK] != rank;
}

/* Where the last newline before `end` is; `end` when there is none. */
static size_t newline_before(const char *text, size_t end)
{
    for (size_t k = end; k > 0; k--) {
        if (text[k - 1] == '\n') {
            return k - 1;
        }
    }
    return end;
}

/* The last whole line of the file. */
static bool tail_is_of_other(struct alar_record_reader *records, int file, int64_t rank)
{
    char tail[HEAD_TAIL_BYTES];
    off_t size = lseek(file, 0, SEEK_END);
    off_t from = size > HEAD_TAIL_BYTES ? size - HEAD_TAIL_BYTES : 0;
    ssize_t length = pread(file, tail, sizeof tail, from);
    size_t end = length > 0 ? newline_before(tail, (size_t)length) : 0;
    size_t before = newline_before(tail, end);

    return before < end && line_is_of_other(records, tail + before + 1, end - before - 1, rank);
}

/* Records of several ranks in one file, each rank with a header of its own. */
static bool head_is_merged(struct alar_record_reader *records, struct alar_lines *lines,
                           int64_t rank)
{
    struct alar_line line;

    for (unsigned k = 1; k < HEAD_RECORDS && alar_lines_next(lines, &line) == ALAR_OK; k++) {
        if (line_is_of_other(records, line.text, line.length, rank)) {
            return true;
        }
    }
    return tail_is_of_other(records, lines->file, rank);
}

struct alar_history_head alar_history_head_read(struct alar_record_reader *records,
                                                const char *path)
{
    struct alar_history_head head = {false, false, 0, 0, 0};
    struct alar_record_error error;
    struct alar_lines lines;
    struct alar_event event;
    struct alar_line line;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || alar_lines_open(&lines, file) != ALAR_OK) {
        return head;
    }
    enum alar_status status = alar_lines_next(&lines, &line);
    bool is_read = status == ALAR_OK &&
                   alar_record_read(records, line.text, line.length, &event, &error) == ALAR_OK;

    head.is_blank =
        status == ALAR_E_EMPTY || (status == ALAR_OK && !is_read && error.is_cut && !line.is_ended);
    if (is_read && event.record == ALAR_RECORD_TRACE) {
        head.rank = alar_event_number(&event, ALAR_FIELD_RANK, -1);
        head.world = alar_event_number(&event, ALAR_FIELD_WORLD, 0);
        head.tag = event.has[ALAR_FIELD_TAG] ? alar_text_hash(event.text[ALAR_FIELD_TAG]) : 0;
        head.is_rank_file =
            head.rank >= 0 && head.world > 1 && !head_is_merged(records, &lines, head.rank);
    }
    alar_lines_close(&lines);
    return head;
}

bool alar_history_head_is_same(const struct alar_history_head *a, const struct alar_history_head *b)
{
    return a->is_rank_file && b->is_rank_file && a->world == b->world && a->tag == b->tag;
}
