/* From reset to main: variables, the stack's paint, and the vectors that a Cortex-M needs. */

#include <stddef.h>
#include <stdint.h>

#include "board.h"

extern uint32_t stack_start[], stack_end[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

enum { PAINT = 0x5A5A5A5A };

int main(void);
void reset(void);

static void halt(void)
{
    (void)board.set_alarm(board.context, 1);
    for (;;) {
    }
}

/* An interrupt is enabled only to end a sleep, while it is masked: none has a handler. */
static const struct {
    uint32_t *stack;
    void (*handlers[15 + 32])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    stack_start, {reset, halt, halt, halt, halt, halt, NULL, NULL, NULL, NULL, halt, halt, NULL, halt, halt},
};

void reset(void)
{
    volatile uint32_t *word;
    uint32_t *here;
    uint32_t *to;
    const uint32_t *from = data_load;

#ifdef __ARM_FP
    /* Lets the core use its floating-point unit. */
    *(volatile uint32_t *)0xE000ED88U |= 0xFU << 20;
    __asm volatile("dsb\n isb" ::: "memory");
#endif
    for (to = data_start; to != data_end; to++)
        *to = *from++;
    for (to = bss_start; to != bss_end; to++)
        *to = 0;
    /* But for what this function itself uses. */
    __asm volatile("mov %0, sp" : "=r"(here));
    for (word = stack_end; word < here - 16; word++)
        *word = PAINT;
    (void)main();
    halt();
}

uint32_t stack_bytes(void *context)
{
    const volatile uint32_t *deepest = stack_end;

    (void)context;
    while (deepest < stack_start && *deepest == PAINT)
        deepest++;
    return (uint32_t)((uintptr_t)stack_start - (uintptr_t)deepest);
}
