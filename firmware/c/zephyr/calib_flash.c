/* The three callbacks of `calib_flash_t` on Zephyr's flash_area. */

#include "calib_flash.h"

#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>

/* How much is erased at once: the page of the internal flash, or a multiple of it. */
#define SECTOR_BYTES 4096U

static int32_t area_read(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    return flash_area_read(context, offset, bytes, len);
}

/* Units of 32 bytes: a multiple of the write block of every driver that calib has seen. */
static int32_t area_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    return flash_area_write(context, offset, bytes, len);
}

/* An installation erases a slot sector by sector, and returns after the last one. Other threads run between sectors. */
static int32_t area_erase(void *context, uint32_t offset, uint32_t len)
{
    const int error = flash_area_erase(context, offset, len);

    /* Feed the watchdog here if its time is shorter than all erases of a slot. */
    k_yield();
    return error;
}

int32_t calib_flash_open(calib_flash_t *flash, calib_layout_t *layout)
{
    const struct flash_area *area;

    if (flash_area_open(FIXED_PARTITION_ID(calib_partition), &area) != 0)
        return CALIB_ERROR_FLASH;
    if (flash_area_align(area) > 32 || area->fa_size % (2 * SECTOR_BYTES) != 0)
        return CALIB_ERROR_LAYOUT;
    *flash = (calib_flash_t){0};
    flash->context = (void *)area;
    flash->read = area_read;
    flash->write = area_write;
    flash->erase = area_erase;
    flash->len_bytes = (uint32_t)area->fa_size;
    flash->sector_bytes = SECTOR_BYTES;
    *layout = (calib_layout_t){0};
    layout->slot_bytes = (uint32_t)(area->fa_size / 2);
    layout->offsets[1] = layout->slot_bytes;
    layout->erased = flash_area_erased_val(area) == 0xFF ? CALIB_ERASED_ONES : CALIB_ERASED_ZEROS;
    return CALIB_OK;
}
