/* Lines at the end of a file. */
#include "sys/line_write.h"

#include "sys/error_line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum alar_status alar_line_write_open(struct alar_line_writer *append, const char *path,
                                      bool may_exist, char *error_line)
{
    /* A new file is nobody's link, and may be mapped. */
    int flags = O_CREAT | O_APPEND | O_CLOEXEC |
                (may_exist ? O_WRONLY | O_TRUNC : O_RDWR | O_EXCL | O_NOFOLLOW);
    int file = open(path, flags, 0666);

    if (file < 0) {
        return alar_complain(error_line, path, "expected a file to write to, found: %s",
                             strerror(errno));
    }
    *append = (struct alar_line_writer){.file = file, .write = write};
    return ALAR_OK;
}

void alar_line_write_line(struct alar_line_writer *append, const char *line, size_t length)
{
    size_t written = 0;

    while (append->error == 0 && written < length) {
        size_t left = length - written;
        ssize_t count = append->spoil != NULL && append->spoil(append->faults, &left)
                            ? -1
                            : append->write(append->file, line + written, left);

        if (count > 0) {
            written += (size_t)count;
        } else if (count == 0) {
            append->error = ENOSPC; /* no progress, and no reason given */
        } else if (errno != EINTR) {
            append->error = errno;
        }
    }
}

enum alar_status alar_line_write_close(struct alar_line_writer *append)
{
    if (close(append->file) != 0 && append->error == 0 && errno != EINTR) {
        append->error = errno;
    }
    return append->error == 0 ? ALAR_OK : ALAR_E_IO;
}
