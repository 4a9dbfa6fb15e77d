/* Calls the library as it must not be called: every call ends with an error code, and the process lives.
 *
 * usage: hostile ARTIFACT OTHER LARGE, binary artifacts over probabilities for the classifier "updates!", the second with the greater
 * counter, the third longer than a buffer, and not longer than a slot. */

#include "hostile.h"

/* A callback that calls back. */
static int32_t chip_reenter(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    struct chip *chip = context;

    if (chip->state != NULL)
        chip->refused = calib_store_install(chip->state, chip->bytes, 32, NULL);
    return chip_read(context, offset, bytes, len);
}

static const uint8_t stranger[8] = {'s', 't', 'r', 'a', 'n', 'g', 'e', 'r'};

static void texts(void)
{
    int32_t error;
    unsigned known = 0;

    for (error = -100; error <= 100; error++) {
        TRUE(calib_error_text(error) != NULL && strlen(calib_error_text(error)) > 5);
        known += strcmp(calib_error_text(error), "unknown error") != 0 ? 1U : 0U;
    }
    TRUE(known == 43);
    TRUE(strcmp(calib_error_text(INT32_MIN), "unknown error") == 0);
    TRUE(strcmp(calib_error_text(INT32_MAX), "unknown error") == 0);
}

/* A function that opens an artifact in a state. */
typedef int32_t (*open_t)(void *state, const uint8_t *bytes, size_t len, const uint8_t *id);

static int32_t open_any(void *state, const uint8_t *bytes, size_t len, const uint8_t *id)
{
    return calib_open(state, bytes, len, id);
}

static int32_t open_table(void *state, const uint8_t *bytes, size_t len, const uint8_t *id)
{
    return calib_table_open(state, bytes, len, id);
}

/* Whatever is no whole artifact of this classifier is refused. */
static void refused(struct file file, open_t open, void *state)
{
    uint8_t *copy;
    size_t len, at;
    unsigned bit, wrong = 0;

    EXPECT(open(NULL, file.bytes, file.len, classifier), CALIB_ERROR_NULL);
    EXPECT(open((uint8_t *)state + 1, file.bytes, file.len, classifier), CALIB_ERROR_ALIGNMENT);
    EXPECT(open(state, NULL, file.len, classifier), CALIB_ERROR_NULL);
    EXPECT(open(state, file.bytes, 0, classifier), CALIB_ERROR_BLANK);
    EXPECT(open(state, file.bytes, SIZE_MAX, classifier), CALIB_ERROR_LENGTH);
    EXPECT(open(state, file.bytes, SIZE_MAX / 2 + 1, classifier), CALIB_ERROR_LENGTH);
    EXPECT(open(state, file.bytes, file.len, stranger), CALIB_ERROR_CLASSIFIER);
    EXPECT(open(state, state, 64, classifier), CALIB_ERROR_OVERLAP);
    /* Of every length, in memory of exactly that length; and of every bit wrong. */
    for (len = 0; len < file.len; len++) {
        copy = malloc(len == 0 ? 1 : len);
        TRUE(copy != NULL);
        memcpy(copy, file.bytes, len);
        TRUE(open(state, copy, len, classifier) < 0);
        free(copy);
    }
    copy = malloc(file.len + 4);
    TRUE(copy != NULL);
    memcpy(copy + 1, file.bytes, file.len);
    EXPECT(open(state, copy + 1, file.len, classifier), CALIB_ERROR_ALIGNMENT);
    memcpy(copy, file.bytes, file.len);
    for (at = 0; at < file.len; at++)
        for (bit = 0; bit < 8; bit++) {
            copy[at] ^= (uint8_t)(1U << bit);
            wrong += open(state, copy, file.len, classifier) < 0 ? 1U : 0U;
            copy[at] ^= (uint8_t)(1U << bit);
        }
    TRUE(wrong == 8 * file.len);
    memset(copy + file.len, 7, 4);
    EXPECT(open(state, copy, file.len + 4, classifier), CALIB_ERROR_ARTIFACT);
    memset(copy, 0xFF, file.len);
    EXPECT(open(state, copy, file.len, classifier), CALIB_ERROR_BLANK);
    memset(copy, 0, file.len);
    EXPECT(open(state, copy, file.len, NULL), CALIB_ERROR_BLANK);
    free(copy);
}

static void opening(struct file file)
{
    calib_calibrator_t calibrator;
    const float not_a_number = strtof("nan", NULL);
    calib_result_t result, *no_result = (calib_result_t *)((uintptr_t)&result + 2);
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_info_t info;
    calib_band_t band = {2.0F, 3.0F, 0.0F};
    uint16_t space[4] = {0, 0, 0, 0};
    float vector[4] = {0.25F, 0.25F, 0.25F, 0.25F};
    int8_t codes[4] = {1, 2, 3, 4};

    memset(&calibrator, 0, sizeof calibrator);
    EXPECT(calib_info(&calibrator, &info), CALIB_ERROR_STATE);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    memset(&calibrator, 0xA5, sizeof calibrator);
    EXPECT(calib_info(&calibrator, &info), CALIB_ERROR_STATE);

    refused(file, open_any, &calibrator);
    EXPECT(calib_info(&calibrator, &info), CALIB_ERROR_STATE);

    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_info(&calibrator, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_info(NULL, &info), CALIB_ERROR_NULL);
    EXPECT(calib_info(&calibrator, &info), CALIB_OK);
    TRUE(info.classes == 2 && info.encoding == CALIB_ENCODING_F32 && info.len_bytes == file.len);

    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, no_result), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_score(&calibrator, not_a_number, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_score(&calibrator, -0.1F, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_score(&calibrator, 1.1F, NULL, &result), CALIB_ERROR_SCORE);
    options.has_word = 2;
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_ARGUMENT);
    options.has_word = 0;
    options.reserved = 1;
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_ARGUMENT);
    options.reserved = 0;
    EXPECT(calib_apply_score(&calibrator, 0.5F, (calib_options_t *)((uintptr_t)&options + 1), &result),
           CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_margin(&calibrator, 0.5F, NULL, &result), CALIB_ERROR_ENCODING);
    EXPECT(calib_apply_code(&calibrator, 5, NULL, &result), CALIB_ERROR_ENCODING);
    EXPECT(calib_band_score(&calibrator, 0.5F, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_band_score(NULL, 0.5F, &band), CALIB_ERROR_NULL);
    EXPECT(calib_band_score(&calibrator, 0.5F, (calib_band_t *)((uintptr_t)&band + 1)), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_band_score(&calibrator, not_a_number, &band), CALIB_ERROR_SCORE);
    EXPECT(calib_band_score(&calibrator, 0.5F, &band), CALIB_ERROR_KIND);
    EXPECT(calib_band_margin(&calibrator, 0.5F, &band), CALIB_ERROR_KIND);
    EXPECT(calib_band_code(&calibrator, 5, &band), CALIB_ERROR_ENCODING);
    TRUE(band.low == 2.0F && band.high == 3.0F);
    EXPECT(calib_apply_probs(&calibrator, vector, 4, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_probs(&calibrator, NULL, 4, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_probs(&calibrator, vector, 0, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_probs(&calibrator, vector, SIZE_MAX / 4, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(calib_apply_logits(&calibrator, (float *)((uintptr_t)vector + 1), 3, NULL, &result),
           CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_i8(&calibrator, codes, 4, space, NULL, &result), CALIB_ERROR_ENCODING);
    EXPECT(calib_apply_keys(&calibrator, NULL, 4, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_all_probs(&calibrator, vector, 4, NULL, vector, 4, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_top_k_probs(&calibrator, vector, 4, NULL, &result, 1), CALIB_ERROR_KIND);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_OK);
    TRUE(result.reason == CALIB_CALIBRATED && result.prob >= 0.0F && result.prob <= 1.0F);
    TRUE(result.alarm == CALIB_ALARM_NO_RULE && result.action == CALIB_NO_ACTION);
}

/* A call that failed left no result, and an alarm. */
static void no_result(const calib_result_t *result)
{
    TRUE(result->reason == CALIB_NO_RESULT && !(result->prob >= 0.0F) && !(result->epsilon >= 0.0F));
    TRUE(result->alarm == CALIB_ALARM_RAISED && result->action == CALIB_NO_ACTION && result->number == 0);
}

/* The same of an artifact with one table. */
static void tables(struct file file)
{
    calib_table_t table;
    calib_calibrator_t calibrator;
    calib_result_t result, whole;
    calib_info_t info, of_whole;
    calib_band_t band = {2.0F, 3.0F, 0.0F};
    uint8_t *copy = malloc(file.len);

    TRUE(copy != NULL);
    memcpy(copy, file.bytes, file.len);
    memset(&table, 0xA5, sizeof table);
    EXPECT(calib_table_info(&table, &info), CALIB_ERROR_STATE);
    EXPECT(calib_table_score(&table, 0.5F, &result), CALIB_ERROR_STATE);
    no_result(&result);
    refused(file, open_table, &table);
    EXPECT(calib_table_info(&table, &info), CALIB_ERROR_STATE);

    EXPECT(calib_table_open(&table, copy, file.len, classifier), CALIB_OK);
    EXPECT(calib_open(&calibrator, copy, file.len, classifier), CALIB_OK);
    EXPECT(calib_table_info(NULL, &info), CALIB_ERROR_NULL);
    EXPECT(calib_table_info(&table, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_table_info(&table, &info), CALIB_OK);
    EXPECT(calib_info(&calibrator, &of_whole), CALIB_OK);
    TRUE(memcmp(&info, &of_whole, offsetof(calib_info_t, reserved)) == 0);
    EXPECT(calib_table_score(&table, 0.5F, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_table_score(&table, 0.5F, (calib_result_t *)((uintptr_t)&result + 2)), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_table_score(&table, 0.5F, (calib_result_t *)&table), CALIB_ERROR_OVERLAP);
    EXPECT(calib_table_score(&table, 0.5F, (calib_result_t *)copy), CALIB_ERROR_OVERLAP);
    EXPECT(calib_table_band_score(&table, 0.5F, (calib_band_t *)copy), CALIB_ERROR_OVERLAP);
    TRUE(memcmp(copy, file.bytes, file.len) == 0);
    EXPECT(calib_table_score(&table, 0.5F, &result), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &whole), CALIB_OK);
    TRUE(memcmp(&result, &whole, sizeof result) == 0);
    EXPECT(calib_table_score(&table, strtof("nan", NULL), &result), CALIB_ERROR_SCORE);
    no_result(&result);
    result = whole;
    EXPECT(calib_table_margin(&table, 0.5F, &result), CALIB_ERROR_ENCODING);
    no_result(&result);
    result = whole;
    EXPECT(calib_table_code(&table, 5, &result), CALIB_ERROR_ENCODING);
    no_result(&result);
    result = whole;
    EXPECT(calib_table_score(NULL, 0.5F, &result), CALIB_ERROR_NULL);
    no_result(&result);
    EXPECT(calib_table_band_score(&table, 0.5F, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_table_band_score(&table, 1.5F, &band), CALIB_ERROR_SCORE);
    EXPECT(calib_table_band_score(&table, 0.5F, &band), CALIB_ERROR_KIND);
    EXPECT(calib_table_band_margin(&table, 0.5F, &band), CALIB_ERROR_KIND);
    EXPECT(calib_table_band_code(&table, 5, &band), CALIB_ERROR_ENCODING);
    TRUE(band.low == 2.0F && band.high == 3.0F);
    free(copy);
}

/* What a program sees that does not look at error codes. */
static void unchecked(struct file file)
{
    calib_calibrator_t calibrator;
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_result_t result, before;
    float vector[4] = {0.25F, 0.25F, 0.25F, 0.25F};
    calib_info_t info;

    memset(&result, 0, sizeof result);
    TRUE(result.reason == CALIB_NO_RESULT && result.reason != CALIB_CALIBRATED && result.alarm == CALIB_ALARM_RAISED);
    TRUE(result.alarm != CALIB_ALARM_CLEAR);
    memset(&calibrator, 0, sizeof calibrator);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    no_result(&result);
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    EXPECT(calib_info(&calibrator, &info), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_OK);
    TRUE(memcmp(result.identity, info.identity, sizeof info.identity) == 0 && result.number == 0);
    TRUE(result.epsilon > 0.0F && info.epsilon > 0.0F && info.alpha > 0.0F);
    before = result;
    EXPECT(calib_apply_score(&calibrator, 2.0F, NULL, &result), CALIB_ERROR_SCORE);
    no_result(&result);
    result = before;
    options.reserved = 1;
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_ARGUMENT);
    no_result(&result);
    result = before;
    EXPECT(calib_apply_score(NULL, 0.5F, NULL, &result), CALIB_ERROR_NULL);
    no_result(&result);
    result = before;
    EXPECT(calib_apply_probs(&calibrator, NULL, 4, NULL, &result), CALIB_ERROR_NULL);
    no_result(&result);
    result = before;
    EXPECT(calib_apply_all_probs(&calibrator, vector, 4, NULL, vector, 4, &result), CALIB_ERROR_KIND);
    no_result(&result);
    result = before;
    EXPECT(calib_apply_top_k_probs(&calibrator, vector, 4, NULL, &result, 1), CALIB_ERROR_KIND);
    no_result(&result);
}

static void versions(void)
{
    const size_t sizes[6] = {sizeof(calib_calibrator_t), sizeof(calib_store_t), sizeof(calib_device_t), sizeof(calib_monitors_t),
                             sizeof(calib_result_t), sizeof(calib_table_t)};
    size_t other[6], i;

    EXPECT(CALIB_CHECK(), CALIB_OK);
    TRUE(calib_version() == CALIB_VERSION);
    TRUE(CALIB_VERSION == ((CALIB_VERSION_MAJOR << 16) | (CALIB_VERSION_MINOR << 8) | CALIB_VERSION_PATCH));
    EXPECT(calib_check(CALIB_VERSION + 1, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]), CALIB_ERROR_VERSION);
    for (i = 0; i < 6; i++) {
        memcpy(other, sizes, sizeof other);
        other[i] -= 8;
        EXPECT(calib_check(CALIB_VERSION, other[0], other[1], other[2], other[3], other[4], other[5]), CALIB_ERROR_VERSION);
    }
}

static void layouts(struct chip *chip, uint64_t *buffer)
{
    static const calib_layout_t bad[] = {
        {{0, 0}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, SECTOR}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, 2 * SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, SLOT + 32}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, SLOT + SECTOR / 4}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, SLOT}, SLOT - SECTOR / 4, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, SLOT}, 0, CALIB_ERASED_ONES, {0, 0, 0}},
        {{0, UINT32_MAX - SECTOR + 1}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}},
    };
    static const uint32_t sectors[] = {0, 3, 1536, 100000};
    const calib_layout_t good = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    calib_layout_t layout = good;
    calib_flash_t flash = flash_of(chip);
    calib_store_t store;
    size_t i;

    memset(&store, 0, sizeof store);
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT(calib_store_open(&store, &flash, &bad[i], classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_LAYOUT);
    for (i = 0; i < sizeof sectors / sizeof *sectors; i++) {
        flash.sector_bytes = sectors[i];
        EXPECT(calib_store_open(&store, &flash, &good, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_LAYOUT);
    }
    /* Slots are of whole sectors, and a sector is neither a part of 1024 bytes nor a multiple. */
    layout.offsets[1] = layout.slot_bytes = 3072;
    flash.sector_bytes = 768;
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_LAYOUT);
    flash.sector_bytes = 1024;
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    memset(&store, 0, sizeof store);
    layout = good;
    flash.sector_bytes = SECTOR;
    layout.erased = 2;
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_ARGUMENT);
    flash.erase = NULL;
    EXPECT(calib_store_open(&store, &flash, &good, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_ARGUMENT);
    EXPECT(calib_store_load(&store, NULL), CALIB_ERROR_STATE);
}

static void slots(struct file first, struct file second, struct file large)
{
    static struct chip chip;
    static uint64_t buffer[CALIB_BUFFER_WORDS], small[4];
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    static const uint8_t key[CALIB_KEY_BYTES];
    calib_flash_t flash = flash_of(&chip);
    calib_calibrator_t calibrator;
    calib_receipt_t receipt;
    calib_slots_t found;
    calib_result_t result;
    calib_store_t store;
    unsigned calls, failed = 0, in_a_row = 0, uncommitted = 0;
    int32_t error;

    new_chip(&chip);
    layouts(&chip, buffer);
    EXPECT(calib_store_open(NULL, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_NULL);
    EXPECT(calib_store_open(&store, NULL, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_NULL);
    EXPECT(calib_store_open(&store, &flash, NULL, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_NULL);
    EXPECT(calib_store_open(&store, &flash, &layout, NULL, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_NULL);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, NULL, CALIB_BUFFER_WORDS), CALIB_ERROR_NULL);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, small, 4), CALIB_ERROR_LENGTH);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS - 1), CALIB_ERROR_LENGTH);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, key, buffer, CALIB_BUFFER_WORDS), CALIB_ERROR_KEY);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_ERROR_BLANK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    EXPECT(calib_store_survey(&store, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_store_survey(&store, &found), CALIB_OK);
    TRUE(found.active == CALIB_NO_SLOT && found.slots[0].status == CALIB_ERROR_BLANK);

    EXPECT(calib_store_install(&store, NULL, 8, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_store_install(&store, first.bytes, 7, &receipt), CALIB_ERROR_ARTIFACT);
    EXPECT(calib_store_install(&store, first.bytes, first.len - 1, &receipt), CALIB_ERROR_ARTIFACT);
    EXPECT(calib_store_install(&store, first.bytes + 1, first.len - 1, &receipt), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_store_install(&store, first.bytes, first.len, (calib_receipt_t *)((uintptr_t)&receipt + 1)),
           CALIB_ERROR_ALIGNMENT);
    /* It fits a slot, but not the buffer. */
    TRUE(large.len > CALIB_BUFFER_BYTES && large.len + 288 <= SLOT);
    EXPECT(calib_store_install(&store, large.bytes, large.len, &receipt), CALIB_ERROR_TOO_LARGE);
    /* Nothing of all that was written. */
    EXPECT(calib_store_survey(&store, &found), CALIB_OK);
    TRUE(found.slots[0].status == CALIB_ERROR_BLANK && found.slots[1].status == CALIB_ERROR_BLANK);
    /* Whichever call of a callback is the first to fail, the slots keep what was acknowledged. */
    for (calls = 0;; calls++) {
        new_chip(&chip);
        EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
        EXPECT(calib_store_install(&store, first.bytes, first.len, &receipt), CALIB_OK);
        if (calls % 3 == 0)
            chip.reads = calls / 3;
        else if (calls % 3 == 1)
            chip.writes = calls / 3;
        else
            chip.erases = calls / 3;
        error = calib_store_install(&store, second.bytes, second.len, &receipt);
        chip.reads = 1000000;
        EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
        EXPECT(calib_store_load(&store, &calibrator), CALIB_OK);
        TRUE(error == CALIB_OK || error == CALIB_ERROR_FLASH || error == CALIB_ERROR_RELOAD || error == CALIB_ERROR_WORN);
        failed += error == CALIB_OK ? 0U : 1U;
        EXPECT(calib_store_survey(&store, &found), CALIB_OK);
        uncommitted += found.slots[1].status == CALIB_ERROR_UNCOMMITTED ? 1U : 0U;
        if (error == CALIB_OK)
            TRUE(memcmp(found.slots[found.active].identity, receipt.identity, 8) == 0);
        in_a_row = error == CALIB_OK ? in_a_row + 1 : 0;
        if (in_a_row == 3)
            break;
    }
    TRUE(failed > 50 && uncommitted > 5);
    chip.writes = chip.erases = 1000000;

    EXPECT(calib_store_install(&store, second.bytes, second.len, &receipt), CALIB_OK);
    EXPECT(calib_store_install(&store, first.bytes, first.len, &receipt), CALIB_ERROR_DOWNGRADE);
    /* A callback that calls back is refused, and the installation goes on. */
    new_chip(&chip);
    flash.read = chip_reenter;
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    chip.state = &store;
    EXPECT(calib_store_install(&store, first.bytes, first.len, &receipt), CALIB_OK);
    TRUE(chip.refused == CALIB_ERROR_BUSY);
    chip.state = NULL;
    EXPECT(calib_store_load(&store, &calibrator), CALIB_OK);
    EXPECT(calib_apply_score(&calibrator, 0.5F, NULL, &result), CALIB_OK);
}

/* An artifact over packets of every length, of which some come again, out of order or altered. */
static void pieces(struct file file)
{
    static struct chip chip;
    static uint64_t buffer[CALIB_BUFFER_WORDS], words[CALIB_BUFFER_BYTES / 8];
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    calib_flash_t flash = flash_of(&chip);
    calib_pieces_t parts;
    calib_store_t store;
    calib_receipt_t receipt;
    calib_slots_t found;
    uint8_t piece[256];
    size_t length, at, received, len;

    new_chip(&chip);
    memset(&parts, 0xA5, sizeof parts);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_pieces_add(&parts, 0, file.bytes, 8, &received), CALIB_ERROR_STATE);
    EXPECT(calib_store_install_pieces(&store, &parts, &receipt), CALIB_ERROR_STATE);
    EXPECT(calib_pieces_open(NULL, words, 2), CALIB_ERROR_NULL);
    EXPECT(calib_pieces_open(&parts, NULL, 2), CALIB_ERROR_NULL);
    EXPECT(calib_pieces_open(&parts, words, SIZE_MAX / 4), CALIB_ERROR_LENGTH);
    EXPECT(calib_pieces_open(&parts, (uint64_t *)&parts, 2), CALIB_ERROR_OVERLAP);
    EXPECT(calib_pieces_open(&parts, words, 2), CALIB_OK);
    EXPECT(calib_pieces_add(&parts, 0, file.bytes, 17, &received), CALIB_ERROR_TOO_LARGE);
    EXPECT(calib_pieces_add(&parts, SIZE_MAX, file.bytes, 4, &received), CALIB_ERROR_GAP);
    EXPECT(calib_pieces_add(&parts, 0, (const uint8_t *)words, 4, &received), CALIB_ERROR_OVERLAP);
    EXPECT(calib_pieces_add(&parts, 0, file.bytes, 4, (size_t *)words), CALIB_ERROR_OVERLAP);
    EXPECT(calib_pieces_add(&parts, 0, NULL, 4, &received), CALIB_ERROR_NULL);
    EXPECT(calib_pieces_add(&parts, 0, file.bytes, 16, &received), CALIB_OK);
    TRUE(received == 16);
    EXPECT(calib_pieces_add(&parts, 16, file.bytes, 1, &received), CALIB_ERROR_TOO_LARGE);

    for (length = 1; length <= sizeof piece; length = length * 3 / 2 + 1) {
        EXPECT(calib_pieces_open(&parts, words, CALIB_BUFFER_BYTES / 8), CALIB_OK);
        for (at = 0; at < file.len; at = received) {
            len = file.len - at < length ? file.len - at : length;
            memcpy(piece, file.bytes + at, len);
            EXPECT(calib_pieces_add(&parts, at + 1, piece, len, &received), CALIB_ERROR_GAP);
            TRUE(received == at);
            EXPECT(calib_pieces_add(&parts, at, piece, len, NULL), CALIB_OK);
            /* The acknowledgment was lost: the piece comes again, and in part. */
            EXPECT(calib_pieces_add(&parts, at, piece, len, &received), CALIB_OK);
            TRUE(received == at + len);
            EXPECT(calib_pieces_add(&parts, at, piece, len / 2, &received), CALIB_OK);
            piece[len - 1] ^= 1;
            EXPECT(calib_pieces_add(&parts, at, piece, len, &received), CALIB_ERROR_CHANGED);
            TRUE(received == at + len);
            if (received < file.len)
                EXPECT(calib_store_install_pieces(&store, &parts, &receipt), CALIB_ERROR_ARTIFACT);
        }
        EXPECT(calib_store_install_pieces(&store, &parts, (calib_receipt_t *)words), CALIB_ERROR_OVERLAP);
        EXPECT(calib_store_install_pieces(&store, &parts, (calib_receipt_t *)&parts), CALIB_ERROR_OVERLAP);
        EXPECT(calib_store_install_pieces(&store, &parts, &receipt), CALIB_OK);
        EXPECT(calib_store_survey(&store, &found), CALIB_OK);
        TRUE(memcmp(found.slots[receipt.slot].identity, receipt.identity, 8) == 0);
        TRUE(found.slots[receipt.slot].len_bytes == file.len);
    }
}

/* Calibrators that were loaded before look at a buffer that holds another one. */
static void loaded_before(struct file first, struct file second)
{
    static struct chip chip;
    static calib_device_t device;
    static uint64_t buffer[CALIB_BUFFER_WORDS], staged[CALIB_BUFFER_WORDS];
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    calib_flash_t flash = flash_of(&chip);
    calib_calibrator_t old, newer, again;
    calib_device_config_t config;
    calib_result_t result;
    calib_info_t info;
    calib_store_t store;

    new_chip(&chip);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_store_install(&store, first.bytes, first.len, NULL), CALIB_OK);
    EXPECT(calib_store_load(&store, &old), CALIB_OK);
    /* A load into no place loads nothing, and an installation leaves the buffer alone. */
    EXPECT(calib_store_load(&store, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_store_install(&store, second.bytes, second.len, NULL), CALIB_OK);
    EXPECT(calib_apply_score(&old, 0.5F, NULL, &result), CALIB_OK);
    EXPECT(calib_store_load(&store, &newer), CALIB_OK);
    EXPECT(calib_apply_score(&old, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    no_result(&result);
    EXPECT(calib_info(&old, &info), CALIB_ERROR_STATE);
    EXPECT(calib_apply_score(&newer, 0.5F, NULL, &result), CALIB_OK);
    /* The same one once more is another load. */
    EXPECT(calib_store_load(&store, &again), CALIB_OK);
    EXPECT(calib_apply_score(&newer, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    EXPECT(calib_apply_score(&again, 0.5F, NULL, &result), CALIB_OK);
    /* So is one that fails. */
    chip.reads = 0;
    TRUE(calib_store_load(&store, &newer) < 0);
    EXPECT(calib_apply_score(&again, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    no_result(&result);
    chip.reads = 1000000;
    EXPECT(calib_store_load(&store, &newer), CALIB_OK);
    /* A store that is opened again, or a device over the same buffer, gives out no number twice. */
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_apply_score(&newer, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    EXPECT(calib_store_load(&store, &old), CALIB_OK);
    EXPECT(calib_apply_score(&newer, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    EXPECT(calib_apply_score(&again, 0.5F, NULL, &result), CALIB_ERROR_STATE);
    EXPECT(calib_apply_score(&old, 0.5F, NULL, &result), CALIB_OK);
    config = config_of(&chip);
    EXPECT(calib_device_open(&device, &config, staged, buffer, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_apply_score(&old, 0.5F, NULL, &result), CALIB_ERROR_STATE);
}

static void configs(struct chip *chip, calib_device_t *device, uint64_t *staged, uint64_t *loaded)
{
    const size_t words = CALIB_BUFFER_WORDS;
    calib_device_config_t config = config_of(chip);

    config.classifier.classify = NULL;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.classifier.name = NULL;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_NULL);
    config.classifier.name = "a name that is longer than the thirty-two bytes";
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config.classifier.name = "\xFF";
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.classifier.classes = 3;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.classifier.features = 129;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.classifier.output = 9;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.board.set_alarm = NULL;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.alarm_threshold = strtof("nan", NULL);
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.alarm_below = 2;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.reserved[2] = 1;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.classifier.reserved[1] = 1;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    config.layout.reserved[0] = 1;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    /* Exactly as long as a name may be, and a byte more. */
    config.classifier.name = "thirty-two bytes and not a byte.";
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_OK);
    config.classifier.name = "thirty-three bytes is a byte more";
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ARGUMENT);
    config = config_of(chip);
    EXPECT(calib_device_open(device, NULL, staged, loaded, words), CALIB_ERROR_NULL);
    EXPECT(calib_device_open(NULL, &config, staged, loaded, words), CALIB_ERROR_NULL);
    EXPECT(calib_device_open(device, &config, NULL, loaded, words), CALIB_ERROR_NULL);
    EXPECT(calib_device_open(device, &config, staged, staged, words), CALIB_ERROR_OVERLAP);
    EXPECT(calib_device_open(device, &config, staged, loaded, 100), CALIB_ERROR_LENGTH);
    alarm_fails = 1;
    EXPECT(calib_device_open(device, &config, staged, loaded, words), CALIB_ERROR_ALARM);
    alarm_fails = 0;
}

static void device(struct file first)
{
    static struct chip chip;
    static calib_device_t device, moved;
    static uint64_t staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS];
    static uint8_t reply[CALIB_REPLY_BYTES], noise[5000];
    const float features[2] = {9.0F, 0.0F}, bad[2] = {strtof("inf", NULL), 0.0F};
    float many[200] = {0.0F};
    calib_device_config_t config;
    calib_result_t result;
    calib_store_t store;
    size_t taken, reply_len, at;
    uint32_t random = 1;

    new_chip(&chip);
    EXPECT(calib_device_take(&device, noise, 1, &taken, reply, sizeof reply, &reply_len), CALIB_ERROR_STATE);
    configs(&chip, &device, staged, loaded);
    config = config_of(&chip);
    EXPECT(calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS), CALIB_OK);
    TRUE(alarms == 1);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_OK);
    TRUE(result.reason == CALIB_NO_ARTIFACT && !(result.prob >= 0.0F) && result.alarm == CALIB_ALARM_RAISED && alarms == 1);
    EXPECT(calib_device_classify(&device, many, 3, NULL, &result), CALIB_ERROR_CLASSIFY);
    EXPECT(calib_device_classify(&device, many, 200, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(calib_device_classify(&device, bad, 2, NULL, &result), CALIB_ERROR_CLASSIFY);
    EXPECT(calib_device_classify(&device, NULL, 2, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_device_classify(&device, features, 2, NULL, NULL), CALIB_ERROR_NULL);
    classify_fails = 1;
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_ERROR_SCORE);
    classify_fails = 0;

    EXPECT(calib_device_take(NULL, noise, 1, &taken, reply, sizeof reply, &reply_len), CALIB_ERROR_NULL);
    EXPECT(calib_device_take(&device, NULL, 1, &taken, reply, sizeof reply, &reply_len), CALIB_ERROR_NULL);
    EXPECT(calib_device_take(&device, noise, 1, NULL, reply, sizeof reply, &reply_len), CALIB_ERROR_NULL);
    EXPECT(calib_device_take(&device, noise, 1, &taken, reply, sizeof reply, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_device_take(&device, noise, 1, &taken, reply, sizeof reply - 1, &reply_len), CALIB_ERROR_LENGTH);
    EXPECT(calib_device_take(&device, noise, 1, &taken, noise, sizeof noise, &reply_len), CALIB_ERROR_OVERLAP);
    /* Noise is passed over, whatever it is. */
    for (at = 0; at < sizeof noise; at++) {
        random = random * 1664525U + 1013904223U;
        noise[at] = (uint8_t)(random >> 24);
    }
    for (at = 0; at < sizeof noise; at += taken) {
        EXPECT(calib_device_take(&device, noise + at, sizeof noise - at, &taken, reply, sizeof reply, &reply_len), CALIB_OK);
        TRUE(taken > 0 && taken <= sizeof noise - at && reply_len <= sizeof reply);
    }

    /* Slots that hold a calibrator, and an alarm that fails. */
    EXPECT(calib_store_open(&store, &config.flash, &config.layout, classifier, NULL, staged, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_store_install(&store, first.bytes, first.len, NULL), CALIB_OK);
    EXPECT(calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS), CALIB_OK);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_OK);
    TRUE(result.reason == CALIB_CALIBRATED && result.prob >= 0.0F);
    TRUE(result.alarm == (result.prob >= 0.5F ? CALIB_ALARM_RAISED : CALIB_ALARM_CLEAR) && alarms == (result.prob >= 0.5F ? 1 : 0));
    TRUE(result.number == 0 && memcmp(result.identity, "\0\0\0\0\0\0\0\0", 8) != 0);
    /* A copy would work on the same buffers. */
    memcpy(&moved, &device, sizeof moved);
    EXPECT(calib_device_classify(&moved, features, 2, NULL, &result), CALIB_ERROR_STATE);
    no_result(&result);
    EXPECT(calib_device_take(&moved, noise, 1, &taken, reply, sizeof reply, &reply_len), CALIB_ERROR_STATE);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_OK);
    alarm_fails = 1;
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_ERROR_ALARM);
    no_result(&result);
    alarm_fails = 0;
}

int main(int argc, char **argv)
{
    struct file first, second, large;

    if (argc != 4)
        return 2;
    versions();
    texts();
    first = load(argv[1]);
    second = load(argv[2]);
    large = load(argv[3]);
    opening(first);
    tables(first);
    pieces(first);
    unchecked(first);
    slots(first, second, large);
    loaded_before(first, second);
    device(first);
    free(first.words);
    free(second.words);
    free(large.words);
    printf("%u checks\n", checks);
    return 0;
}
