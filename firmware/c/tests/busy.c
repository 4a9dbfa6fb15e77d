/* Calls the library from the callbacks that it calls: with the state that called the callback every function is refused, opening included, and
 * the outer call goes on as if nothing had been.
 *
 * usage: busy ARTIFACT FRAMES; a binary artifact over probabilities with monitors, for the classifier "updates!", and the frames of requests
 * that make a device use every callback. */

#include "hostile.h"

static struct chip chip;
static calib_store_t store;
static calib_device_t device;
static calib_monitors_t monitors;
static calib_calibrator_t calibrator, loaded_one;
static uint64_t buffer[CALIB_BUFFER_WORDS], staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS];
static uint64_t counters[CALIB_COUNTERS_WORDS], many[CALIB_MANY_COUNTERS_WORDS];
static const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
static struct file file;
static calib_journal_t journal;
static calib_device_config_t config;
static calib_result_t counted;

/* What a callback does besides its work, and how often it did. */
static void (*within)(void);
static unsigned calls;

enum { READ, WRITE, ERASE, CLASSIFY, ALARM, TICKS, STACK, RANDOM, KINDS };

static unsigned seen[KINDS];

static void do_within(int kind)
{
    void (*work)(void) = within;

    if (work == NULL)
        return;
    /* What the work calls back is left alone. */
    within = NULL;
    seen[kind]++;
    calls++;
    work();
    within = work;
}

static int32_t busy_read(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    do_within(READ);
    return chip_read(context, offset, bytes, len);
}

static int32_t busy_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    do_within(WRITE);
    return chip_write(context, offset, bytes, len);
}

static int32_t busy_erase(void *context, uint32_t offset, uint32_t len)
{
    do_within(ERASE);
    return chip_erase(context, offset, len);
}

static int32_t busy_classify(void *context, const float *features, size_t count, float *output, size_t output_len)
{
    do_within(CLASSIFY);
    return classify(context, features, count, output, output_len);
}

static int32_t busy_alarm(void *context, uint8_t raised)
{
    do_within(ALARM);
    return set_alarm(context, raised);
}

static uint32_t busy_ticks(void *context)
{
    (void)context;
    do_within(TICKS);
    return 0;
}

static uint32_t busy_stack(void *context)
{
    (void)context;
    do_within(STACK);
    return 0;
}

static int32_t busy_random(void *context, uint32_t *word)
{
    (void)context;
    do_within(RANDOM);
    *word = 1;
    return 0;
}

static calib_flash_t busy_flash(void)
{
    const calib_flash_t flash = {&chip, busy_read, busy_write, busy_erase, FLASH, SECTOR};

    return flash;
}

static int32_t open_store(void)
{
    const calib_flash_t flash = busy_flash();

    return calib_store_open(&store, &flash, &layout, classifier, NULL, buffer, CALIB_BUFFER_WORDS);
}

static int32_t open_device(void)
{
    return calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS);
}

static void with_the_store(void)
{
    calib_slots_t slots;

    EXPECT(open_store(), CALIB_ERROR_BUSY);
    EXPECT(calib_store_load(&store, &loaded_one), CALIB_ERROR_BUSY);
    EXPECT(calib_store_install(&store, file.bytes, file.len, NULL), CALIB_ERROR_BUSY);
    EXPECT(calib_store_survey(&store, &slots), CALIB_ERROR_BUSY);
}

static void with_the_device(void)
{
    static uint8_t reply[CALIB_REPLY_BYTES];
    const float features[2] = {5.0F, 0.0F};
    const uint8_t zero = 0;
    calib_result_t result;
    size_t taken, reply_len;

    EXPECT(open_device(), CALIB_ERROR_BUSY);
    EXPECT(calib_device_take(&device, &zero, 1, &taken, reply, sizeof reply, &reply_len), CALIB_ERROR_BUSY);
    EXPECT(calib_device_classify(&device, features, 2, NULL, &result), CALIB_ERROR_BUSY);
}

static void with_the_monitors(void)
{
    static uint8_t saved[CALIB_SAVED_BYTES];
    calib_options_t options = {&monitors, 0, 0, 0, 0, 0};
    calib_counters_t found;
    calib_result_t result;
    size_t len;

    EXPECT(calib_monitors_open(&monitors, counters, CALIB_COUNTERS_WORDS), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_open_many(&monitors, many, CALIB_MANY_COUNTERS_WORDS), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_open_many_persistent(&monitors, many, CALIB_MANY_COUNTERS_WORDS, &journal), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_tell(&monitors, &calibrator, &counted, NULL, 1), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_reset(&monitors, &calibrator), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_save(&monitors, saved, sizeof saved, &len), CALIB_ERROR_BUSY);
    EXPECT(calib_monitors_restore(&monitors, saved, sizeof saved), CALIB_ERROR_BUSY);
    EXPECT(calib_apply_score(&calibrator, 0.5F, &options, &result), CALIB_ERROR_BUSY);
}

/* The calibrator that is loaded is not there until it is. */
static void with_what_is_loaded(void)
{
    calib_result_t result;

    with_the_store();
    EXPECT(calib_open(&loaded_one, file.bytes, file.len, NULL), CALIB_ERROR_BUSY);
    EXPECT(calib_apply_score(&loaded_one, 0.5F, NULL, &result), CALIB_ERROR_BUSY);
}

/* A call during which callbacks do something: it succeeds, and some did. */
#define WITHIN(work, call)            \
    do {                              \
        calls = 0;                    \
        within = (work);              \
        EXPECT(call, CALIB_OK);       \
        within = NULL;                \
        TRUE(calls > 0);              \
    } while (0)

static void stores(void)
{
    calib_slots_t slots;

    WITHIN(with_the_store, open_store());
    WITHIN(with_the_store, calib_store_install(&store, file.bytes, file.len, NULL));
    TRUE(seen[WRITE] > 0 && seen[ERASE] > 0);
    WITHIN(with_the_store, calib_store_survey(&store, &slots));
    WITHIN(with_what_is_loaded, calib_store_load(&store, &loaded_one));
    EXPECT(calib_apply_score(&loaded_one, 0.5F, NULL, &counted), CALIB_OK);
}

static void devices(struct file frames)
{
    static uint8_t reply[CALIB_REPLY_BYTES];
    const float features[2] = {5.0F, 0.0F};
    size_t at, taken, reply_len, replies = 0;
    calib_result_t result;

    config = config_of(&chip);
    config.classifier.classify = busy_classify;
    config.board.set_alarm = busy_alarm;
    config.board.ticks = busy_ticks;
    config.board.stack_bytes = busy_stack;
    config.board.random = busy_random;
    config.flash = busy_flash();
    memset(seen, 0, sizeof seen);
    WITHIN(with_the_device, open_device());
    TRUE(seen[ALARM] == 1 && seen[READ] > 0);
    WITHIN(with_the_device, calib_device_classify(&device, features, 2, NULL, &result));
    TRUE(seen[CLASSIFY] == 1 && seen[ALARM] == 2);
    within = with_the_device;
    for (at = 0; at < frames.len; at += taken) {
        EXPECT(calib_device_take(&device, frames.bytes + at, frames.len - at, &taken, reply, sizeof reply, &reply_len), CALIB_OK);
        replies += reply_len > 0 ? 1 : 0;
    }
    within = NULL;
    TRUE(replies > 5);
    TRUE(seen[WRITE] > 0 && seen[ERASE] > 0 && seen[TICKS] > 0 && seen[STACK] > 0 && seen[RANDOM] > 0);
}

static void counters_of(void)
{
    calib_options_t options = {&monitors, 0, 0, 0, 0, 0};
    calib_counters_t found;

    new_chip(&chip);
    journal.flash = busy_flash();
    journal.offset = SLOT;
    journal.len_bytes = 2 * SECTOR;
    journal.every = 1;
    EXPECT(calib_open(&calibrator, file.bytes, file.len, classifier), CALIB_OK);
    WITHIN(with_the_monitors, calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal));
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    WITHIN(with_the_monitors, calib_apply_score(&calibrator, 0.5F, &options, &counted));
    WITHIN(with_the_monitors, calib_monitors_tell(&monitors, &calibrator, &counted, NULL, 1));
    WITHIN(with_the_monitors, calib_monitors_reset(&monitors, &calibrator));
    EXPECT(calib_monitors_read(&monitors, &calibrator, 0, &found), CALIB_OK);
    TRUE(found.persistence == CALIB_PERSISTENCE_SAVED && found.unsaved == 0);
    /* Those of many tables are opened by a callback, too, but not these. */
    WITHIN(with_the_monitors, calib_monitors_open_many_persistent(&monitors, many, CALIB_MANY_COUNTERS_WORDS, &journal));
    EXPECT(calib_monitors_begin(&monitors, &calibrator), CALIB_OK);
    WITHIN(with_the_monitors, calib_apply_score(&calibrator, 0.5F, &options, &counted));
}

/* A mark from before a reset, in memory that keeps what it holds: it is cleared, as the header says. */
static void after_a_reset(void)
{
    static calib_store_t saved;

    within = NULL;
    EXPECT(open_store(), CALIB_OK);
    memset(&saved, 0, sizeof saved);
    store = saved;
    EXPECT(calib_store_load(&store, &loaded_one), CALIB_ERROR_STATE);
    EXPECT(open_store(), CALIB_OK);
}

int main(int argc, char **argv)
{
    struct file frames;

    if (argc != 3)
        return 2;
    file = load(argv[1]);
    frames = load(argv[2]);
    new_chip(&chip);
    stores();
    devices(frames);
    counters_of();
    after_a_reset();
    free(file.words);
    free(frames.words);
    printf("%u checks\n", checks);
    return 0;
}
