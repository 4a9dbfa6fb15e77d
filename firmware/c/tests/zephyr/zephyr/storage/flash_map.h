/* Stands for Zephyr's header of this name: what firmware/c/zephyr calls of it, with the types of Zephyr 4. */
#ifndef STAND_IN_FLASH_MAP_H
#define STAND_IN_FLASH_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct flash_area {
    uint8_t fa_id;
    uint16_t pad16;
    off_t fa_off;
    size_t fa_size;
};

/* The device tree numbers its partitions. */
#define FIXED_PARTITION_ID(label) NUMBER_OF_##label
#define NUMBER_OF_calib_partition 5

int flash_area_open(uint8_t id, const struct flash_area **fa);
int flash_area_read(const struct flash_area *fa, off_t off, void *dst, size_t len);
int flash_area_write(const struct flash_area *fa, off_t off, const void *src, size_t len);
int flash_area_erase(const struct flash_area *fa, off_t off, size_t len);
uint32_t flash_area_align(const struct flash_area *fa);
uint8_t flash_area_erased_val(const struct flash_area *fa);

#endif
