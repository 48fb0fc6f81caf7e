/* The end of a recording: its file closed, with or without a last word. */
#include "record_mpi.h"

#include "sys/error_line.h"

void record_close(void)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    record_file_end(&recorder.history->append);
    if (alar_history_close(recorder.history, error_line) != ALAR_OK) {
        record_say("%s", error_line);
    }
    recorder.history = NULL;
}

/* The rank ends here, and its recording too. */
void record_exit(int code, enum alar_status status, const char *text)
{
    const struct alar_history_exit record = {.code = code, .status = status, .text = text};

    alar_history_exit(recorder.history, record_now(), &record);
    record_close();
}
