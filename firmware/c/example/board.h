/* What the firmware needs of a board. */

#ifndef BOARD_H
#define BOARD_H

#include "calib.h"

/* Starts the clocks, the serial line with 115200 baud, and the timer. */
void board_start(void);

/* Sleeps until a byte is received, and takes it. */
uint8_t board_receive(void);

/* Sends bytes. */
void board_send(const uint8_t *bytes, size_t len);

/* The alarm, the timer and the source of random words, if there is one. */
extern const calib_board_t board;

/* The flash with the slots. */
extern const calib_flash_t board_flash;
extern const calib_layout_t board_layout;

/* The most stack used so far, in bytes. */
uint32_t stack_bytes(void *context);

#endif
