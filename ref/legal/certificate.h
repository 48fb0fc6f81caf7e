/* A certificate: one line of text that says what was reduced, which value came out, and why that is
   legal, so that somebody else can check it with nothing but this line.

   alar-certificate=1 red=sum avg=0 nan=0 dtype=f32 wide=f32 model=0 height=4 value=41a00000
   leaves=3f800000,40000000,... proof=tree:((0+1)+2) check=0123456789abcdef

   Proofs: tree:E (evaluates to it), order-free:E (the same, and no order could matter), extremum
   (the policy allows it), between:E:E (neither above nor below what two trees give), within:R (not
   farther than R from the exact sum; R is a double in hex, and must not exceed what the bound of
   these leaves allows). E is a tree over all leaves. What lies between or within must be a multiple
   of the leaves' common grain too, and a zero of a legal sign. spec: N-22 */
#ifndef ALAR_CERTIFICATE_H
#define ALAR_CERTIFICATE_H

#include "legal/provenance.h"

/* Bytes that suffice for any certificate over n leaves. */
#define ALAR_CERTIFICATE_BYTES(n) (256 + 48 * (size_t)(n))

/* Writes the certificate of a legal origin, with its end. scratch: as for the judge.
   Errors: ALAR_E_RANGE when size or scratch is too small; ALAR_E_INPUT when the origin is not a
   legal one. */
ALAR_MUST_USE enum alar_status alar_certificate_write(const struct alar_reduce *reduce,
                                                      uint64_t value,
                                                      const struct alar_origin *origin,
                                                      struct alar_scratch scratch, char *text,
                                                      size_t size);

/* Reads and re-checks a certificate by plain evaluation: sums are evaluated straight from the text.
   On success *reduce and *value say what was certified, the leaves living in the scratch: it is for
   the caller to compare them with the history.
   Errors: ALAR_E_INPUT when the text is no certificate, or was changed; ALAR_E_DIFFERS when the
   proof does not hold; ALAR_E_RANGE when the scratch (32 bytes a leaf, and 4 a character) is too
   small. */
ALAR_MUST_USE enum alar_status alar_certificate_check(const char *text, struct alar_scratch scratch,
                                                      struct alar_reduce *reduce, uint64_t *value);

/* FNV-1a over the text before " check=". */
uint64_t alar_certificate_digest(const char *text, size_t length);

#endif
