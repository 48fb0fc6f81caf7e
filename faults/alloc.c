/* The failure point of alar's own allocations. The linker (--wrap) sends every malloc, calloc and
   realloc of our objects here, so no source needs a shim of its own, and a build with FAULTS=0 has
   none. Allocations of other libraries are not ours to fail. */
#include "point_state.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>

/* Weak, as they exist only where the program was linked with --wrap. */
void *__real_malloc(size_t bytes) __attribute__((weak));
void *__real_calloc(size_t count, size_t bytes) __attribute__((weak));
void *__real_realloc(void *memory, size_t bytes) __attribute__((weak));

#pragma GCC visibility push(hidden)
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
#pragma GCC visibility pop

/* An allocation knows no rank but that of its process: what the launcher says, or 0. */
static struct {
    const struct alar_faults *faults; /* NULL: nothing is counted */
    struct alar_fault_rank_options where;
    char name[FAULT_NAME_BYTES];
    uint64_t hits;
    struct fault_firing firing[FAULT_QUEUE_MAX];
    size_t firings;
} counted;

static uint32_t launcher_number(const char *mpich, const char *openmpi, uint32_t otherwise)
{
    const char *text = getenv(mpich);
    uint64_t number = 0;

    text = text != NULL ? text : getenv(openmpi);
    return text != NULL && alar_number_parse(text, 0, INT32_MAX, &number) == ALAR_OK
               ? (uint32_t)number
               : otherwise;
}

void alar_fault_alloc_arm(const struct alar_faults *faults)
{
    counted.faults = NULL;
    if (faults == NULL || !(faults->is_plan || faults->is_fiu)) {
        return;
    }
    counted.where = (struct alar_fault_rank_options){
        .rank = launcher_number("PMI_RANK", "OMPI_COMM_WORLD_RANK", 0),
        .ranks = launcher_number("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", 1),
    };
    snprintf(counted.name, sizeof(counted.name), "%s/%u", alar_points[ALAR_POINT_ALLOC_FAIL].name,
             counted.where.rank);
    counted.hits = 0;
    fault_fiu_enable(faults, counted.where.rank);
    counted.faults = faults;
}

/* Does this allocation fail? */
static bool is_refused(void)
{
    int64_t value = 0;

    if (counted.faults == NULL ||
        !fault_matches(counted.faults, counted.name, ALAR_POINT_ALLOC_FAIL, &counted.where,
                       ++counted.hits, &value)) {
        return false;
    }
    if (counted.firings < FAULT_QUEUE_MAX) {
        counted.firing[counted.firings++] = (struct fault_firing){
            .point = ALAR_POINT_ALLOC_FAIL, .hit = counted.hits, .value = value};
    }
    return true;
}

size_t fault_alloc_taken(struct fault_firing *firing, size_t room)
{
    size_t taken = counted.firings < room ? counted.firings : room;

    memcpy(firing, counted.firing, taken * sizeof(*firing));
    counted.firings = 0;
    return taken;
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(memory, bytes);
}
