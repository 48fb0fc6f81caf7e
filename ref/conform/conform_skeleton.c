/* The skeleton, as it is printed: a back end that passes, made from skeleton.txt when this is
 * built.
 */
#include "conform/conform.h"

#include <stddef.h>

const char *const alar_conform_skeleton[] = {
#include "skeleton.inc"
    NULL,
};
