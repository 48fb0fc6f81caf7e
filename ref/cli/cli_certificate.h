/* Certificates in files, for `alar check`. */
#ifndef ALAR_CLI_CERTIFICATE_H
#define ALAR_CLI_CERTIFICATE_H

#include "judge/judge.h"

#include <stdio.h>

/* Writes the certificate of a legal value: `GROUP/NUMBER[ELEMENT]`, a tab, and its text. spec: N-22
   Errors: those of alar_certificate_write; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_cli_certify(FILE *file, const struct alar_legal_view *view);

/* Checks each line of a file and prints what it shows. Returns the exit code: 1 when a certificate
   was changed or its proof does not hold. */
int alar_cli_verify(const char *path, bool is_quiet);

#endif
