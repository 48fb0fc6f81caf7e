/* Agreement among ranks, and the asynchronous value beside the synchronous one. */
#include "legal/axes.h"

struct alar_agreement alar_agreement_of(enum alar_dtype dtype, const uint64_t *value, uint32_t n,
                                        uint32_t *class_of)
{
    struct alar_agreement agreement = {0, 0};
    bool has_nan = false;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = 0;
        while (value[first] != value[i]) {
            first++;
        }
        class_of[i] = first;
        if (first != i) {
            continue;
        }
        bool is_nan = alar_fp_is_nan(dtype, value[i]);
        agreement.classes++;
        agreement.classes_by_value += !(is_nan && has_nan);
        has_nan |= is_nan;
    }
    return agreement;
}

enum alar_versus alar_versus_of(enum alar_dtype dtype, uint64_t sync, enum alar_proof sync_proof,
                                uint64_t async, enum alar_proof async_proof)
{
    bool is_sync_bad = sync_proof == ALAR_PROOF_ILLEGAL;
    bool is_async_bad = async_proof == ALAR_PROOF_ILLEGAL;

    if (sync == async) {
        return ALAR_VERSUS_SAME;
    }
    if (alar_fp_is_same(dtype, sync, async)) {
        return ALAR_VERSUS_PAYLOAD;
    }
    if (is_sync_bad || is_async_bad) {
        return is_sync_bad && is_async_bad ? ALAR_VERSUS_BOTH_ILLEGAL
               : is_sync_bad               ? ALAR_VERSUS_SYNC_ILLEGAL
                                           : ALAR_VERSUS_ASYNC_ILLEGAL;
    }
    return sync_proof == ALAR_PROOF_UNDECIDED || async_proof == ALAR_PROOF_UNDECIDED
               ? ALAR_VERSUS_UNDECIDED
               : ALAR_VERSUS_BOTH_LEGAL;
}

const char *alar_versus_name(enum alar_versus versus)
{
    static const char *const names[] = {"same bits",
                                        "same but for the NaN payload",
                                        "other bits, both legal",
                                        "other bits, undecided",
                                        "the synchronous value is illegal",
                                        "the asynchronous value is illegal",
                                        "both values are illegal"};

    return (unsigned)versus < ALAR_VERSUS_COUNT ? names[versus] : "?";
}
