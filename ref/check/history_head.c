/* A rank file says so in its first record, and holds nothing of other ranks. */
#include "check/history_head.h"

#include "check/record_input.h"

#include <fcntl.h>

enum {
    HEAD_RECORDS = 256
};

static bool is_of_other(const struct alar_event *event, int64_t rank)
{
    return event->has[ALAR_FIELD_RANK] && event->number[ALAR_FIELD_RANK] != rank;
}

/* Records of several ranks in one file, each rank with a header of its own. */
static bool head_is_merged(struct alar_record_reader *records, struct alar_record_input *source,
                           int64_t rank)
{
    enum alar_status status = ALAR_OK;
    struct alar_record_error error;
    struct alar_event event;

    for (unsigned k = 1; k < HEAD_RECORDS && (status == ALAR_OK || status == ALAR_E_INPUT); k++) {
        status = alar_record_input_line(source, records, &event, &error);
        if (status == ALAR_OK && is_of_other(&event, rank)) {
            return true;
        }
    }
    return alar_record_input_last(source, records, &event) == ALAR_OK && is_of_other(&event, rank);
}

struct alar_history_head alar_history_head_read(struct alar_record_reader *records,
                                                const char *path)
{
    struct alar_history_head head = {false, false, 0, 0, 0};
    struct alar_record_error error;
    struct alar_record_input source;
    struct alar_event event;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || alar_record_input_open(&source, file) != ALAR_OK) {
        return head;
    }
    enum alar_status status = alar_record_input_line(&source, records, &event, &error);

    head.is_blank = status == ALAR_E_EMPTY || (status == ALAR_E_INPUT && error.is_cut);
    if (status == ALAR_OK && event.record == ALAR_RECORD_TRACE) {
        head.rank = alar_event_number(&event, ALAR_FIELD_RANK, -1);
        head.world = alar_event_number(&event, ALAR_FIELD_WORLD, 0);
        head.tag = event.has[ALAR_FIELD_TAG] ? alar_text_hash(event.text[ALAR_FIELD_TAG]) : 0;
        head.is_rank_file =
            head.rank >= 0 && head.world > 1 && !head_is_merged(records, &source, head.rank);
    }
    alar_record_input_close(&source);
    return head;
}

bool alar_history_head_is_same(const struct alar_history_head *a, const struct alar_history_head *b)
{
    return a->is_rank_file && b->is_rank_file && a->world == b->world && a->tag == b->tag;
}
