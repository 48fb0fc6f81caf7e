/* Certificates as lines of a file: a label, a tab, and what certificate.h writes. */
#include "cli/cli_certificate.h"
#include "cli/cli.h"
#include "legal/certificate.h"
#include "sys/decimal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERIFY_BYTES = 64,  /* of scratch by character */
    VERIFY_SPARE = 4096 /* and beyond */
};

static int complain_about(const char *path)
{
    char text[ALAR_ERROR_LINE_BYTES];

    snprintf(text, sizeof text, "%s: %s", path, strerror(errno));
    return alar_cli_complain("check", text);
}

enum alar_status alar_cli_certify(FILE *file, const struct alar_legal_view *view)
{
    size_t size = ALAR_CERTIFICATE_BYTES(view->reduce->n);
    char *text = malloc(size);
    enum alar_status status = text ? alar_certificate_write(view->reduce, view->value, view->origin,
                                                            view->scratch, text, size)
                                   : ALAR_E_NOMEM;

    if (status == ALAR_OK) {
        fprintf(file, "%s/%llu[%u]\t%s\n", view->group, (unsigned long long)view->number,
                view->element, text);
    }
    free(text);
    return status;
}

/* What a certificate that holds has shown. */
static void verify_show(const struct alar_reduce *reduce, uint64_t value, const char *proof)
{
    char decimal[ALAR_DECIMAL_MAX];
    enum alar_dtype dtype = reduce->adder.dtype;

    alar_decimal_print(dtype, value, decimal);
    printf("PASS\t%s of %u %s gives %s (%0*llx): %.*s\n", alar_reduction_names[reduce->red],
           reduce->n, alar_dtype_name(dtype), decimal, (int)(2 * alar_dtype_bytes(dtype)),
           (unsigned long long)value, (int)strcspn(proof, ": "), proof);
}

/* One line. */
static enum alar_class verify_line(const char *path, unsigned number, char *line, bool is_quiet)
{
    char *text = strchr(line, '\t');
    size_t bytes = strlen(line) * VERIFY_BYTES + VERIFY_SPARE;
    struct alar_scratch scratch = {malloc(bytes), bytes};
    struct alar_reduce reduce = {0};
    uint64_t value = 0;

    line[strcspn(line, "\n")] = '\0';
    text = text ? text + 1 : line;
    enum alar_status status =
        scratch.memory ? alar_certificate_check(text, scratch, &reduce, &value) : ALAR_E_NOMEM;
    const char *proof = strstr(text, "proof=");
    int label = text > line ? (int)(text - line - 1) : 0;

    if (status == ALAR_OK && proof && !is_quiet) {
        printf("%s:%u %.*s\t", path, number, label, line);
        verify_show(&reduce, value, proof + strlen("proof="));
    } else if (status != ALAR_OK) {
        printf("%s:%u %.*s\t%s\t%s\n", path, number, label, line,
               status == ALAR_E_NOMEM ? "UNKNOWN" : "FAIL",
               status == ALAR_E_DIFFERS ? "the proof does not hold"
               : status == ALAR_E_INPUT ? "no certificate, or one that was changed"
                                        : "too little memory to check it");
    }
    free(scratch.memory);
    return status == ALAR_OK        ? ALAR_CLASS_GOOD
           : status == ALAR_E_NOMEM ? ALAR_CLASS_INCOMPLETE
                                    : ALAR_CLASS_WRONG;
}

int alar_cli_verify(const char *path, bool is_quiet)
{
    FILE *file = fopen(path, "r");
    enum alar_class worst = ALAR_CLASS_GOOD;
    unsigned number = 0;
    char *line = NULL;
    size_t size = 0;

    if (file == NULL) {
        return complain_about(path);
    }
    while (getline(&line, &size, file) > 0) {
        worst = alar_class_worst(worst, verify_line(path, ++number, line, is_quiet));
    }
    if (ferror(file)) {
        worst = alar_class_worst(worst, (enum alar_class)complain_about(path));
    } else if (number == 0) {
        worst = (enum alar_class)alar_cli_complain("check", "expected certificates, found none");
    } else {
        printf("%s\t%s\t%u certificates checked by plain evaluation\n", path,
               worst == ALAR_CLASS_GOOD    ? "PASS"
               : worst == ALAR_CLASS_WRONG ? "FAIL"
                                           : "UNKNOWN",
               number);
    }
    free(line);
    fclose(file);
    return (int)worst;
}
