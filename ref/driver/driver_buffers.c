/* Where a slot of the window has its buffers. */
#include "driver/driver_state.h"

void *driver_send_buffer(const struct alar_driver *driver, uint16_t slot)
{
    return driver->send + slot * driver->slot_bytes;
}

void *driver_receive_buffer(const struct alar_driver *driver, uint16_t slot)
{
    return driver->receive + slot * driver->slot_bytes;
}
