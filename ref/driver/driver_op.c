/* What the log says of a slot of the window. */
#include "driver/driver_state.h"

#include "base/check.h"

struct alar_embed_op driver_op(const struct alar_driver *driver, uint16_t slot)
{
    struct alar_embed_op op;
    enum alar_status status = alar_embed_op(driver->log, slot, &op);

    POST(status == ALAR_OK);
    return op;
}
