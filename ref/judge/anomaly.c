/* The anomalies by name, all from anomaly.def. */
#include "judge/anomaly.h"

#include <string.h>

enum anomaly_kind {
    ANOMALY_FAIL,
    ANOMALY_NOTE
};

struct anomaly_row {
    const char *name;
    const char *rule;
    enum anomaly_kind kind;
    enum alar_excuse excuse;
    const char *sentence;
    const char *allowed;
};

static const struct anomaly_row rows[] = {
#define X(token, name, rule, kind, excuse, sentence, allowed) \
    {name, rule, ANOMALY_##kind, ALAR_EXCUSE_##excuse, sentence, allowed},
#include "judge/anomaly.def"
};

static const struct anomaly_row unknown = {"?", "?", ANOMALY_FAIL, ALAR_EXCUSE_NONE, "?", "?"};

static const struct anomaly_row *anomaly_row(enum alar_anomaly anomaly)
{
    return (unsigned)anomaly < ALAR_ANOMALY_COUNT ? &rows[anomaly] : &unknown;
}

const char *alar_anomaly_name(enum alar_anomaly anomaly)
{
    return anomaly_row(anomaly)->name;
}

const char *alar_anomaly_rule(enum alar_anomaly anomaly)
{
    return anomaly_row(anomaly)->rule;
}

const char *alar_anomaly_sentence(enum alar_anomaly anomaly)
{
    return anomaly_row(anomaly)->sentence;
}

const char *alar_anomaly_allowed(enum alar_anomaly anomaly)
{
    return anomaly_row(anomaly)->allowed;
}

bool alar_anomaly_is_note(enum alar_anomaly anomaly)
{
    return anomaly_row(anomaly)->kind == ANOMALY_NOTE;
}

enum alar_excuse alar_anomaly_excuse(enum alar_anomaly anomaly)
{
    return anomaly_row(anomaly)->excuse;
}

enum alar_status alar_anomaly_find(const char *name, enum alar_anomaly *anomaly)
{
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        if (strcmp(rows[a].name, name) == 0) {
            *anomaly = (enum alar_anomaly)a;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

static bool text_holds(struct alar_text text, const char *word)
{
    size_t length = strlen(word);

    for (size_t k = 0; k + length <= text.length; k++) {
        if (memcmp(text.data + k, word, length) == 0) {
            return true;
        }
    }
    return false;
}

enum alar_excuse alar_excuse_of_point(struct alar_text point)
{
    static const struct {
        const char *word;
        enum alar_excuse excuse;
    } families[] = {
        {"rank/", ALAR_EXCUSE_PEER},    {"progress/", ALAR_EXCUSE_PEER},
        {"complete", ALAR_EXCUSE_PEER}, {"contribution/", ALAR_EXCUSE_VALUE},
        {"issue/", ALAR_EXCUSE_ISSUE},  {"post/", ALAR_EXCUSE_ISSUE},
        {"alloc", ALAR_EXCUSE_ISSUE},
    };

    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        if (text_holds(point, families[k].word)) {
            return families[k].excuse;
        }
    }
    return ALAR_EXCUSE_NONE;
}
