/* Arm's MPS2 board with the FPGA image of application note AN386: UART0 carries frames, LED 0 is the alarm. The emulator has no flash:
 * the end of the code memory is memory that behaves like it. */

#include <string.h>

#include "../board.h"

static volatile uint32_t *const uart = (volatile uint32_t *)0x40004000U;
static volatile uint32_t *const leds = (volatile uint32_t *)0x40028000U;
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010U;
static volatile uint32_t *const nvic_enable = (volatile uint32_t *)0xE000E100U;
static volatile uint32_t *const nvic_disable = (volatile uint32_t *)0xE000E180U;
static volatile uint32_t *const nvic_unpend = (volatile uint32_t *)0xE000E280U;

/* Words of the UART (Arm DDI 0479, 4.3). */
enum { DATA, STATE, CONTROL, INTERRUPT, BAUD_DIVISOR };
enum { TX_FULL = 1, RX_FULL = 2 };
enum { TX_ENABLE = 1, RX_ENABLE = 2, RX_INTERRUPT = 8 };
enum { CLOCK_HZ = 25000000, BAUD = 115200 };

enum { SLOT_BYTES = 32 * 1024, SECTOR_BYTES = 4096 };
extern uint8_t slots_start[];

void board_start(void)
{
    uart[BAUD_DIVISOR] = CLOCK_HZ / BAUD;
    uart[CONTROL] = TX_ENABLE | RX_ENABLE | RX_INTERRUPT;
    /* Counts down through 24 bits with the core's clock. */
    systick[1] = 0x00FFFFFFU;
    systick[2] = 0;
    systick[0] = 5;
}

uint8_t board_receive(void)
{
    /* Interrupts are masked: one that comes between the check and the sleep ends the sleep at once. */
    __asm volatile("cpsid i" ::: "memory");
    nvic_enable[0] = 1;
    for (;;) {
        uart[INTERRUPT] = 2;
        nvic_unpend[0] = 1;
        if ((uart[STATE] & RX_FULL) != 0U)
            break;
        __asm volatile("wfi" ::: "memory");
    }
    nvic_disable[0] = 1;
    __asm volatile("cpsie i" ::: "memory");
    return (uint8_t)uart[DATA];
}

void board_send(const uint8_t *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        while ((uart[STATE] & TX_FULL) != 0U) {
        }
        uart[DATA] = bytes[i];
    }
}

static int32_t set_alarm(void *context, uint8_t raised)
{
    (void)context;
    *leds = raised != 0U ? *leds | 1U : *leds & ~1U;
    return 0;
}

/* Counts up, and around after 24 bits: 0.67 s. */
static uint32_t ticks(void *context)
{
    (void)context;
    return 0x00FFFFFFU - systick[2];
}

/* A stand-in for a generator of random words, for the emulation only: the board has none. */
static int32_t random_word(void *context, uint32_t *word)
{
    static uint32_t state = 1;

    (void)context;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    *word = state;
    return 0;
}

static int32_t flash_read(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    (void)context;
    (void)memcpy(bytes, slots_start + offset, len);
    return 0;
}

static int32_t flash_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    uint32_t i;

    (void)context;
    for (i = 0; i < len; i++)
        if (slots_start[offset + i] != 0U)
            return -1;
    (void)memcpy(slots_start + offset, bytes, len);
    return 0;
}

static int32_t flash_erase(void *context, uint32_t offset, uint32_t len)
{
    (void)context;
    (void)memset(slots_start + offset, 0, len);
    return 0;
}

const calib_board_t board = {NULL, set_alarm, ticks, stack_bytes, random_word};
const calib_flash_t board_flash = {NULL, flash_read, flash_write, flash_erase, 2 * SLOT_BYTES, SECTOR_BYTES};
/* The memory is zero when the emulator starts. */
const calib_layout_t board_layout = {{0, SLOT_BYTES}, SLOT_BYTES, CALIB_ERASED_ZEROS, {0, 0, 0}};
