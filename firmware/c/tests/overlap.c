/* Gives every function memory that overlaps: whatever is written must be no part of anything else that the function works with, at either end
 * of it. Every such call is refused, and changes nothing. Memory that touches is taken.
 *
 * usage: overlap BINARY NEWER CONFIDENCE CLASS_WISE TOP_K CODES_I8 CODES_U8, artifacts; the first two are binary over probabilities, for the classifier
 * "updates!", with monitors, the second with the greater counter; the third to the fifth take logits of 7 classes, the sixth codes
 * of 40, the seventh of 7. */

#include "hostile.h"

enum {
    CALIBRATOR, ARTIFACT, ID, OPTIONS, RESULT, INFO, VECTOR, CODES, SPACE, PROBS, RESULTS, STORE, BUFFER, FLASH_AT, LAYOUT, KEY, RECEIPT,
    SLOTS, BYTES, DEVICE, STAGED, LOADED, CONFIG, NAME, MONITORS, COUNTERS, JOURNAL, RECEIVED, TAKEN, REPLY, REPLY_LEN, FEATURES, FOUND,
    SAVED, SAVED_LEN, ANOTHER, NEW_COUNTERS, NEW_STAGED, NEW_LOADED, PARTS
};

enum { BINARY, NEWER, CONFIDENCE, CLASS_WISE, TOP_K, CODES_I8, CODES_U8, FILES };

enum { CLASSES = 7, CODE_CLASSES = 40, K = 3, ROOM = 64, GAP = 16384, STRIDE = 3 * GAP };

/* How long each is, and what its address is a multiple of. */
static struct {
    size_t size, align;
} parts[PARTS] = {
    [CALIBRATOR] = {sizeof(calib_calibrator_t), 8},
    [ARTIFACT] = {0, 4},
    [ID] = {8, 1},
    [OPTIONS] = {sizeof(calib_options_t), 8},
    [RESULT] = {sizeof(calib_result_t), 4},
    [INFO] = {sizeof(calib_info_t), 8},
    [VECTOR] = {CLASSES * sizeof(float), 4},
    [CODES] = {0, 1},
    [SPACE] = {0, 2},
    [PROBS] = {ROOM * sizeof(float), 4},
    [RESULTS] = {K * sizeof(calib_result_t), 4},
    [STORE] = {sizeof(calib_store_t), 8},
    [BUFFER] = {8 * CALIB_BUFFER_WORDS, 8},
    [FLASH_AT] = {sizeof(calib_flash_t), 8},
    [LAYOUT] = {sizeof(calib_layout_t), 4},
    [KEY] = {CALIB_KEY_BYTES, 1},
    [RECEIPT] = {sizeof(calib_receipt_t), 4},
    [SLOTS] = {sizeof(calib_slots_t), 4},
    [BYTES] = {0, 4},
    [DEVICE] = {sizeof(calib_device_t), 8},
    [STAGED] = {8 * CALIB_BUFFER_WORDS, 8},
    [LOADED] = {8 * CALIB_BUFFER_WORDS, 8},
    [CONFIG] = {sizeof(calib_device_config_t), 8},
    [NAME] = {7, 1},
    [MONITORS] = {sizeof(calib_monitors_t), 8},
    [COUNTERS] = {8 * CALIB_COUNTERS_WORDS, 8},
    [JOURNAL] = {sizeof(calib_journal_t), 8},
    [RECEIVED] = {3, 1},
    [TAKEN] = {sizeof(size_t), 8},
    [REPLY] = {CALIB_REPLY_BYTES, 1},
    [REPLY_LEN] = {sizeof(size_t), 8},
    [FEATURES] = {2 * sizeof(float), 4},
    [FOUND] = {sizeof(calib_counters_t), 8},
    [SAVED] = {CALIB_SAVED_BYTES, 1},
    [SAVED_LEN] = {sizeof(size_t), 8},
    [ANOTHER] = {sizeof(calib_device_t), 8},
    [NEW_COUNTERS] = {0, 8},
    [NEW_STAGED] = {8 * CALIB_BUFFER_WORDS, 8},
    [NEW_LOADED] = {8 * CALIB_BUFFER_WORDS, 8},
};

static uint64_t arena[PARTS * STRIDE / 8], before[PARTS * STRIDE / 8];
static struct chip chip, chip_before;
static uintptr_t at[PARTS];

#define AT(type, part) ((type *)at[part])

static int32_t open_calibrator(void)
{
    return calib_open(AT(calib_calibrator_t, CALIBRATOR), AT(uint8_t, ARTIFACT), parts[ARTIFACT].size, AT(uint8_t, ID));
}

static int32_t open_table(void)
{
    return calib_table_open(AT(calib_table_t, ANOTHER), AT(uint8_t, ARTIFACT), parts[ARTIFACT].size, AT(uint8_t, ID));
}

static int32_t info(void)
{
    return calib_info(AT(calib_calibrator_t, CALIBRATOR), AT(calib_info_t, INFO));
}

static int32_t score(void)
{
    return calib_apply_score(AT(calib_calibrator_t, CALIBRATOR), 0.5F, AT(calib_options_t, OPTIONS), AT(calib_result_t, RESULT));
}

static int32_t logits(void)
{
    return calib_apply_logits(AT(calib_calibrator_t, CALIBRATOR), AT(float, VECTOR), CLASSES, AT(calib_options_t, OPTIONS),
                              AT(calib_result_t, RESULT));
}

static int32_t probs(void)
{
    return calib_apply_probs(AT(calib_calibrator_t, CALIBRATOR), AT(float, VECTOR), CLASSES, AT(calib_options_t, OPTIONS),
                             AT(calib_result_t, RESULT));
}

static int32_t keys(void)
{
    return calib_apply_keys(AT(calib_calibrator_t, CALIBRATOR), AT(uint16_t, SPACE), CLASSES, AT(calib_options_t, OPTIONS),
                            AT(calib_result_t, RESULT));
}

static int32_t codes_i8(void)
{
    return calib_apply_i8(AT(calib_calibrator_t, CALIBRATOR), AT(int8_t, CODES), CODE_CLASSES, AT(uint16_t, SPACE),
                          AT(calib_options_t, OPTIONS), AT(calib_result_t, RESULT));
}

static int32_t codes_u8(void)
{
    return calib_apply_u8(AT(calib_calibrator_t, CALIBRATOR), AT(uint8_t, CODES), CLASSES, AT(uint16_t, SPACE),
                          AT(calib_options_t, OPTIONS), AT(calib_result_t, RESULT));
}

static int32_t all_logits(void)
{
    return calib_apply_all_logits(AT(calib_calibrator_t, CALIBRATOR), AT(float, VECTOR), CLASSES, AT(calib_options_t, OPTIONS),
                                  AT(float, PROBS), ROOM, AT(calib_result_t, RESULT));
}

static int32_t all_probs(void)
{
    return calib_apply_all_probs(AT(calib_calibrator_t, CALIBRATOR), AT(float, VECTOR), CLASSES, AT(calib_options_t, OPTIONS),
                                 AT(float, PROBS), ROOM, AT(calib_result_t, RESULT));
}

static int32_t top_k_logits(void)
{
    return calib_apply_top_k_logits(AT(calib_calibrator_t, CALIBRATOR), AT(float, VECTOR), CLASSES, AT(calib_options_t, OPTIONS),
                                    AT(calib_result_t, RESULTS), K);
}

static int32_t top_k_probs(void)
{
    return calib_apply_top_k_probs(AT(calib_calibrator_t, CALIBRATOR), AT(float, VECTOR), CLASSES, AT(calib_options_t, OPTIONS),
                                   AT(calib_result_t, RESULTS), K);
}

static int32_t store_open(void)
{
    return calib_store_open(AT(calib_store_t, ANOTHER), AT(calib_flash_t, FLASH_AT), AT(calib_layout_t, LAYOUT), AT(uint8_t, ID),
                            AT(uint8_t, KEY), AT(uint64_t, NEW_STAGED), CALIB_BUFFER_WORDS);
}

static int32_t store_load(void)
{
    return calib_store_load(AT(calib_store_t, STORE), AT(calib_calibrator_t, ANOTHER));
}

static int32_t store_install(void)
{
    return calib_store_install(AT(calib_store_t, STORE), AT(uint8_t, BYTES), parts[BYTES].size, AT(calib_receipt_t, RECEIPT));
}

static int32_t store_survey(void)
{
    return calib_store_survey(AT(calib_store_t, STORE), AT(calib_slots_t, SLOTS));
}

static int32_t device_open(void)
{
    return calib_device_open(AT(calib_device_t, ANOTHER), AT(calib_device_config_t, CONFIG), AT(uint64_t, NEW_STAGED),
                             AT(uint64_t, NEW_LOADED), CALIB_BUFFER_WORDS);
}

static int32_t device_take(void)
{
    return calib_device_take(AT(calib_device_t, DEVICE), AT(uint8_t, RECEIVED), parts[RECEIVED].size, AT(size_t, TAKEN),
                             AT(uint8_t, REPLY), CALIB_REPLY_BYTES, AT(size_t, REPLY_LEN));
}

static int32_t device_classify(void)
{
    calib_options_t *options = AT(calib_options_t, OPTIONS);

    return calib_device_classify(AT(calib_device_t, DEVICE), AT(float, FEATURES), 2, options, AT(calib_result_t, RESULT));
}

static int32_t monitors_open(void)
{
    return calib_monitors_open(AT(calib_monitors_t, ANOTHER), AT(uint64_t, NEW_COUNTERS), parts[NEW_COUNTERS].size / 8);
}

static int32_t monitors_open_many(void)
{
    return calib_monitors_open_many(AT(calib_monitors_t, ANOTHER), AT(uint64_t, NEW_COUNTERS), parts[NEW_COUNTERS].size / 8);
}

static int32_t monitors_open_persistent(void)
{
    return calib_monitors_open_persistent(AT(calib_monitors_t, ANOTHER), AT(uint64_t, NEW_COUNTERS), parts[NEW_COUNTERS].size / 8,
                                    AT(calib_journal_t, JOURNAL));
}

static int32_t monitors_open_many_persistent(void)
{
    return calib_monitors_open_many_persistent(AT(calib_monitors_t, ANOTHER), AT(uint64_t, NEW_COUNTERS), parts[NEW_COUNTERS].size / 8,
                                         AT(calib_journal_t, JOURNAL));
}

static int32_t monitors_begin(void)
{
    return calib_monitors_begin(AT(calib_monitors_t, MONITORS), AT(calib_calibrator_t, CALIBRATOR));
}

static int32_t monitors_tell(void)
{
    return calib_monitors_tell(AT(calib_monitors_t, MONITORS), AT(calib_calibrator_t, CALIBRATOR), AT(calib_result_t, RESULT),
                               AT(calib_options_t, OPTIONS), 1);
}

static int32_t monitors_read(void)
{
    return calib_monitors_read(AT(calib_monitors_t, MONITORS), AT(calib_calibrator_t, CALIBRATOR), 0, AT(calib_counters_t, FOUND));
}

static int32_t monitors_save(void)
{
    return calib_monitors_save(AT(calib_monitors_t, MONITORS), AT(uint8_t, SAVED), CALIB_SAVED_BYTES, AT(size_t, SAVED_LEN));
}

static int32_t monitors_restore(void)
{
    return calib_monitors_restore(AT(calib_monitors_t, MONITORS), AT(uint8_t, SAVED), CALIB_SAVED_BYTES);
}

#define BIT(part) ((uint64_t)1 << (part))
#define SINGLE (BIT(CALIBRATOR) | BIT(ARTIFACT))
#define COUNTING (BIT(MONITORS) | BIT(COUNTERS))
#define SLOTTED (BIT(STORE) | BIT(BUFFER))
#define WHOLE (BIT(DEVICE) | BIT(STAGED) | BIT(LOADED) | COUNTING)

enum { UNCOUNTED, COUNTED };

/* Of each function: what is open, and changed by nobody else; what is looked at besides it; what must be no part of that although it is only
 * read; and what is written. `room` is how much of ANOTHER is used. */
static const struct row {
    const char *name;
    int32_t (*call)(void);
    uint64_t fixed, read, given, written;
    size_t room;
    int file, counts;
} rows[] = {
    {"open", open_calibrator, 0, BIT(ARTIFACT) | BIT(ID), 0, BIT(CALIBRATOR), 0, BINARY, UNCOUNTED},
    {"table_open", open_table, 0, BIT(ARTIFACT) | BIT(ID), 0, BIT(ANOTHER), sizeof(calib_table_t), BINARY, UNCOUNTED},
    {"info", info, SINGLE, 0, 0, BIT(INFO), 0, BINARY, UNCOUNTED},
    {"apply_score", score, SINGLE, BIT(OPTIONS), 0, BIT(RESULT), 0, BINARY, UNCOUNTED},
    {"apply_score, counted", score, SINGLE | COUNTING, BIT(OPTIONS), 0, BIT(RESULT), 0, BINARY, COUNTED},
    {"apply_logits", logits, SINGLE, BIT(OPTIONS) | BIT(VECTOR), 0, BIT(RESULT), 0, CONFIDENCE, UNCOUNTED},
    {"apply_probs", probs, SINGLE, BIT(OPTIONS) | BIT(VECTOR), 0, BIT(RESULT), 0, CONFIDENCE, UNCOUNTED},
    {"apply_keys", keys, SINGLE, BIT(OPTIONS) | BIT(SPACE), 0, BIT(RESULT), 0, CODES_U8, UNCOUNTED},
    {"apply_i8", codes_i8, SINGLE, BIT(OPTIONS) | BIT(CODES), 0, BIT(SPACE) | BIT(RESULT), 0, CODES_I8, UNCOUNTED},
    {"apply_u8", codes_u8, SINGLE, BIT(OPTIONS) | BIT(CODES), 0, BIT(SPACE) | BIT(RESULT), 0, CODES_U8, UNCOUNTED},
    {"apply_all_logits", all_logits, SINGLE, BIT(OPTIONS) | BIT(VECTOR), 0, BIT(PROBS) | BIT(RESULT), 0, CLASS_WISE, UNCOUNTED},
    {"apply_all_probs", all_probs, SINGLE, BIT(OPTIONS) | BIT(VECTOR), 0, BIT(PROBS) | BIT(RESULT), 0, CLASS_WISE, UNCOUNTED},
    {"apply_top_k_logits", top_k_logits, SINGLE, BIT(OPTIONS) | BIT(VECTOR), 0, BIT(RESULTS), 0, TOP_K, UNCOUNTED},
    {"apply_top_k_probs", top_k_probs, SINGLE, BIT(OPTIONS) | BIT(VECTOR), 0, BIT(RESULTS), 0, TOP_K, UNCOUNTED},
    {"store_open", store_open, 0, BIT(FLASH_AT) | BIT(LAYOUT) | BIT(ID) | BIT(KEY), 0, BIT(ANOTHER) | BIT(NEW_STAGED),
     sizeof(calib_store_t), BINARY, UNCOUNTED},
    {"store_load", store_load, SLOTTED, 0, 0, BIT(ANOTHER), sizeof(calib_calibrator_t), BINARY, UNCOUNTED},
    {"store_install", store_install, SLOTTED, 0, BIT(BYTES), BIT(RECEIPT), 0, BINARY, UNCOUNTED},
    {"store_survey", store_survey, SLOTTED, 0, 0, BIT(SLOTS), 0, BINARY, UNCOUNTED},
    {"device_open", device_open, COUNTING, BIT(CONFIG) | BIT(KEY) | BIT(NAME), 0, BIT(ANOTHER) | BIT(NEW_STAGED) | BIT(NEW_LOADED),
     sizeof(calib_device_t), BINARY, UNCOUNTED},
    {"device_take", device_take, WHOLE, 0, BIT(RECEIVED), BIT(TAKEN) | BIT(REPLY) | BIT(REPLY_LEN), 0, BINARY, UNCOUNTED},
    {"device_classify", device_classify, WHOLE, 0, BIT(FEATURES) | BIT(OPTIONS), BIT(RESULT), 0, BINARY, UNCOUNTED},
    {"monitors_open", monitors_open, 0, 0, 0, BIT(ANOTHER) | BIT(NEW_COUNTERS), sizeof(calib_monitors_t), BINARY, UNCOUNTED},
    {"monitors_open_many", monitors_open_many, 0, 0, 0, BIT(ANOTHER) | BIT(NEW_COUNTERS), sizeof(calib_monitors_t), BINARY, UNCOUNTED},
    {"monitors_open_persistent", monitors_open_persistent, 0, BIT(JOURNAL), 0, BIT(ANOTHER) | BIT(NEW_COUNTERS), sizeof(calib_monitors_t), BINARY,
     UNCOUNTED},
    {"monitors_open_many_persistent", monitors_open_many_persistent, 0, BIT(JOURNAL), 0, BIT(ANOTHER) | BIT(NEW_COUNTERS),
     sizeof(calib_monitors_t), BINARY, UNCOUNTED},
    {"monitors_begin", monitors_begin, COUNTING, 0, BIT(CALIBRATOR), 0, 0, BINARY, UNCOUNTED},
    {"monitors_tell", monitors_tell, SINGLE | COUNTING, 0, BIT(RESULT) | BIT(OPTIONS), 0, 0, BINARY, UNCOUNTED},
    {"monitors_read", monitors_read, SINGLE | COUNTING, 0, 0, BIT(FOUND), 0, BINARY, UNCOUNTED},
    {"monitors_save", monitors_save, COUNTING, 0, 0, BIT(SAVED) | BIT(SAVED_LEN), 0, BINARY, UNCOUNTED},
    {"monitors_restore", monitors_restore, COUNTING, 0, BIT(SAVED), 0, 0, BINARY, UNCOUNTED},
};

/* A point of the curve: a key that is one. */
static void fill_key(uint8_t *key)
{
    memset(key, 0x66, CALIB_KEY_BYTES);
    key[0] = 0x58;
}

/* Puts every part into a place of its own, and opens what is to be open. */
static void set_up(const struct row *row, const struct file *files)
{
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    calib_device_config_t config;
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_journal_t journal;
    float *vector;
    int part, many;

    memset(arena, 0, sizeof arena);
    for (part = 0; part < PARTS; part++)
        at[part] = (uintptr_t)arena + (uintptr_t)part * STRIDE + GAP;
    parts[ARTIFACT].size = files[row->file].len;
    parts[BYTES].size = files[NEWER].len;
    parts[ANOTHER].size = row->room;
    parts[CODES].size = row->file == CODES_I8 ? CODE_CLASSES : CLASSES;
    parts[SPACE].size = parts[CODES].size * sizeof(uint16_t);
    many = row->call == monitors_open_many || row->call == monitors_open_many_persistent;
    parts[NEW_COUNTERS].size = 8 * (many ? CALIB_MANY_COUNTERS_WORDS : CALIB_COUNTERS_WORDS);
    memcpy(AT(uint8_t, ARTIFACT), files[row->file].bytes, files[row->file].len);
    memcpy(AT(uint8_t, BYTES), files[NEWER].bytes, files[NEWER].len);
    memcpy(AT(uint8_t, ID), classifier, sizeof classifier);
    fill_key(AT(uint8_t, KEY));
    memcpy(AT(char, NAME), "overlap", 7);
    vector = AT(float, VECTOR);
    vector[0] = 1.0F;
    new_chip(&chip);
    *AT(calib_flash_t, FLASH_AT) = flash_of(&chip);
    *AT(calib_layout_t, LAYOUT) = layout;
    memset(&journal, 0, sizeof journal);
    journal.flash = flash_of(&chip);
    journal.offset = SLOT;
    journal.len_bytes = 2 * SECTOR;
    journal.every = 1;
    *AT(calib_journal_t, JOURNAL) = journal;
    EXPECT(calib_open(AT(calib_calibrator_t, CALIBRATOR), AT(uint8_t, ARTIFACT), parts[ARTIFACT].size, NULL), CALIB_OK);
    EXPECT(calib_store_open(AT(calib_store_t, STORE), AT(calib_flash_t, FLASH_AT), &layout, classifier, NULL, AT(uint64_t, BUFFER),
                            CALIB_BUFFER_WORDS),
           CALIB_OK);
    EXPECT(calib_store_install(AT(calib_store_t, STORE), files[BINARY].bytes, files[BINARY].len, NULL), CALIB_OK);
    EXPECT(calib_monitors_open(AT(calib_monitors_t, MONITORS), AT(uint64_t, COUNTERS), CALIB_COUNTERS_WORDS), CALIB_OK);
    config = config_of(&chip);
    config.monitors = AT(calib_monitors_t, MONITORS);
    EXPECT(calib_device_open(AT(calib_device_t, DEVICE), &config, AT(uint64_t, STAGED), AT(uint64_t, LOADED), CALIB_BUFFER_WORDS), CALIB_OK);
    config.key = AT(uint8_t, KEY);
    config.classifier.name = AT(char, NAME);
    *AT(calib_device_config_t, CONFIG) = config;
    if (row->file == BINARY) {
        options.monitors = AT(calib_monitors_t, MONITORS);
        *AT(calib_options_t, OPTIONS) = options;
        EXPECT(monitors_begin(), CALIB_OK);
        EXPECT(score(), CALIB_OK);
        EXPECT(monitors_save(), CALIB_OK);
        *AT(size_t, SAVED_LEN) = 0;
    }
    options.monitors = row->counts ? AT(calib_monitors_t, MONITORS) : NULL;
    *AT(calib_options_t, OPTIONS) = options;
    memcpy(before, arena, sizeof arena);
    chip_before = chip;
}

/* With a part that is elsewhere. */
static void call_at(const struct row *row, int part, uintptr_t place, int32_t expected, const char *where)
{
    const uintptr_t home = at[part];
    const uint8_t *old = (const uint8_t *)home;
    uint8_t *moved = (uint8_t *)place;
    int32_t got;

    /* What is read is there, too, if nothing else is. */
    if (expected == CALIB_OK)
        memcpy(moved, old, parts[part].size);
    at[part] = place;
    got = row->call();
    at[part] = home;
    if (got != expected)
        fprintf(stderr, "%s: part %d %s\n", row->name, part, where);
    expect_at(got, expected, row->name, part);
    if (expected == CALIB_ERROR_OVERLAP) {
        if (memcmp(before, arena, sizeof arena) != 0)
            fprintf(stderr, "%s: part %d %s: something is written\n", row->name, part, where);
        TRUE(memcmp(before, arena, sizeof arena) == 0);
    } else {
        memcpy(arena, before, sizeof arena);
        chip = chip_before;
    }
}

static unsigned overlaps(const struct row *row, int moved, int fixed)
{
    const size_t align = parts[moved].align, size = parts[moved].size;
    const uintptr_t from = at[fixed], to = from + parts[fixed].size;
    const uintptr_t low = (from - size) / align * align, high = (to - 1) / align * align;

    TRUE(low + align < to && high + size > from);
    call_at(row, moved, low + align, CALIB_ERROR_OVERLAP, "begins before another");
    call_at(row, moved, high, CALIB_ERROR_OVERLAP, "begins within another");
    call_at(row, moved, low, CALIB_OK, "ends where another begins");
    call_at(row, moved, (to + align - 1) / align * align, CALIB_OK, "begins where another ends");
    return 2;
}

int main(int argc, char **argv)
{
    struct file files[FILES];
    unsigned refused = 0;
    int moved, fixed, i;
    size_t row;

    if (argc != FILES + 1)
        return 2;
    for (i = 0; i < FILES; i++)
        files[i] = load(argv[i + 1]);
    for (row = 0; row < sizeof rows / sizeof *rows; row++) {
        const uint64_t never_read = rows[row].fixed | rows[row].written;
        const uint64_t moving = rows[row].written | rows[row].given;

        set_up(&rows[row], files);
        expect_at(rows[row].call(), CALIB_OK, rows[row].name, (int)row);
        memcpy(arena, before, sizeof arena);
        chip = chip_before;
        for (moved = 0; moved < PARTS; moved++)
            for (fixed = 0; fixed < PARTS; fixed++) {
                const int is_written = (rows[row].written & BIT(moved)) != 0;
                const uint64_t against = is_written ? never_read | rows[row].read | rows[row].given : rows[row].fixed;

                if (moved != fixed && (moving & BIT(moved)) != 0 && (against & BIT(fixed)) != 0)
                    refused += overlaps(&rows[row], moved, fixed);
            }
    }
    for (i = 0; i < FILES; i++)
        free(files[i].words);
    printf("%u checks, %u overlaps refused by %u functions\n", checks, refused, (unsigned)(sizeof rows / sizeof *rows));
    return 0;
}
