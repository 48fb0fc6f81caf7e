/* The table of failure points; in every build, so that each can list them. */
#include "plan.h"
#include "sys/parse.h"

const struct alar_point_row alar_points[ALAR_POINT_COUNT] = {
#define POINT(token, ...) [ALAR_POINT_##token] = {__VA_ARGS__},
#include "points.def"
#undef POINT
};

bool alar_point_find(const char *name, enum alar_point *point)
{
    const char *names[ALAR_POINT_COUNT + 1] = {NULL};

    for (int i = 0; i < ALAR_POINT_COUNT; i++) {
        names[i] = alar_points[i].name;
    }
    *point = (enum alar_point)alar_nearest(name, names);
    return strcmp(name, names[*point]) == 0;
}
