/* calib's two slots on a partition of Zephyr's flash map. */

#ifndef CALIB_FLASH_H
#define CALIB_FLASH_H

#include "calib.h"

/* Opens the partition `calib_partition` as flash with two slots of half its length. Returns CALIB_OK or an error. */
int32_t calib_flash_open(calib_flash_t *flash, calib_layout_t *layout);

#endif
