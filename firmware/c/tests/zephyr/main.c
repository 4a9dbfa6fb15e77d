/* The code of the page "With MCUboot" on a partition in memory.
 *
 * usage: program FIRST SECOND FOREIGN, binary artifacts over probabilities; the first two are for the classifier "updates!", the second with
 * the greater counter, the third is for another classifier. Prints the bits of the probability at 0.5 by the first and the second. */

#include "../hostile.h"
#include "calib_flash.h"

#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>

/* classifier, calibrator_start and transfer_... */
#define classifier page_classifier
#include PAGE
#undef classifier

static uint8_t partition[0x4000];
static const struct flash_area area = {NUMBER_OF_calib_partition, 0, 0xFC000, sizeof partition};
static unsigned yields;

void k_yield(void)
{
    yields++;
}

int flash_area_open(uint8_t id, const struct flash_area **fa)
{
    TRUE(id == NUMBER_OF_calib_partition);
    *fa = &area;
    return 0;
}

static size_t within(const struct flash_area *fa, off_t off, size_t len)
{
    TRUE(fa == &area && off >= 0 && (size_t)off + len <= sizeof partition);
    return (size_t)off;
}

int flash_area_read(const struct flash_area *fa, off_t off, void *dst, size_t len)
{
    memcpy(dst, partition + within(fa, off, len), len);
    return 0;
}

int flash_area_write(const struct flash_area *fa, off_t off, const void *src, size_t len)
{
    const size_t at = within(fa, off, len);
    size_t i;

    TRUE(at % flash_area_align(fa) == 0 && len % flash_area_align(fa) == 0);
    for (i = 0; i < len; i++) {
        TRUE(partition[at + i] == 0xFF);
        partition[at + i] = ((const uint8_t *)src)[i];
    }
    return 0;
}

int flash_area_erase(const struct flash_area *fa, off_t off, size_t len)
{
    const size_t at = within(fa, off, len);

    TRUE(at % 4096 == 0 && len == 4096);
    memset(partition + at, 0xFF, len);
    return 0;
}

uint32_t flash_area_align(const struct flash_area *fa)
{
    (void)fa;
    return 4;
}

uint8_t flash_area_erased_val(const struct flash_area *fa)
{
    (void)fa;
    return 0xFF;
}

/* Sends a file in packets of 20 bytes, every third of them twice. */
static int32_t transfer(struct file file)
{
    size_t at, next = 0, packets = 0;

    EXPECT(transfer_begin(), CALIB_OK);
    for (at = 0; at < file.len; at = next) {
        const size_t len = file.len - at < 20 ? file.len - at : 20;

        EXPECT(transfer_packet(at, file.bytes + at, len, &next), CALIB_OK);
        if (packets++ % 3 == 0)
            EXPECT(transfer_packet(at, file.bytes + at, len, &next), CALIB_OK);
    }
    return transfer_end();
}

static void answer(void)
{
    calib_result_t result;
    uint32_t bits;

    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_OK);
    memcpy(&bits, &result.prob, sizeof bits);
    printf("%08lx\n", (unsigned long)bits);
}

int main(int argc, char **argv)
{
    struct file first, second, foreign;
    calib_result_t result;

    if (argc != 4)
        return 2;
    first = load(argv[1]);
    second = load(argv[2]);
    foreign = load(argv[3]);
    memset(partition, 0xFF, sizeof partition);
    EXPECT(calibrator_start(NULL), CALIB_ERROR_BLANK);
    EXPECT(transfer(first), CALIB_OK);
    answer();
    /* What another program needs is refused, and this one goes on. */
    EXPECT(transfer(foreign), CALIB_ERROR_CLASSIFIER);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_OK);
    EXPECT(transfer(second), CALIB_OK);
    EXPECT(transfer(first), CALIB_ERROR_DOWNGRADE);
    EXPECT(calibrator_start(NULL), CALIB_OK);
    answer();
    TRUE(yields > 2);
    /* A mass erase takes the counter along. */
    memset(partition, 0xFF, sizeof partition);
    EXPECT(calibrator_start(NULL), CALIB_ERROR_BLANK);
    EXPECT(transfer(first), CALIB_OK);
    free(first.words);
    free(second.words);
    free(foreign.words);
    return 0;
}
