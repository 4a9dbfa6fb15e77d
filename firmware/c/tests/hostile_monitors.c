/* Calls the functions that count as they must not be called, and cuts the power in the journal's callbacks.
 *
 * usage: hostile_monitors PLAIN WIDE MONITORED WATCHED ACTING, binary artifacts over probabilities for the classifier "updates!"; all but the
 * first have monitors, the second of more bins than are counted; the last asks for an action on an alarm. */

#include "hostile.h"

/* What the monitors counted of a table. */
static uint32_t total(calib_monitors_t *monitors, const calib_calibrator_t *calibrator)
{
    calib_counters_t found;
    uint32_t all = 0;
    size_t bin;

    EXPECT(calib_monitors_read(monitors, calibrator, 0, &found), CALIB_OK);
    for (bin = 0; bin < CALIB_COUNTED_BINS; bin++)
        all += found.predictions[bin];
    return all;
}

static void predict(calib_monitors_t *monitors, const calib_calibrator_t *calibrator, unsigned count)
{
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_result_t result;
    unsigned i;

    options.monitors = monitors;
    for (i = 0; i < count; i++)
        EXPECT(calib_apply_score(calibrator, (float)(i % 10) / 10.0F, &options, &result), CALIB_OK);
}

/* Puts the CRC-32C of what is before them into the last four bytes. */
static void seal(uint8_t *bytes, size_t len)
{
    uint32_t crc = UINT32_MAX;
    size_t at;
    unsigned bit;

    for (at = 0; at < len - 4; at++) {
        crc ^= bytes[at];
        for (bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1U) != 0U ? 0x82F63B78U : 0U);
    }
    crc = ~crc;
    for (at = 0; at < 4; at++)
        bytes[len - 4 + at] = (uint8_t)(crc >> (8 * at));
}

static void monitors_of(struct file plain, struct file wide, struct file file, struct file second)
{
    static uint64_t counters[CALIB_COUNTERS_WORDS], many[CALIB_MANY_COUNTERS_WORDS + 2 * CALIB_MONITORS_WORDS];
    static uint8_t saved[CALIB_SAVED_BYTES], again[CALIB_SAVED_BYTES], much[CALIB_MANY_SAVED_BYTES];
    const size_t words = CALIB_COUNTERS_WORDS;
    calib_monitors_t monitors, *misaligned = (calib_monitors_t *)((uintptr_t)&monitors + 1), *inside;
    calib_calibrator_t calibrator, other;
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_counters_t found;
    calib_result_t result, *no_result = (calib_result_t *)((uintptr_t)&result + 2);
    const float vector[4] = {0.25F, 0.25F, 0.25F, 0.25F};
    float probs[4];
    size_t len, at;
    unsigned bit, refused = 0;

    memset(&monitors, 0xA5, sizeof monitors);
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_open(&other, plain.bytes, plain.len, classifier), CALIB_OK);
    options.monitors = &monitors;
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_STATE);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_ERROR_STATE);
    EXPECT(calib_monitors_open(NULL, counters, words), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_open(misaligned, counters, words), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_monitors_open(&monitors, NULL, words), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_open(&monitors, (uint64_t *)((uintptr_t)counters + 4), words), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_monitors_open(&monitors, counters, words - 1), CALIB_ERROR_LENGTH);
    EXPECT(calib_monitors_open(&monitors, counters, 0), CALIB_ERROR_LENGTH);
    EXPECT(calib_monitors_open_many(&monitors, many, words), CALIB_ERROR_LENGTH);
    EXPECT(calib_monitors_open_many(&monitors, many, CALIB_MANY_COUNTERS_WORDS - 1), CALIB_ERROR_LENGTH);
    /* A word of overlap at either end, and none. */
    inside = (calib_monitors_t *)(void *)&many[CALIB_MANY_COUNTERS_WORDS - 1];
    EXPECT(calib_monitors_open_many(inside, many, CALIB_MANY_COUNTERS_WORDS), CALIB_ERROR_OVERLAP);
    inside = (calib_monitors_t *)(void *)many;
    EXPECT(calib_monitors_open_many(inside, many + CALIB_MONITORS_WORDS - 1, CALIB_MANY_COUNTERS_WORDS), CALIB_ERROR_OVERLAP);
    EXPECT(calib_monitors_open_many(inside, many + CALIB_MONITORS_WORDS, CALIB_MANY_COUNTERS_WORDS), CALIB_OK);
    inside = (calib_monitors_t *)(void *)&many[CALIB_MANY_COUNTERS_WORDS];
    EXPECT(calib_monitors_open_many(inside, many, CALIB_MANY_COUNTERS_WORDS), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_ERROR_STATE);

    EXPECT(calib_monitors_open(&monitors, counters, words), CALIB_OK);
    EXPECT(calib_monitors_begin(misaligned, &calibrator), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_monitors_begin(&monitors, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_begin(&monitors, &other), CALIB_ERROR_NOT_MONITORED);
    EXPECT(calib_open(&other, wide.bytes, wide.len, classifier), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &other), CALIB_ERROR_ROOM);
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved, &len), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_apply_score(&other, 0.5F, &options, &result), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_apply_all_probs(&calibrator, vector, 4, &options, probs, 4, &result), CALIB_ERROR_NOT_MONITORED);
    EXPECT(calib_apply_top_k_probs(&calibrator, vector, 4, &options, &result, 1), CALIB_ERROR_NOT_MONITORED);
    options.monitors = misaligned;
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_ALIGNMENT);
    options.monitors = &monitors;
    EXPECT(calib_apply_score(&calibrator, 2.0F, &options, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, no_result), CALIB_ERROR_ALIGNMENT);
    TRUE(total(&monitors, &calibrator) == 0);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
    TRUE(total(&monitors, &calibrator) == 1);

    EXPECT(calib_monitors_tell(&monitors, &calibrator, NULL, NULL, 1), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, no_result, NULL, 1), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 2), CALIB_ERROR_ARGUMENT);
    EXPECT(calib_monitors_tell(&monitors, &other, &result, NULL, 1), CALIB_ERROR_OTHER_CALIBRATOR);
    result.reason = CALIB_EMPTY_BIN;
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_ERROR_BIN);
    result.reason = CALIB_CALIBRATED;
    result.bin += 1000;
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_ERROR_BIN);
    result.bin = (uint16_t)(result.bin - 1000);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 0), CALIB_ERROR_TOLD);
    result.reserved = 1;
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_ERROR_ARGUMENT);
    result.reserved = 0;
    EXPECT(calib_monitors_read(&monitors, &calibrator, 1, &found), CALIB_ERROR_NOT_MONITORED);
    EXPECT(calib_monitors_read(&monitors, &calibrator, UINT16_MAX, &found), CALIB_ERROR_NOT_MONITORED);
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
    TRUE(found.labeled[result.bin] == 1 && found.positives[result.bin] == 1 && found.persistence == CALIB_PERSISTENCE_MEMORY_ONLY);

    EXPECT(calib_monitors_save(&monitors, NULL, sizeof saved, &len), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved - 1, &len), CALIB_ERROR_LENGTH);
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_save(&monitors, (uint8_t *)&monitors, sizeof monitors, &len), CALIB_ERROR_OVERLAP);
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved, &len), CALIB_OK);
    TRUE(len == sizeof saved);
    memcpy(again, saved, len);
    seal(again, len);
    TRUE(memcmp(again, saved, len) == 0);
    predict(&monitors, &calibrator, 20);
    /* Of every length, with every bit wrong, of another calibrator, and of other counters: nothing changes. */
    EXPECT(calib_monitors_restore(&monitors, NULL, len), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_restore(&monitors, saved, 0), CALIB_ERROR_LENGTH);
    for (at = 1; at < len; at++)
        EXPECT(calib_monitors_restore(&monitors, saved, at), CALIB_ERROR_SAVED);
    for (at = 0; at < len; at++)
        for (bit = 0; bit < 8; bit++) {
            saved[at] ^= (uint8_t)(1U << bit);
            refused += calib_monitors_restore(&monitors, saved, len) == CALIB_ERROR_SAVED ? 1U : 0U;
            saved[at] ^= (uint8_t)(1U << bit);
        }
    TRUE(refused == 8 * len);
    TRUE(total(&monitors, &calibrator) == 21);
    EXPECT(calib_monitors_open_many(&monitors, many, CALIB_MANY_COUNTERS_WORDS), CALIB_OK);
    EXPECT(calib_monitors_restore(&monitors, saved, len), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_restore(&monitors, saved, len), CALIB_ERROR_SAVED);
    EXPECT(calib_monitors_save(&monitors, much, sizeof much, &len), CALIB_OK);
    TRUE(len == sizeof much);
    EXPECT(calib_monitors_open(&monitors, counters, words), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_restore(&monitors, much, len), CALIB_ERROR_SAVED);
    /* As long as it likes, but in order otherwise. */
    for (len = 16; len < sizeof saved; len += 4) {
        memcpy(again, saved, len);
        seal(again, len);
        EXPECT(calib_monitors_restore(&monitors, again, len), CALIB_ERROR_SAVED);
    }
    TRUE(total(&monitors, &calibrator) == 0);
    EXPECT(calib_open(&other, second.bytes, second.len, classifier), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &other), CALIB_OK);
    EXPECT(calib_monitors_restore(&monitors, saved, sizeof saved), CALIB_ERROR_SAVED);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_restore(&monitors, saved, sizeof saved), CALIB_OK);
    TRUE(total(&monitors, &calibrator) == 1);
    EXPECT(calib_monitors_save(&monitors, again, sizeof again, &len), CALIB_OK);
    TRUE(memcmp(saved, again, sizeof saved) == 0);
    EXPECT(calib_monitors_reset(&monitors, &other), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_monitors_reset(&monitors, &calibrator), CALIB_OK);
    TRUE(total(&monitors, &calibrator) == 0);
}

/* How many outcomes are known, and how many of them are positive. */
static uint32_t known(calib_monitors_t *monitors, const calib_calibrator_t *calibrator, uint32_t *positives)
{
    calib_counters_t found;
    uint32_t all = 0;
    size_t bin;

    EXPECT(calib_monitors_read(monitors, calibrator, 0, &found), CALIB_OK);
    for (*positives = 0, bin = 0; bin < CALIB_COUNTED_BINS; bin++) {
        all += found.labeled[bin];
        *positives += found.positives[bin];
    }
    return all;
}

/* Outcomes of another calibrator, of no prediction, told twice, contradicted, in any order, and too late. */
static void outcomes(struct file file, struct file second)
{
    enum { MANY = 600 };
    static calib_result_t results[MANY];
    static uint64_t counters[CALIB_COUNTERS_WORDS];
    static uint8_t saved[CALIB_SAVED_BYTES];
    const size_t words = CALIB_COUNTERS_WORDS;
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_calibrator_t calibrator, other;
    calib_monitors_t monitors;
    calib_result_t copy;
    uint32_t positives;
    size_t i, len;

    options.monitors = &monitors;
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_open(&other, second.bytes, second.len, classifier), CALIB_OK);
    EXPECT(calib_monitors_open(&monitors, counters, words), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    for (i = 0; i < MANY; i++) {
        EXPECT(calib_apply_score(&calibrator, (float)(i % 10) / 10.0F, &options, &results[i]), CALIB_OK);
        TRUE(results[i].number == i + 1);
    }
    /* One that nothing counted, and numbers that nobody was given. */
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &copy), CALIB_OK);
    TRUE(copy.number == 0);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, 1), CALIB_ERROR_NO_PREDICTION);
    copy.number = MANY + 1;
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, 1), CALIB_ERROR_NO_PREDICTION);
    copy.number = UINT32_MAX;
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, 1), CALIB_ERROR_NO_PREDICTION);
    TRUE(known(&monitors, &calibrator, &positives) == 0);
    /* Every one twice, from the last to the first within the window, as copies too. */
    for (i = CALIB_TOLD_WINDOW; i-- > 0;) {
        copy = results[i];
        EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[i], NULL, i % 3 == 0), CALIB_OK);
        EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, i % 3 == 0), CALIB_OK);
        EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, i % 3 != 0), CALIB_ERROR_TOLD);
    }
    TRUE(known(&monitors, &calibrator, &positives) == CALIB_TOLD_WINDOW && positives == 86);
    /* The window moves with the outcomes, and not with the predictions. */
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[CALIB_TOLD_WINDOW], NULL, 1), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[0], NULL, 1), CALIB_ERROR_LATE);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[1], NULL, 0), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - 1], NULL, 1), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - CALIB_TOLD_WINDOW - 1], NULL, 1), CALIB_ERROR_LATE);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - CALIB_TOLD_WINDOW], NULL, 1), CALIB_OK);
    TRUE(known(&monitors, &calibrator, &positives) == CALIB_TOLD_WINDOW + 3 && positives == 89);
    /* Over a restart, too. */
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved, &len), CALIB_OK);
    EXPECT(calib_monitors_open(&monitors, counters, words), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_restore(&monitors, saved, len), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - 1], NULL, 1), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[0], NULL, 1), CALIB_ERROR_LATE);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - 2], NULL, 0), CALIB_OK);
    TRUE(known(&monitors, &calibrator, &positives) == CALIB_TOLD_WINDOW + 4 && positives == 89);
    /* After an update, results of the calibrator before are refused, under either name. */
    EXPECT(calib_monitors_begin(&monitors, &other), CALIB_OK);
    predict(&monitors, &other, 5);
    EXPECT(calib_monitors_tell(&monitors, &other, &results[MANY - 3], NULL, 1), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - 3], NULL, 1), CALIB_ERROR_OTHER_CALIBRATOR);
    TRUE(known(&monitors, &other, &positives) == 0);
    /* Back to it, and after a reset, they are of predictions that are not counted. */
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &copy), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &results[MANY - 3], NULL, 1), CALIB_ERROR_LATE);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, 1), CALIB_OK);
    EXPECT(calib_monitors_reset(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, 1), CALIB_ERROR_LATE);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &copy), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &copy, NULL, 0), CALIB_OK);
    TRUE(known(&monitors, &calibrator, &positives) == 1 && positives == 0);
}

/* Counters that hold no more: they are put there as saved ones, one word at a time, as which word is what is the library's own. */
static void full(struct file file)
{
    static uint64_t counters[CALIB_COUNTERS_WORDS];
    static uint8_t before[CALIB_SAVED_BYTES], after[CALIB_SAVED_BYTES], most[CALIB_SAVED_BYTES];
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_calibrator_t calibrator;
    calib_monitors_t monitors;
    calib_counters_t found;
    calib_result_t result, untold;
    size_t len, at;
    unsigned refused = 0, is_full = 0;
    int32_t error;

    options.monitors = &monitors;
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_monitors_open(&monitors, counters, CALIB_COUNTERS_WORDS), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
    EXPECT(calib_monitors_save(&monitors, before, sizeof before, &len), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &untold), CALIB_OK);
    EXPECT(calib_monitors_save(&monitors, after, sizeof after, &len), CALIB_OK);
    for (at = 12; at + 4 < len; at += 4) {
        if (memcmp(before + at, after + at, 4) == 0)
            continue;
        memcpy(most, after, len);
        memset(most + at, 0xFF, 4);
        seal(most, len);
        EXPECT(calib_monitors_restore(&monitors, most, len), CALIB_OK);
        EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
        is_full += found.is_full;
        error = calib_monitors_tell(&monitors, &calibrator, &untold, NULL, 1);
        TRUE(error == CALIB_OK || error == CALIB_ERROR_FULL || error == CALIB_ERROR_NO_PREDICTION || error == CALIB_ERROR_LATE || error == CALIB_ERROR_TOLD);
        refused += error == CALIB_ERROR_FULL ? 1U : 0U;
        /* Predictions go on. */
        EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
    }
    TRUE(refused > 0 && is_full > refused);
}

/* A callback of the journal that calls with the monitors that called it. */
static const calib_calibrator_t *reentered;

static int32_t journal_reenter(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    struct chip *chip = context;
    calib_counters_t found;

    if (chip->state != NULL)
        chip->refused = calib_monitors_read(chip->state, reentered, 0, &found);
    return chip_write(context, offset, bytes, len);
}

static void journals(struct file file)
{
    static struct chip chip;
    static uint64_t counters[CALIB_COUNTERS_WORDS];
    static uint8_t saved[CALIB_SAVED_BYTES];
    static const uint32_t sectors[] = {0, 3, 1536, 100000}, spans[] = {0, SECTOR, SECTOR + 512, 5 * SECTOR, UINT32_MAX};
    const size_t words = CALIB_COUNTERS_WORDS;
    calib_calibrator_t calibrator;
    calib_monitors_t monitors;
    calib_counters_t found;
    calib_journal_t journal;
    size_t i, len;
    uint32_t kept;

    new_chip(&chip);
    memset(&journal, 0, sizeof journal);
    journal.flash = flash_of(&chip);
    journal.offset = SLOT;
    journal.len_bytes = 2 * SECTOR;
    journal.every = 8;
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    for (i = 0; i < sizeof sectors / sizeof *sectors; i++) {
        journal.flash.sector_bytes = sectors[i];
        EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_LAYOUT);
    }
    /* Of whole sectors, which are neither parts of 4096 bytes nor multiples. */
    journal.offset = 0;
    journal.len_bytes = 12288;
    journal.flash.sector_bytes = 6144;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_LAYOUT);
    journal.offset = SLOT;
    journal.len_bytes = 2 * SECTOR;
    journal.flash.sector_bytes = SECTOR;
    for (i = 0; i < sizeof spans / sizeof *spans; i++) {
        journal.len_bytes = spans[i];
        EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_LAYOUT);
    }
    journal.len_bytes = 2 * SECTOR;
    journal.offset = SLOT + 32;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_LAYOUT);
    journal.offset = SLOT + SECTOR;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_LAYOUT);
    journal.offset = SLOT;
    journal.erased = 2;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_ARGUMENT);
    journal.erased = CALIB_ERASED_ONES;
    journal.reserved[1] = 1;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_ARGUMENT);
    journal.reserved[1] = 0;
    journal.every = 0;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_ARGUMENT);
    journal.every = 8;
    journal.flash.read = NULL;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_ERROR_ARGUMENT);
    journal.flash.read = chip_read;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, (const calib_journal_t *)((uintptr_t)&journal + 1)),
           CALIB_ERROR_ALIGNMENT);

    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words - 1, &journal), CALIB_ERROR_LENGTH);
    EXPECT(calib_monitors_open_many_persistent(&monitors, counters, words, &journal), CALIB_ERROR_LENGTH);
    /* What was saved is there after a restart; only what came since is lost. */
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved, &len), CALIB_ERROR_ARGUMENT);
    EXPECT(calib_monitors_restore(&monitors, saved, sizeof saved), CALIB_ERROR_ARGUMENT);
    /* After 1, 3 and 7 of a start, and 8 later again. */
    for (kept = 0; kept < 35; kept += 7) {
        predict(&monitors, &calibrator, 11);
        EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
        TRUE(found.persistence == CALIB_PERSISTENCE_SAVED && found.unsaved == 4);
        memset(counters, 0xA5, sizeof counters);
        EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_OK);
        EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
        TRUE(total(&monitors, &calibrator) == kept + 7);
    }
    /* Nothing was written in front of the journal. */
    for (i = 0; i < SLOT; i++)
        TRUE(chip.bytes[i] == 0xFF);
    /* Flash that fails is said, and counting goes on; what is read is what was saved. */
    chip.writes = chip.erases = 0;
    predict(&monitors, &calibrator, 20);
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
    TRUE(found.persistence == CALIB_PERSISTENCE_FAILED && total(&monitors, &calibrator) == kept);
    chip.writes = chip.erases = 1000000;
    predict(&monitors, &calibrator, 8);
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
    TRUE(found.persistence == CALIB_PERSISTENCE_SAVED && total(&monitors, &calibrator) == kept + 25);
    /* A callback that calls back is refused. */
    journal.flash.write = journal_reenter;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, words, &journal), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    reentered = &calibrator;
    chip.state = &monitors;
    predict(&monitors, &calibrator, 8);
    TRUE(chip.refused == CALIB_ERROR_BUSY);
}

/* Counters of many tables in a journal: what was saved is there after a restart, and not for another calibrator. */
static void many_persistent(struct file file, struct file second)
{
    static struct chip chip;
    static uint64_t counters[CALIB_MANY_COUNTERS_WORDS];
    const size_t words = CALIB_MANY_COUNTERS_WORDS;
    calib_calibrator_t calibrator, other;
    calib_monitors_t monitors;
    calib_journal_t journal;
    uint32_t kept, before;
    int i;

    new_chip(&chip);
    memset(&journal, 0, sizeof journal);
    journal.flash = flash_of(&chip);
    journal.offset = SECTOR;
    journal.len_bytes = 3 * SECTOR;
    journal.every = 5;
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_open(&other, second.bytes, second.len, classifier), CALIB_OK);
    EXPECT(calib_monitors_open_many_persistent(&monitors, counters, words - 1, &journal), CALIB_ERROR_LENGTH);
    EXPECT(calib_monitors_open_many_persistent(&monitors, counters, words, NULL), CALIB_ERROR_NULL);
    for (before = 0, i = 0; i < 8; i++) {
        memset(counters, 0xA5, sizeof counters);
        EXPECT(calib_monitors_open_many_persistent(&monitors, counters, words, &journal), CALIB_OK);
        EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
        kept = total(&monitors, &calibrator);
        /* What was read before was saved: after 1, 3 and 7 of a start. */
        TRUE(kept == before);
        predict(&monitors, &calibrator, 9);
        before = total(&monitors, &calibrator);
        TRUE(before == kept + 7);
    }
    EXPECT(calib_monitors_open_many_persistent(&monitors, counters, words, &journal), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &other), CALIB_OK);
    TRUE(total(&monitors, &other) == 0);
}

/* Sectors that are shorter than the journal's, and longer: of `SECTOR / 8` and of `2 * SECTOR` bytes. */
static uint32_t real_sector;

static int32_t erase_real(void *context, uint32_t offset, uint32_t len)
{
    struct chip *chip = context;

    TRUE(offset % real_sector == 0 && len == real_sector && offset + len <= FLASH);
    memset(chip->bytes + offset, 0xFF, len);
    return 0;
}

static void journal_sectors(struct file file)
{
    static struct chip chip;
    static uint64_t counters[CALIB_COUNTERS_WORDS];
    static const uint32_t real[] = {SECTOR / 8, SECTOR / 2, SECTOR, 2 * SECTOR};
    calib_calibrator_t calibrator;
    calib_monitors_t monitors;
    calib_journal_t journal;
    uint32_t kept;
    size_t i;

    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    for (i = 0; i < sizeof real / sizeof *real; i++) {
        new_chip(&chip);
        real_sector = real[i];
        memset(&journal, 0, sizeof journal);
        journal.flash = flash_of(&chip);
        journal.flash.sector_bytes = real_sector;
        journal.flash.erase = erase_real;
        journal.len_bytes = real_sector > SECTOR ? 2 * real_sector : 2 * SECTOR;
        journal.offset = FLASH - journal.len_bytes;
        journal.every = 1;
        /* Around both sectors, several times. */
        for (kept = 0; kept < 60; kept += 4) {
            EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_OK);
            EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
            TRUE(total(&monitors, &calibrator) == kept);
            predict(&monitors, &calibrator, 4);
        }
    }
}

/* How many more bytes are written or erased before the power fails. */
static size_t power;

static int32_t cut_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    struct chip *chip = context;
    uint32_t i;

    for (i = 0; i < len; i++) {
        if (power == 0)
            return -1;
        power--;
        chip->bytes[offset + i] &= bytes[i];
    }
    return 0;
}

static int32_t cut_erase(void *context, uint32_t offset, uint32_t len)
{
    struct chip *chip = context;
    uint32_t i;

    for (i = 0; i < len; i++) {
        if (power == 0)
            return -1;
        power--;
        chip->bytes[offset + i] = 0xFF;
    }
    return 0;
}

/* Wherever the power fails, what was saved is there after the restart, and no more than was counted. */
static void journal_cuts(struct file file)
{
    static struct chip chip;
    static uint64_t counters[CALIB_COUNTERS_WORDS];
    calib_calibrator_t calibrator;
    calib_monitors_t monitors;
    calib_counters_t found;
    calib_journal_t journal;
    uint32_t before, saved, counted, after, lost = 0;
    size_t cut, saves;

    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    memset(&journal, 0, sizeof journal);
    journal.flash = flash_of(&chip);
    journal.flash.write = cut_write;
    journal.flash.erase = cut_erase;
    journal.offset = SLOT;
    journal.len_bytes = 2 * SECTOR;
    journal.every = 4;
    /* Up to where the next sector is taken, and behind it. */
    for (before = 0; before < 8; before += 3)
        for (cut = 0;; cut += 29) {
            new_chip(&chip);
            power = SIZE_MAX;
            EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_OK);
            EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
            predict(&monitors, &calibrator, 4 * before);
            counted = 4 * before;
            saved = total(&monitors, &calibrator);
            power = cut;
            for (saves = 0; saves < 3; saves++) {
                predict(&monitors, &calibrator, 4);
                counted += 4;
                EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
                if (found.persistence != CALIB_PERSISTENCE_SAVED)
                    break;
                saved = total(&monitors, &calibrator);
            }
            power = SIZE_MAX;
            EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_OK);
            EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
            after = total(&monitors, &calibrator);
            /* Saves are after 1, 3, 7, 11 and so on. */
            TRUE(after >= saved && after <= counted && (after < 2 || after % 4 == 3));
            if (saves == 3)
                break;
            lost++;
        }
    TRUE(lost > 150);
}

/* Numbers go on behind those of earlier starts, whenever the power failed; outcomes of results from before a restart are refused as that, and
 * those of today count once. */
static void journal_numbers(struct file file, struct file second)
{
    static struct chip chip;
    static uint64_t counters[CALIB_COUNTERS_WORDS];
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_calibrator_t calibrator, other;
    calib_monitors_t monitors;
    calib_journal_t journal;
    calib_result_t result, before;
    uint32_t last = 0, positives, told = 0, saved;
    unsigned start, i, refused = 0;

    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_open(&other, second.bytes, second.len, classifier), CALIB_OK);
    memset(&journal, 0, sizeof journal);
    memset(&before, 0, sizeof before);
    new_chip(&chip);
    journal.flash = flash_of(&chip);
    journal.flash.write = cut_write;
    journal.flash.erase = cut_erase;
    journal.offset = SLOT;
    journal.len_bytes = 2 * SECTOR;
    journal.every = 64;
    options.monitors = &monitors;
    for (start = 0; start < 400; start++) {
        memset(counters, 0xA5, sizeof counters);
        power = SIZE_MAX;
        EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_OK);
        EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
        /* Those that were told are there, and the one in whose call the power failed, or not. */
        saved = known(&monitors, &calibrator, &positives);
        TRUE(saved == told || saved + 1 == told);
        told = saved;
        if (before.number != 0) {
            EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 1), CALIB_ERROR_RESTARTED);
            EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 0), CALIB_ERROR_RESTARTED);
            TRUE(known(&monitors, &calibrator, &positives) == told);
            refused++;
        }
        power = 97 * (size_t)start % 12000;
        for (i = 0; i < start % 9 + 1; i++) {
            EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
            if (power == 0 || result.number == 0)
                break;
            TRUE(result.number > last && (i == 0 || result.number == last + 1));
            last = result.number;
            before = result;
        }
        if (power != 0 && i > 0) {
            told++;
            EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 1), CALIB_OK);
            EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 1), CALIB_OK);
            EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 0), CALIB_ERROR_TOLD);
            TRUE(power == 0 || known(&monitors, &calibrator, &positives) == told);
        }
    }
    TRUE(refused > 300 && told > 100);
    /* Also over another calibrator, whose beginning erases what was saved. */
    power = SIZE_MAX;
    EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &other), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &other, &before, NULL, 1), CALIB_ERROR_OTHER_CALIBRATOR);
    EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_OK);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 1), CALIB_ERROR_RESTARTED);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
    TRUE(result.number > last);
    EXPECT(calib_monitors_reset(&monitors, &calibrator), CALIB_OK);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_ERROR_LATE);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &before, NULL, 1), CALIB_ERROR_RESTARTED);
    /* Where a number cannot be reserved there is none. */
    power = 0;
    for (i = 0; i < 2000 && result.number != 0; i++)
        EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_OK);
    TRUE(i > 100 && result.number == 0 && result.reason == CALIB_CALIBRATED);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_ERROR_NO_PREDICTION);
}

static void counting_device(struct file file)
{
    static struct chip chip;
    static calib_device_t device;
    static uint64_t staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS], counters[CALIB_COUNTERS_WORDS];
    static uint8_t reply[CALIB_REPLY_BYTES];
    const float features[2] = {9.0F, 0.0F};
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_device_config_t config;
    calib_calibrator_t calibrator;
    calib_monitors_t monitors;
    calib_result_t result, refused;
    calib_store_t store;
    size_t taken, reply_len;
    const uint8_t zero = 0;

    new_chip(&chip);
    config = config_of(&chip);
    memset(&monitors, 0, sizeof monitors);
    config.monitors = &monitors;
    EXPECT(calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS), CALIB_ERROR_STATE);
    config.monitors = (calib_monitors_t *)((uintptr_t)&monitors + 1);
    EXPECT(calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS), CALIB_ERROR_ALIGNMENT);
    config.monitors = &monitors;
    EXPECT(calib_store_open(&store, &config.flash, &config.layout, classifier, NULL, staged, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_store_install(&store, file.bytes, file.len, NULL), CALIB_OK);
    EXPECT(calib_monitors_open(&monitors, counters, CALIB_COUNTERS_WORDS), CALIB_OK);
    EXPECT(calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_OK);
    options.monitors = &monitors;
    EXPECT(calib_device_classify(&device, features, 2, &options, &refused), CALIB_ERROR_ARGUMENT);
    TRUE(refused.reason == CALIB_NO_RESULT && refused.alarm == CALIB_ALARM_RAISED);
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    TRUE(total(&monitors, &calibrator) == 1);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &result, NULL, 1), CALIB_OK);
    /* Monitors that are opened again begin anew with the calibrator in force. */
    EXPECT(calib_monitors_open(&monitors, counters, CALIB_COUNTERS_WORDS), CALIB_OK);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_OK);
    TRUE(total(&monitors, &calibrator) == 1);
    /* Monitors that are gone are an error, and no prediction passes uncounted. */
    EXPECT(calib_monitors_open(&monitors, counters, 0), CALIB_ERROR_LENGTH);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_ERROR_STATE);
    EXPECT(calib_device_take(&device, &zero, 1, &taken, reply, sizeof reply, &reply_len), CALIB_ERROR_STATE);
}

/* A calibrator that asks for an action on an alarm is refused where nothing could do it, and the one in force stays. */
static void acting_elsewhere(struct file acting, struct file monitored)
{
    static uint64_t buffer[CALIB_BUFFER_WORDS];
    static struct chip chip;
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    calib_calibrator_t calibrator;
    calib_store_t store;
    calib_flash_t flash = flash_of(&chip);

    new_chip(&chip);
    EXPECT(calib_open(&calibrator, acting.bytes, acting.len, classifier), CALIB_ERROR_ROOM);
    EXPECT(calib_open(&calibrator, acting.bytes, acting.len, NULL), CALIB_ERROR_ROOM);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_store_install(&store, acting.bytes, acting.len, NULL), CALIB_ERROR_ROOM);
    EXPECT(calib_store_install(&store, monitored.bytes, monitored.len, NULL), CALIB_OK);
    EXPECT(calib_store_install(&store, acting.bytes, acting.len, NULL), CALIB_ERROR_ROOM);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_OK);
}

int main(int argc, char **argv)
{
    struct file plain, wide, monitored, watched, acting;

    if (argc != 6)
        return 2;
    plain = load(argv[1]);
    wide = load(argv[2]);
    monitored = load(argv[3]);
    watched = load(argv[4]);
    acting = load(argv[5]);
    monitors_of(plain, wide, monitored, watched);
    outcomes(monitored, watched);
    full(monitored);
    journals(monitored);
    many_persistent(monitored, watched);
    journal_sectors(monitored);
    journal_cuts(monitored);
    journal_numbers(monitored, watched);
    counting_device(monitored);
    acting_elsewhere(acting, monitored);
    free(plain.words);
    free(wide.words);
    free(monitored.words);
    free(watched.words);
    free(acting.words);
    printf("%u checks\n", checks);
    return 0;
}
