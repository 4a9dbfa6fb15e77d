/* Stands for Zephyr's header of this name: what firmware/c/zephyr calls of it. */
#ifndef STAND_IN_KERNEL_H
#define STAND_IN_KERNEL_H

void k_yield(void);

#endif
