/* A legal value with its certificate, drawn; and what a forger would do to the text. */
#ifndef TESTS_CERTIFIED_H
#define TESTS_CERTIFIED_H

#include "legal/certificate.h"
#include "tests/lib/draw.h"

enum {
    CERTIFIED_RANKS = 40
};

struct certified {
    struct alar_reduce reduce;
    struct alar_budget budget;
    struct alar_origin origin;
    uint64_t value;
    uint64_t bits[CERTIFIED_RANKS];
    uint64_t room[CERTIFIED_RANKS];
    int32_t nodes[2 * CERTIFIED_RANKS];
    char text[ALAR_CERTIFICATE_BYTES(CERTIFIED_RANKS)];
};

/* The one case of this process. */
extern struct certified certified;

void certified_setup(void);
void certified_teardown(void);

/* Draws a case that is legal; returns its proof after writing the certificate. */
enum alar_proof certified_draw(struct draw *draw, int round);

/* Seals a text again after it was changed, so that only the proof can refuse it. */
void certified_seal(char *text);

#endif
