/* The micro:bit, with the nRF51822 of its kind that has 32 KB of RAM (nRF51 Series Reference Manual, 3.0): the UART on the pins of the
 * USB interface carries frames, the LED at the top left is the alarm, and the end of the flash holds the slots. */

#include <string.h>

#include "../board.h"

enum { UART = 0x40002000, TIMER = 0x40008000, RNG = 0x4000D000, NVMC = 0x4001E000, GPIO = 0x50000000 };
enum { SLOT_BYTES = 8 * 1024, PAGE_BYTES = 1024 };
enum { POLLS = 10000000 };
enum { FLASH_READ_ONLY = 0, FLASH_WRITE = 1, FLASH_ERASE = 2 };
enum { ALARM_ROW = 1 << 13, ALARM_COLUMN = 1 << 4 };

extern uint32_t slots_start[];

static volatile uint32_t *at(uint32_t block, uint32_t offset)
{
    return (volatile uint32_t *)(block + offset);
}

void board_start(void)
{
    *at(GPIO, 0x50C) = ALARM_COLUMN;
    *at(GPIO, 0x518) = ALARM_ROW | ALARM_COLUMN;
    *at(UART, 0x50C) = 24;
    *at(UART, 0x514) = 25;
    *at(UART, 0x524) = 0x01D7E000;
    *at(UART, 0x500) = 4;
    *at(UART, 0x304) = 1 << 2;
    *at(UART, 0x008) = 1;
    *at(UART, 0x000) = 1;
    /* 32 bits, with 16 MHz. */
    *at(TIMER, 0x504) = 0;
    *at(TIMER, 0x508) = 3;
    *at(TIMER, 0x510) = 0;
    *at(TIMER, 0x000) = 1;
    /* Random bytes, with the bias toward ones or zeros removed. */
    *at(RNG, 0x504) = 1;
    *at(RNG, 0x000) = 1;
}

uint8_t board_receive(void)
{
    /* Interrupts are masked: one that comes between the check and the sleep ends the sleep at once. */
    __asm volatile("cpsid i" ::: "memory");
    *at(0xE000E100U, 0) = 1 << 2;
    for (;;) {
        *at(0xE000E280U, 0) = 1 << 2;
        if (*at(UART, 0x108) != 0U)
            break;
        __asm volatile("wfi" ::: "memory");
    }
    *at(0xE000E180U, 0) = 1 << 2;
    __asm volatile("cpsie i" ::: "memory");
    /* Cleared first: reading moves the next byte up, which raises it again. */
    *at(UART, 0x108) = 0;
    return (uint8_t)*at(UART, 0x518);
}

void board_send(const uint8_t *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        *at(UART, 0x11C) = 0;
        *at(UART, 0x51C) = bytes[i];
        while (*at(UART, 0x11C) == 0U) {
        }
    }
}

static int32_t set_alarm(void *context, uint8_t raised)
{
    (void)context;
    *at(GPIO, raised != 0U ? 0x508 : 0x50C) = ALARM_ROW;
    return 0;
}

static uint32_t ticks(void *context)
{
    (void)context;
    *at(TIMER, 0x040) = 1;
    return *at(TIMER, 0x540);
}

static int32_t random_word(void *context, uint32_t *word)
{
    unsigned i;

    (void)context;
    *word = 0;
    for (i = 0; i < 4U; i++) {
        while (*at(RNG, 0x100) == 0U) {
        }
        *at(RNG, 0x100) = 0;
        *word = *word << 8 | (*at(RNG, 0x508) & 0xFFU);
    }
    return 0;
}

/* Waits until the flash is ready; a flash that never is has failed. */
static int32_t flash_wait(void)
{
    uint32_t polls;

    for (polls = 0; polls < (uint32_t)POLLS; polls++)
        if ((*at(NVMC, 0x400) & 1U) != 0U)
            return 0;
    return -1;
}

static int32_t flash_read(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    (void)context;
    (void)memcpy(bytes, (const uint8_t *)slots_start + offset, len);
    return 0;
}

static int32_t flash_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    volatile uint32_t *to = slots_start + offset / 4;
    int32_t failed = flash_wait();
    uint32_t word, i;

    (void)context;
    *at(NVMC, 0x504) = FLASH_WRITE;
    for (i = 0; i < len && failed == 0; i += 4) {
        (void)memcpy(&word, bytes + i, sizeof word);
        if (*to != 0xFFFFFFFFU)
            failed = -1;
        else {
            *to++ = word;
            failed = flash_wait();
        }
    }
    *at(NVMC, 0x504) = FLASH_READ_ONLY;
    return failed;
}

static int32_t flash_erase(void *context, uint32_t offset, uint32_t len)
{
    int32_t failed = flash_wait();

    (void)context;
    (void)len;
    if (failed == 0) {
        *at(NVMC, 0x504) = FLASH_ERASE;
        *at(NVMC, 0x508) = (uint32_t)slots_start + offset;
        failed = flash_wait();
        *at(NVMC, 0x504) = FLASH_READ_ONLY;
    }
    return failed;
}

const calib_board_t board = {NULL, set_alarm, ticks, stack_bytes, random_word};
const calib_flash_t board_flash = {NULL, flash_read, flash_write, flash_erase, 2 * SLOT_BYTES, PAGE_BYTES};
const calib_layout_t board_layout = {{0, SLOT_BYTES}, SLOT_BYTES, CALIB_ERASED_ONES, {0, 0, 0}};
