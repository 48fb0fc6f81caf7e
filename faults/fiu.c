/* What fiu-run left in the environment: read strictly, then handed to libfiu. */
#define FIU_ENABLE
#include "point_state.h"
#include "sys/parse.h"
#include "sys/plain_numbers.h"

#include <fiu-control.h>
#include <fiu.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMMAND_BYTES = 256
};

static const char *const verbs[] = {"enable", "enable_random", NULL};
static const char *const parameters[] = {"name",        "failnum", "failinfo",
                                         "probability", "onetime", NULL};

/* One command, while it is read. */
struct command {
    const char *verb;
    char text[COMMAND_BYTES]; /* as it was given */
    char name[COMMAND_BYTES];
    char rest[COMMAND_BYTES]; /* what follows the name's parameter, from its comma on */
    bool has_probability;
    bool has_failinfo;
    uint64_t failinfo;
};

static enum alar_status refuse(const struct command *command, const char *expected,
                               const char *found, char *error_line)
{
    return alar_complain(error_line, "FIU_ENABLE", "expected %s, found '%s' in '%s'", expected,
                         found, command->text);
}

static enum alar_status probability_check(const struct command *command, const char *value,
                                          char *error_line)
{
    char *end = NULL;
    double probability = alar_plain_read(value, &end);
    bool is_plain = value[0] != '\0' && strspn(value, "0123456789.") == strlen(value);

    if (!is_plain || *end != '\0' || !(probability > 0.0 && probability <= 1.0)) {
        return refuse(command, "a probability above 0 and up to 1", value, error_line);
    }
    return ALAR_OK;
}

/* "key=value", or "onetime". */
static enum alar_status parameter_read(struct command *command, char *text, char *error_line)
{
    char *value = strchr(text, '=');
    char expected[128];
    uint64_t number = 0;
    int nearest;

    if (value != NULL) {
        *value++ = '\0';
    }
    nearest = alar_nearest(text, parameters);
    if (strcmp(text, parameters[nearest]) != 0) {
        snprintf(expected, sizeof(expected),
                 "name, failnum, failinfo, probability or onetime (did you mean '%s'?)",
                 parameters[nearest]);
        return refuse(command, expected, text, error_line);
    }
    if ((value == NULL) != (strcmp(text, "onetime") == 0)) {
        return refuse(command, "name=, failnum=, failinfo=, probability= or onetime", text,
                      error_line);
    }
    if (strcmp(text, "name") == 0) {
        snprintf(command->name, sizeof(command->name), "%s", value);
        return ALAR_OK;
    }
    if (strcmp(text, "probability") == 0) {
        ALAR_TRY(probability_check(command, value, error_line));
        command->has_probability = true;
    } else if (value != NULL && alar_number_parse(value, 0, INT64_MAX, &number) != ALAR_OK) {
        snprintf(expected, sizeof(expected), "a plain number, without a unit, for %s", text);
        return refuse(command, expected, value, error_line);
    } else if (strcmp(text, "failnum") == 0 && number == 0) {
        return refuse(command, "a failnum other than 0, which never fails", value, error_line);
    } else if (strcmp(text, "failinfo") == 0) {
        command->has_failinfo = true;
        command->failinfo = number;
    }
    size_t used = strlen(command->rest);
    snprintf(command->rest + used, sizeof(command->rest) - used, ",%s%s%s", text,
             value != NULL ? "=" : "", value != NULL ? value : "");
    return ALAR_OK;
}

/* Splits the command into its verb and its parameters. */
static enum alar_status command_split(struct command *command, char *error_line)
{
    char text[COMMAND_BYTES];
    char expected[64];

    snprintf(text, sizeof(text), "%s", command->text);
    char *at = text + strcspn(text, " \t");
    if (*at != '\0') {
        *at++ = '\0';
    }
    command->verb = verbs[alar_nearest(text, verbs)];
    if (strcmp(text, command->verb) != 0) {
        snprintf(expected, sizeof(expected), "enable or enable_random (did you mean '%s'?)",
                 command->verb);
        return refuse(command, expected, text, error_line);
    }
    at += strspn(at, " \t");
    while (*at != '\0') {
        char *next = at + strcspn(at, ",");

        if (*next != '\0') {
            *next++ = '\0';
        }
        ALAR_TRY(parameter_read(command, at, error_line));
        at = next;
    }
    if (command->name[0] == '\0') {
        return refuse(command, "a parameter name=POINT/RANK", at, error_line);
    }
    if (command->has_probability != (strcmp(command->verb, "enable_random") == 0)) {
        return refuse(command, "probability= with enable_random, and only there", command->verb,
                      error_line);
    }
    return ALAR_OK;
}

/* A name that fiu-run -x serves inside libc: not ours to know. */
static bool is_of_libc(const char *name)
{
    return strncmp(name, "posix/", 6) == 0 || strncmp(name, "libc/", 5) == 0 ||
           strncmp(name, "linux/", 6) == 0;
}

static enum alar_status value_check(const struct command *command, const struct alar_point_row *row,
                                    char *error_line)
{
    char expected[192];
    char found[32];

    if ((int64_t)command->failinfo >= row->least && (int64_t)command->failinfo <= row->most) {
        return ALAR_OK;
    }
    snprintf(expected, sizeof(expected), "failinfo=N (%s) from %lld to %lld", row->value,
             (long long)row->least, (long long)row->most);
    snprintf(found, sizeof(found), "%llu", (unsigned long long)command->failinfo);
    return refuse(command, expected, command->has_failinfo ? found : "none", error_line);
}

/* POINT/RANK or POINT/slash-star; *rank is -1 for the latter. */
static enum alar_status name_read(const struct command *command, enum alar_point *point,
                                  int64_t *rank, char *error_line)
{
    char name[COMMAND_BYTES];
    char expected[COMMAND_BYTES + 64];
    uint64_t number = 0;

    snprintf(name, sizeof(name), "%s", command->name);
    char *suffix = strrchr(name, '/');
    bool is_every = suffix != NULL && strcmp(suffix + 1, "*") == 0;
    bool has_rank = is_every || (suffix != NULL &&
                                 alar_number_parse(suffix + 1, 0, INT32_MAX, &number) == ALAR_OK);

    if (has_rank) {
        *suffix = '\0';
    }
    if (!alar_point_find(name, point)) {
        snprintf(expected, sizeof(expected), "a failure point (did you mean '%s/%s'?)",
                 alar_points[*point].name, has_rank ? command->name + (suffix - name) + 1 : "RANK");
        return refuse(command, expected, command->name, error_line);
    }
    if (!has_rank) {
        snprintf(expected, sizeof(expected), "a rank or * behind the point, '%s/RANK'", name);
        return refuse(command, expected, command->name, error_line);
    }
    *rank = is_every ? -1 : (int64_t)number;
    return ALAR_OK;
}

static void command_run(const char *verb, const char *name, const char *rest)
{
    char text[COMMAND_BYTES * 2];
    char *error = NULL;

    snprintf(text, sizeof(text), "%s name=%s%s", verb, name, rest);
    fiu_rc_string(text, &error);
}

static enum alar_status command_take(struct alar_faults *faults, struct command *command,
                                     char *error_line)
{
    enum alar_point point;
    int64_t rank = 0;

    ALAR_TRY(command_split(command, error_line));
    if (is_of_libc(command->name)) {
        return ALAR_OK;
    }
    ALAR_TRY(name_read(command, &point, &rank, error_line));
    ALAR_TRY(value_check(command, &alar_points[point], error_line));
    if (rank >= 0) {
        faults->highest_rank = rank > faults->highest_rank ? rank : faults->highest_rank;
        command_run(command->verb, command->name, command->rest);
        return ALAR_OK;
    }
    if (faults->command_count == ALAR_FAULT_COMMANDS_MAX || strlen(command->rest) >= 64) {
        return refuse(command, "fewer and shorter commands for all ranks", command->name,
                      error_line);
    }
    fiu_disable(command->name);
    struct alar_fault_command *kept = &faults->command[faults->command_count++];
    snprintf(kept->verb, sizeof(kept->verb), "%s", command->verb);
    kept->point = point;
    memcpy(kept->parameters, command->rest, strlen(command->rest) + 1);
    return ALAR_OK;
}

enum alar_status alar_fiu_read(struct alar_faults *faults, const char *text, const char *control,
                               char *error_line)
{
    faults->highest_rank = faults->is_plan ? faults->highest_rank : -1;
    fiu_init(0);
    faults->is_fiu = control != NULL && control[0] != '\0';
    for (const char *at = text != NULL ? text : ""; *at != '\0'; at += strcspn(at, "\n")) {
        struct command command = {0};

        at += strspn(at, " \t\n");
        size_t length = strcspn(at, "\n");
        if (length == 0) {
            continue;
        }
        snprintf(command.text, sizeof(command.text), "%.*s", (int)length, at);
        if (length >= sizeof(command.text)) {
            return refuse(&command, "a shorter command", "one of 256 characters or more",
                          error_line);
        }
        faults->is_fiu = true;
        ALAR_TRY(command_take(faults, &command, error_line));
    }
    return ALAR_OK;
}

void fault_fiu_enable(const struct alar_faults *faults, uint32_t rank)
{
    char name[FAULT_NAME_BYTES];

    for (size_t i = 0; i < faults->command_count; i++) {
        const struct alar_fault_command *command = &faults->command[i];

        snprintf(name, sizeof(name), "%s/%u", alar_points[command->point].name, rank);
        command_run(command->verb, name, command->parameters);
    }
}

bool fault_fiu_fails(const char *name, int64_t *value)
{
    if (!fiu_fail(name)) {
        return false;
    }
    *value = (int64_t)(intptr_t)fiu_failinfo();
    return true;
}
