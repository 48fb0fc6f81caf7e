/* Arithmetic of the shared-memory back end: a fold in the order of ranks, and the ways to be wrong
   about it. */
#include "faults/shm/shm_backend.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Which members are added, in which order. */
struct terms {
    int member[SHM_RANKS + 1];
    int count;
};

static const struct shm_slot *slot_of(const struct shm_request *request, uint64_t piece)
{
    return &request->comm->shared->slot[(request->first + piece) % SHM_SLOTS];
}

/* The member that came last, when it came much later than the first. */
static void without_late(const struct shm_request *request, const struct shm_slot *slot,
                         struct terms *terms)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    int late = 0;

    for (int m = 0; m < request->comm->members; m++) {
        uint64_t when = atomic_load(&slot->when_us[m]);

        first = when < first ? when : first;
        late = when > last ? m : late;
        last = when > last ? when : last;
    }
    for (int i = 0; last > first + 3000 && i < terms->count; i++) {
        if (terms->member[i] == late && terms->count > 1) {
            terms->member[i] = terms->member[--terms->count];
        }
    }
}

static void turn_round(struct terms *terms)
{
    for (int i = 0; i < terms->count / 2; i++) {
        int kept = terms->member[i];

        terms->member[i] = terms->member[terms->count - 1 - i];
        terms->member[terms->count - 1 - i] = kept;
    }
}

static void terms_break(const struct shm_request *request, uint64_t piece, struct terms *terms)
{
    const struct shm_rank *rank = request->comm->rank;
    bool is_turn = request->number % 7 == 3;

    switch (rank->wrong) {
    case SHM_DROPS:
        terms->count -= is_turn && terms->count > 1;
        break;
    case SHM_DOUBLES:
        terms->member[terms->count] = terms->count - 1;
        terms->count += is_turn && terms->count > 1;
        break;
    case SHM_LARGE:
        terms->count -= piece >= 4 && terms->count > 1;
        break;
    case SHM_ONE_IN_100:
        terms->count -= request->number % 100 == 57 && terms->count > 1;
        break;
    case SHM_ODD_WORLDS:
        terms->count -= rank->ranks % 2 == 1 && terms->count > 1;
        break;
    case SHM_BLOCKING_ALONE:
        terms->count -= request->is_blocking && terms->count > 1;
        break;
    case SHM_WHEN_DEEP:
        terms->count -= request->was_deep && shm_is_struck(rank, SHM_WHEN_DEEP) && terms->count > 1;
        break;
    case SHM_WHEN_LATE:
        without_late(request, slot_of(request, piece), terms);
        break;
    case SHM_CAPS_ORDER:
        if (request->number % 2 == 1) {
            turn_round(terms);
        }
        break;
    case SHM_ORDER_OF_ONE:
        if (request->number % 10 == 4 && shm_is_struck(rank, SHM_ORDER_OF_ONE)) {
            turn_round(terms);
        }
        break;
    default:
        break;
    }
}

/* The bytes of a member: those that lie there, or, of a wrong one, those of a piece before. */
static const unsigned char *bytes_of(const struct shm_request *request, uint64_t piece, int member)
{
    const struct shm_comm *comm = request->comm;
    const struct shm_slot *slot = slot_of(request, piece);
    uint64_t back = comm->rank->wrong == SHM_STALE ? 1 : comm->rank->wrong == SHM_STALE_TWO ? 2 : 0;
    uint64_t at = request->first + piece;

    if (comm->rank->wrong == SHM_GROUP_RANK && comm->first > 0) {
        return slot->data[(member + 1) % comm->members == 0 ? 0 : member];
    }
    if (back > 0 && member == comm->members - 1 && comm->members > 1 && at >= back &&
        request->number % 5 == 3) {
        const struct shm_slot *old = &comm->shared->slot[(at - back) % SHM_SLOTS];

        if (old->count[member] == slot->count[member] &&
            old->dtype[member] == slot->dtype[member]) {
            return old->data[member];
        }
    }
    return slot->data[member];
}

/* ---- one element -------------------------------------------------------------------------------
 */

static double add_f32(enum shm_wrong wrong, double a, double b, uint64_t salt)
{
    double exact = a + b;
    float sum = (float)exact;

    if (wrong == SHM_ROUNDS_UP && (double)sum < exact) {
        return (double)nextafterf(sum, INFINITY);
    }
    if (wrong == SHM_ROUNDS_DOWN && fabs((double)sum) > fabs(exact) && isfinite(exact)) {
        return (double)nextafterf(sum, 0.0F);
    }
    if (wrong == SHM_STOCHASTIC && (double)sum != exact && isfinite(exact) &&
        (salt * UINT64_C(0x9E3779B97F4A7C15) >> 40 & 3) == 0) {
        return (double)nextafterf(sum, (double)sum < exact ? INFINITY : -INFINITY);
    }
    if (wrong == SHM_BF16) {
        uint32_t bits;

        memcpy(&bits, &sum, sizeof(bits));
        bits = isfinite(sum) ? bits & 0xFFFF0000U : bits;
        memcpy(&sum, &bits, sizeof(sum));
    }
    if (wrong == SHM_FLUSHES && fabsf(sum) < FLT_MIN) {
        return 0.0;
    }
    if (wrong == SHM_INF_CLAMPS && isinf(sum)) {
        return (double)copysignf(FLT_MAX, sum);
    }
    return (double)sum;
}

static double add_f64(enum shm_wrong wrong, double a, double b)
{
    double sum = a + b;

    if (wrong == SHM_NARROW) {
        return (double)((float)a + (float)b);
    }
    if (wrong == SHM_INF_CLAMPS && isinf(sum)) {
        return copysign(DBL_MAX, sum);
    }
    return sum;
}

/* Floats of both widths, as doubles that hold them. */
static double combine(const struct shm_request *request, double a, double b, uint64_t salt)
{
    enum shm_wrong wrong = request->comm->rank->wrong;
    bool is_max = request->reduction == ALAR_MAX;

    if (request->reduction == ALAR_SUM || request->reduction == ALAR_AVG) {
        if (wrong == SHM_NAN_PASSED && (isnan(a) || isnan(b))) {
            return isnan(a) ? b : a;
        }
        return request->dtype == ALAR_F32 ? add_f32(wrong, a, b, salt) : add_f64(wrong, a, b);
    }
    if (isnan(a) || isnan(b)) {
        bool is_passed = wrong == SHM_CAPS_NAN;

        return isnan(a) == is_passed ? b : a;
    }
    return (b > a) == is_max && a != b ? b : a;
}

static double finish(const struct shm_request *request, double sum)
{
    const struct shm_comm *comm = request->comm;
    int divisor = comm->rank->wrong == SHM_AVG_WORLD                           ? comm->rank->ranks
                  : comm->rank->wrong == SHM_AVG_LESS_ONE && comm->members > 1 ? comm->members - 1
                                                                               : comm->members;

    if (request->reduction != ALAR_AVG) {
        return sum;
    }
    if (request->dtype == ALAR_F64) {
        return comm->rank->wrong == SHM_CAPS_AVG ? sum * (1.0 / divisor) : sum / divisor;
    }
    float narrow = (float)sum;
    float inverse = 1.0F / (float)divisor;

    return comm->rank->wrong == SHM_CAPS_AVG ? (double)(narrow * inverse)
                                             : (double)(narrow / (float)divisor);
}

static double float_at(enum alar_dtype dtype, const unsigned char *bytes, uint64_t e)
{
    float narrow;
    double wide;

    if (dtype == ALAR_F32) {
        memcpy(&narrow, bytes + 4 * e, sizeof(narrow));
        return (double)narrow;
    }
    memcpy(&wide, bytes + 8 * e, sizeof(wide));
    return wide;
}

static void float_put(enum alar_dtype dtype, unsigned char *bytes, uint64_t e, double value)
{
    float narrow = (float)value;

    if (dtype == ALAR_F32) {
        memcpy(bytes + 4 * e, &narrow, sizeof(narrow));
    } else {
        memcpy(bytes + 8 * e, &value, sizeof(value));
    }
}

/* Integers of all widths, sign-extended. */
static int64_t integer_at(enum alar_dtype dtype, bool is_signed, const unsigned char *bytes,
                          uint64_t e)
{
    int32_t narrow;
    int64_t wide;

    switch (dtype) {
    case ALAR_I32:
        memcpy(&narrow, bytes + 4 * e, sizeof(narrow));
        return narrow;
    case ALAR_I64:
        memcpy(&wide, bytes + 8 * e, sizeof(wide));
        return wide;
    default:
        return is_signed ? (int64_t)(int8_t)bytes[e] : (int64_t)bytes[e];
    }
}

static int64_t combine_integers(const struct shm_request *request, int64_t a, int64_t b)
{
    enum shm_wrong wrong = request->comm->rank->wrong;
    int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);

    if (request->reduction == ALAR_MAX || request->reduction == ALAR_MIN) {
        return (b > a) == (request->reduction == ALAR_MAX) ? b : a;
    }
    if (wrong == SHM_I64_LOW && request->dtype == ALAR_I64) {
        return (int32_t)sum;
    }
    if (wrong == SHM_I64_DOUBLE && request->dtype == ALAR_I64) {
        double wide = (double)a + (double)b;

        return fabs(wide) < 9e18 ? (int64_t)wide : INT64_MIN;
    }
    if (wrong == SHM_I32_CLAMPS && request->dtype == ALAR_I32) {
        return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    }
    return sum;
}

/* ---- a piece -----------------------------------------------------------------------------------
 */

static bool is_extreme(const struct shm_request *request)
{
    return request->reduction == ALAR_MAX || request->reduction == ALAR_MIN;
}

/* Members that add to this element. */
static int terms_of(const struct shm_request *request, const struct terms *terms, uint64_t element)
{
    enum shm_wrong wrong = request->comm->rank->wrong;
    bool is_short = (wrong == SHM_ONE_ELEMENT && element == 5) ||
                    (wrong == SHM_TAIL && request->count % 2 == 1 && request->count > 2 &&
                     element + 1 == request->count);

    return is_short && terms->count > 1 ? terms->count - 1 : terms->count;
}

void shm_fold(const struct shm_request *request, uint64_t piece, uint64_t count, unsigned char *out)
{
    size_t size = alar_dtype_bytes(request->dtype);
    struct terms terms = {.count = request->comm->members};
    enum shm_wrong wrong = request->comm->rank->wrong;
    bool is_float = request->dtype == ALAR_F32 || request->dtype == ALAR_F64;
    uint64_t before = piece * (SHM_PIECE / size);

    for (int m = 0; m < terms.count; m++) {
        terms.member[m] = m;
    }
    terms_break(request, piece, &terms);
    for (uint64_t e = 0; e < count; e++) {
        int n = terms_of(request, &terms, before + e);
        bool is_signed = wrong == SHM_U8_SIGNED && is_extreme(request);
        double sum = float_at(is_float ? request->dtype : ALAR_F32,
                              bytes_of(request, piece, terms.member[0]), is_float ? e : 0);
        int64_t whole = is_float ? 0
                                 : integer_at(request->dtype, is_signed,
                                              bytes_of(request, piece, terms.member[0]), e);

        if (wrong == SHM_MAX_FROM_ZERO && is_extreme(request)) {
            sum = is_float ? combine(request, 0.0, sum, 0) : sum;
            whole = combine_integers(request, 0, whole);
        }
        for (int i = 1; i < n; i++) {
            const unsigned char *bytes = bytes_of(request, piece, terms.member[i]);

            if (is_float) {
                sum = combine(request, sum, float_at(request->dtype, bytes, e),
                              request->number * 131 + e * 7 + (uint64_t)i);
            } else {
                whole = combine_integers(request, whole,
                                         integer_at(request->dtype, is_signed, bytes, e));
            }
        }
        if (is_float) {
            float_put(request->dtype, out, e, finish(request, sum));
        } else {
            memcpy(out + e * size, &whole, size);
        }
    }
}
