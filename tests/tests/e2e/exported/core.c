/* Starts an emulated core, and puts words out through the emulator's semihosting. No library: whatever the exported header
   needs of one is missing when this is linked. */

#include <stdint.h>

#define SYS_OPEN 0x01
#define SYS_CLOSE 0x02
#define SYS_WRITE 0x05
#define SYS_EXIT 0x18
#define APPLICATION_EXIT 0x20026u

int main(void);
void put(uint32_t word);
void finish(void);
void start(void);

extern uint32_t stack_top;

static uintptr_t host(uintptr_t operation, uintptr_t argument)
{
#ifdef __riscv
    register uintptr_t a0 __asm__("a0") = operation;
    register uintptr_t a1 __asm__("a1") = argument;
    __asm__ volatile(".balign 16\n.option push\n.option norvc\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#else
    register uintptr_t r0 __asm__("r0") = operation;
    register uintptr_t r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

static uint32_t buffer[256], filled;
static uintptr_t file;

static void write_out(void)
{
    uintptr_t block[3];
    block[0] = file;
    block[1] = (uintptr_t)buffer;
    block[2] = filled * sizeof *buffer;
    /* What is left of it; the number of words would show. */
    host(SYS_WRITE, (uintptr_t)block);
    filled = 0;
}

void put(uint32_t word)
{
    buffer[filled++] = word;
    if (filled == sizeof buffer / sizeof *buffer)
        write_out();
}

void finish(void)
{
    uintptr_t block[1];
    write_out();
    block[0] = file;
    host(SYS_CLOSE, (uintptr_t)block);
}

static void run(void)
{
    static const char name[] = "out.bin";
    uintptr_t block[3];
    block[0] = (uintptr_t)name;
    /* "wb" */
    block[1] = 5;
    block[2] = sizeof name - 1;
    filled = 0;
    file = host(SYS_OPEN, (uintptr_t)block);
    main();
    host(SYS_EXIT, APPLICATION_EXIT);
    for (;;)
        ;
}

#ifdef __riscv
__attribute__((naked, section(".first"), used)) void start(void)
{
    __asm__ volatile("la sp, stack_top\nj %0" : : "i"(run));
}
#else
void start(void)
{
#ifdef __ARM_FP
    /* CPACR: full access to the FPU. */
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm__ volatile("dsb\nisb" : : : "memory");
#endif
    run();
}

__attribute__((section(".first"), used)) static const struct {
    uint32_t *stack;
    void (*start)(void);
} first = {&stack_top, start};
#endif
