/* Callbacks of a device that fail, and what it says once its monitors raise an alarm.
 *
 * usage: hostile_device RANDOMIZED PLAIN ACTING CLASSIFY, the frames that push a randomized calibrator with a guarantee, another one, and one that
 * has no probability from its monitors' alarm on; and one that classifies. All are for two classes. */

#include "hostile.h"

static struct chip chip;
static calib_device_t device;
static calib_monitors_t monitors;
static uint64_t staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS], counters[CALIB_COUNTERS_WORDS];
static calib_device_config_t config;
static const float high[2] = {9.0F, 0.0F};

static int random_fails;

static int32_t random_word(void *context, uint32_t *word)
{
    (void)context;
    *word = 12345;
    return random_fails;
}

static int32_t open_device(void)
{
    return calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS);
}

static int32_t take_all(struct file frames)
{
    static uint8_t reply[CALIB_REPLY_BYTES];
    size_t at, taken, reply_len;
    int32_t error;

    for (at = 0; at < frames.len; at += taken) {
        error = calib_device_take(&device, frames.bytes + at, frames.len - at, &taken, reply, sizeof reply, &reply_len);
        if (error != CALIB_OK)
            return error;
    }
    return CALIB_OK;
}

static calib_result_t classified(void)
{
    calib_result_t result;

    EXPECT(calib_device_classify(&device, high, 2, NULL, &result), CALIB_OK);
    return result;
}

/* Without a random word there is a probability, and no guarantee. */
static void without_a_word(struct file randomized)
{
    calib_result_t with, without;

    config.board.random = random_word;
    EXPECT(open_device(), CALIB_OK);
    EXPECT(take_all(randomized), CALIB_OK);
    with = classified();
    TRUE(with.reason == CALIB_CALIBRATED && with.epsilon > 0.0F);
    random_fails = 1;
    without = classified();
    TRUE(without.reason == CALIB_CALIBRATED && !(without.epsilon >= 0.0F) && without.prob >= 0.0F);
    random_fails = 0;
    TRUE(classified().epsilon > 0.0F);
    config.board.random = NULL;
    EXPECT(open_device(), CALIB_OK);
    TRUE(!(classified().epsilon >= 0.0F));
}

/* Nothing is said, and nothing is to be sent; once the alarm works again, so does the device. */
static void without_an_alarm(struct file classify_frame)
{
    static uint8_t reply[CALIB_REPLY_BYTES];
    size_t taken = 12345, reply_len = 67890;

    alarm_fails = 1;
    EXPECT(calib_device_take(&device, classify_frame.bytes, classify_frame.len, &taken, reply, sizeof reply, &reply_len),
           CALIB_ERROR_ALARM);
    TRUE(taken == 12345 && reply_len == 67890);
    alarm_fails = 0;
    EXPECT(calib_device_take(&device, classify_frame.bytes, classify_frame.len, &taken, reply, sizeof reply, &reply_len), CALIB_OK);
    TRUE(taken == classify_frame.len && reply_len > 10);
    /* The classifier fails: the host is told, and the alarm is raised. */
    alarms = 0;
    classify_fails = 1;
    EXPECT(calib_device_take(&device, classify_frame.bytes, classify_frame.len, &taken, reply, sizeof reply, &reply_len), CALIB_OK);
    TRUE(reply_len > 3 && alarms == 1);
    classify_fails = 0;
}

/* Whatever of the flash fails while another calibrator is pushed, the one in force stays. */
static void without_flash(struct file other)
{
    const float before = classified().prob;
    unsigned i;

    for (i = 0; i < 2; i++) {
        chip.writes = i == 0 ? 0 : 1000000;
        chip.erases = i == 1 ? 0 : 1000000;
        EXPECT(take_all(other), CALIB_OK);
        TRUE(classified().prob == before);
    }
    chip.writes = chip.erases = 1000000;
    /* It cannot be made sure of: nothing is written. */
    chip.reads = 0;
    EXPECT(take_all(other), CALIB_OK);
    chip.reads = 1000000;
    TRUE(classified().prob == before);
    EXPECT(open_device(), CALIB_OK);
    TRUE(classified().prob == before);
    EXPECT(take_all(other), CALIB_OK);
    TRUE(classified().prob != before);
}

/* The alarm of monitors, and a device without them. */
static void alarmed(struct file acting)
{
    calib_result_t result;
    unsigned count = 0;

    new_chip(&chip);
    EXPECT(calib_monitors_open(&monitors, counters, CALIB_COUNTERS_WORDS), CALIB_OK);
    config.monitors = &monitors;
    EXPECT(open_device(), CALIB_OK);
    EXPECT(take_all(acting), CALIB_OK);
    do {
        result = classified();
        count++;
    } while (result.reason == CALIB_CALIBRATED && count < 1000);
    TRUE(count > 3 && result.reason == CALIB_ALARMED);
    TRUE(!(result.prob >= 0.0F) && result.alarm == CALIB_ALARM_RAISED && alarms == 1);
    TRUE(classified().reason == CALIB_ALARMED);
    config.monitors = NULL;
    EXPECT(open_device(), CALIB_OK);
    result = classified();
    TRUE(result.reason == CALIB_NOT_MONITORED && !(result.prob >= 0.0F) && result.alarm == CALIB_ALARM_RAISED);
}

int main(int argc, char **argv)
{
    struct file randomized, plain, acting, classify_frame;

    if (argc != 5)
        return 2;
    randomized = load(argv[1]);
    plain = load(argv[2]);
    acting = load(argv[3]);
    classify_frame = load(argv[4]);
    new_chip(&chip);
    config = config_of(&chip);
    without_a_word(randomized);
    without_an_alarm(classify_frame);
    without_flash(plain);
    alarmed(acting);
    free(randomized.words);
    free(plain.words);
    free(acting.words);
    free(classify_frame.words);
    printf("%u checks\n", checks);
    return 0;
}
