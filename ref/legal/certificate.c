/* Writes certificates. What is written here is read by certificate_check.c and shares no code with
   it but the digest. */
#include "legal/certificate.h"

#include "base/check.h"
#include "legal/hull.h"

#include <string.h>

/* Text that grows to the right; once full it stays full. */
struct pen {
    char *text;
    size_t size;
    size_t length;
    bool is_full;
};

static void pen_write(struct pen *pen, const char *word)
{
    for (; *word != '\0'; word++) {
        if (pen->length + 1 >= pen->size) {
            pen->is_full = true;
            return;
        }
        pen->text[pen->length++] = *word;
    }
}

static void pen_write_hex(struct pen *pen, uint64_t number, int digits)
{
    char hex[17] = {0};

    for (int i = 0; i < digits; i++) {
        hex[digits - 1 - i] = "0123456789abcdef"[number >> (4 * i) & 15];
    }
    pen_write(pen, hex);
}

static void pen_write_number(struct pen *pen, uint32_t number)
{
    char digits[11] = {0};
    size_t at = sizeof digits - 1;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    pen_write(pen, digits + at);
}

static void pen_write_field(struct pen *pen, const char *name, uint32_t number)
{
    pen_write(pen, name);
    pen_write_number(pen, number);
}

uint64_t alar_certificate_digest(const char *text, size_t length)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++) {
        digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

static void pen_write_claim(struct pen *pen, const struct alar_reduce *reduce, uint64_t value,
                            enum alar_avg avg)
{
    int digits = 2 * (int)alar_dtype_bytes(reduce->adder.dtype);

    pen_write(pen, "alar-certificate=1 red=");
    pen_write(pen, alar_reduction_names[reduce->red]);
    pen_write_field(pen, " avg=", avg);
    pen_write_field(pen, " nan=", reduce->nan);
    pen_write(pen, " dtype=");
    pen_write(pen, alar_dtype_name(reduce->adder.dtype));
    pen_write(pen, " wide=");
    pen_write(pen, alar_dtype_name(reduce->adder.wide));
    pen_write_field(pen, " model=", reduce->adder.model);
    pen_write_field(pen, " height=", reduce->height);
    pen_write(pen, " value=");
    pen_write_hex(pen, value, digits);
    pen_write(pen, " leaves=");
    for (uint32_t i = 0; i < reduce->n; i++) {
        pen_write(pen, i > 0 ? "," : "");
        pen_write_hex(pen, reduce->bits[i], digits);
    }
    pen_write(pen, " proof=");
}

static enum alar_status pen_write_tree(struct pen *pen, const struct alar_tree *tree,
                                       uint64_t *stack)
{
    ALAR_TRY(alar_tree_print(tree, stack, pen->text + pen->length, pen->size - pen->length));
    pen->length += strlen(pen->text + pen->length);
    return ALAR_OK;
}

/* The trees at both ends of the hull bracket the value. */
static enum alar_status pen_write_between(struct pen *pen, const struct alar_reduce *reduce,
                                          enum alar_avg avg, struct alar_tree *tree,
                                          struct alar_scratch scratch)
{
    uint32_t n = reduce->n;
    struct alar_hull hull;
    uint64_t *prepared = alar_scratch_take(&scratch, n, sizeof *prepared);
    uint64_t *stack = alar_scratch_take(&scratch, n, sizeof *stack);
    struct alar_range *range = n <= ALAR_HULL_RANKS_MAX
                                   ? alar_scratch_take(&scratch, UINT64_C(1) << n, sizeof *range)
                                   : NULL;

    if (!prepared || !stack || !range) {
        return ALAR_E_RANGE;
    }
    alar_average_prepare(avg, reduce->adder.dtype, reduce->bits, n, prepared);
    alar_hull_build(&hull, reduce->adder, prepared, n, range);
    pen_write(pen, "between:");
    for (int end = 0; end < 2; end++) {
        pen_write(pen, end > 0 ? ":" : "");
        if (!alar_hull_witness(&hull, end > 0, tree, stack)) {
            return ALAR_E_RANGE;
        }
        ALAR_TRY(pen_write_tree(pen, tree, stack));
    }
    return ALAR_OK;
}

static enum alar_status pen_write_proof(struct pen *pen, const struct alar_reduce *reduce,
                                        const struct alar_origin *origin, enum alar_avg avg,
                                        struct alar_scratch scratch)
{
    uint32_t nodes = 2 * reduce->n - 1;
    struct alar_tree tree = {alar_scratch_take(&scratch, nodes, sizeof *tree.node), 0, nodes};
    uint64_t *stack = alar_scratch_take(&scratch, reduce->n, sizeof *stack);
    bool is_extremum = reduce->red == ALAR_MAX || reduce->red == ALAR_MIN;

    if (!tree.node || !stack) {
        return ALAR_E_RANGE;
    }
    if (is_extremum) {
        pen_write(pen, "extremum");
        return ALAR_OK;
    }
    if (origin->proof == ALAR_PROOF_HULL) {
        return pen_write_between(pen, reduce, avg, &tree, scratch);
    }
    if (origin->proof == ALAR_PROOF_BOUND) {
        pen_write(pen, "within:");
        pen_write_hex(pen, alar_fp_bits(origin->bound.radius), 16);
        return ALAR_OK;
    }
    pen_write(pen, origin->bound.is_order_free ? "order-free:" : "tree:");
    if (origin->witness.count > 0) {
        return pen_write_tree(pen, &origin->witness, stack);
    }
    alar_tree_build(&tree, (struct alar_tree_name){ALAR_TREE_LEFT_FOLD, 0}, reduce->n);
    return pen_write_tree(pen, &tree, stack);
}

enum alar_status alar_certificate_write(const struct alar_reduce *reduce, uint64_t value,
                                        const struct alar_origin *origin,
                                        struct alar_scratch scratch, char *text, size_t size)
{
    struct alar_reduce own = alar_reduce_normalize(reduce);
    struct pen pen = {text, size, 0, size == 0};
    enum alar_avg avg = own.red == ALAR_AVG ? origin->avg : ALAR_AVG_ANY;

    if (!alar_proof_is_legal(origin->proof)) {
        return ALAR_E_INPUT;
    }
    pen_write_claim(&pen, &own, value, avg);
    if (pen.is_full) {
        return ALAR_E_RANGE;
    }
    ALAR_TRY(pen_write_proof(&pen, &own, origin, avg, scratch));
    uint64_t digest = alar_certificate_digest(text, pen.length);
    pen_write(&pen, " check=");
    pen_write_hex(&pen, digest, 16);
    if (pen.is_full) {
        return ALAR_E_RANGE;
    }
    text[pen.length] = '\0';
    return ALAR_OK;
}
