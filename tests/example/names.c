/* A host whose own helpers are called as some of ours are; linked with the static library. */
#include <alar.h>

#include <stdio.h>

int history_begin(void);
int driver_report(void);

int history_begin(void)
{
    return 20;
}

int driver_report(void)
{
    return 22;
}

int main(void)
{
    struct alar *log = NULL;
    struct alar_config config = {.backend = "./none.so"};
    char why[512];

    if (alar_open(&log, &config, why) == ALAR_OK) {
        return 1;
    }
    printf("own helpers: %d\n", history_begin() + driver_report());
    return 0;
}
