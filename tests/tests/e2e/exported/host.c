/* Puts words out where there is an operating system. */

#include <stdint.h>
#include <stdio.h>

static FILE *out;

void put(uint32_t word);
void finish(void);

void put(uint32_t word)
{
    if (!out)
        out = fopen("out.bin", "wb");
    if (!out || fwrite(&word, sizeof word, 1, out) != 1)
        perror("out.bin");
}

void finish(void)
{
    if (out)
        fclose(out);
}
