/* Counts what a file of words says, and writes what the monitors say as words: what a Rust test compares with the monitors in Rust.
 *
 * usage: counting ASKED ANSWERED
 * ASKED: whether the counters are of many tables, the artifact's length in bytes, its bytes up to a whole word, the number of
 * steps; of each step its kind and three words: a prediction has its kind, its group (NO_GROUP without one) and the number of
 * values, and then the values; an outcome the number of the prediction, its group and whether it was positive; the others none. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib.h"

enum step { PREDICT, TELL, READ, RESET, RESTART };
enum kind { SCORE, MARGIN, LOGITS };
enum { MAX_VALUES = 128, MAX_PREDICTIONS = 100000, NO_GROUP = 256 };

static FILE *asked, *answered;
static uint64_t counters[CALIB_MANY_COUNTERS_WORDS];
static calib_monitors_t monitors;
static calib_calibrator_t calibrator;
static calib_result_t results[MAX_PREDICTIONS];
static size_t predictions;
static uint32_t is_many;

static uint32_t get(void)
{
    uint32_t word;

    if (fread(&word, sizeof word, 1, asked) != 1)
        exit(2);
    return word;
}

static void put(uint32_t word)
{
    if (fwrite(&word, sizeof word, 1, answered) != 1)
        exit(3);
}

static void put_evidence(const calib_evidence_t *evidence)
{
    put((uint32_t)evidence->log);
    put((uint32_t)(evidence->log >> 32));
    put((uint32_t)evidence->alarm_log);
    put((uint32_t)(evidence->alarm_log >> 32));
    put(evidence->odds);
    put(evidence->alarm_odds);
    put(evidence->raised_at);
    put(evidence->raised);
    put(evidence->is_watched);
}

static void put_counters(uint16_t table)
{
    calib_counters_t found;
    size_t i;
    int32_t error = calib_monitors_read(&monitors, &calibrator, table, &found);

    put((uint32_t)error);
    if (error != CALIB_OK)
        return;
    put_evidence(&found.shift);
    put_evidence(&found.change);
    put_evidence(&found.guarantee);
    for (i = 0; i < CALIB_COUNTED_BINS; i++) {
        put(found.predictions[i]);
        put(found.labeled[i]);
        put(found.positives[i]);
    }
    put(found.table);
    put(found.tables);
    put(found.bins);
    put(found.outcome_bins);
    put(found.persistence);
    put(found.is_full);
}

static int32_t begin(void)
{
    const size_t words = is_many != 0U ? CALIB_MANY_COUNTERS_WORDS : CALIB_COUNTERS_WORDS;
    int32_t error;

    if (is_many != 0U)
        error = calib_monitors_open_many(&monitors, counters, words);
    else
        error = calib_monitors_open(&monitors, counters, words);
    return error == CALIB_OK ? calib_monitors_begin(&monitors, &calibrator) : error;
}

static int32_t predict(calib_options_t *options)
{
    const uint32_t kind = get(), group = get(), count = get();
    float values[MAX_VALUES];
    calib_result_t *result;
    uint32_t i, word;

    if (count > MAX_VALUES || predictions == MAX_PREDICTIONS)
        exit(4);
    for (i = 0; i < count; i++) {
        word = get();
        memcpy(&values[i], &word, sizeof word);
    }
    options->has_group = group != NO_GROUP;
    options->group = (uint8_t)group;
    result = &results[predictions++];
    if (kind == SCORE)
        return calib_apply_score(&calibrator, values[0], options, result);
    if (kind == MARGIN)
        return calib_apply_margin(&calibrator, values[0], options, result);
    return calib_apply_logits(&calibrator, values, count, options, result);
}

static int32_t tell(calib_options_t *options)
{
    const uint32_t number = get(), group = get(), is_positive = get();

    if (number >= predictions)
        exit(5);
    options->has_group = group != NO_GROUP;
    options->group = (uint8_t)group;
    return calib_monitors_tell(&monitors, &calibrator, &results[number], options, (uint8_t)is_positive);
}

/* As a program does that is switched off and on. */
static int32_t restart(void)
{
    static uint8_t saved[CALIB_MANY_SAVED_BYTES];
    const size_t room = is_many != 0U ? CALIB_MANY_SAVED_BYTES : CALIB_SAVED_BYTES;
    size_t len = 0;
    int32_t error = calib_monitors_save(&monitors, saved, room, &len);

    if (error != CALIB_OK)
        return error;
    if (len != room)
        exit(6);
    memset(counters, 0xA5, sizeof counters);
    memset(&monitors, 0xA5, sizeof monitors);
    error = begin();
    return error == CALIB_OK ? calib_monitors_restore(&monitors, saved, len) : error;
}

int main(int argc, char **argv)
{
    static uint32_t artifact[16384];
    calib_options_t options;
    uint32_t len, steps, i;
    uint16_t table;

    if (argc != 3)
        return 1;
    asked = fopen(argv[1], "rb");
    answered = fopen(argv[2], "wb");
    if (asked == NULL || answered == NULL)
        return 1;
    memset(&options, 0, sizeof options);
    options.monitors = &monitors;
    is_many = get();
    len = get();
    if (len > sizeof artifact)
        return 1;
    for (i = 0; i < (len + 3) / 4; i++)
        artifact[i] = get();
    if (calib_open(&calibrator, (const uint8_t *)artifact, len, NULL) != CALIB_OK || begin() != CALIB_OK)
        return 1;
    steps = get();
    for (; steps > 0; steps--) {
        switch (get()) {
        case PREDICT:
            put((uint32_t)predict(&options));
            break;
        case TELL:
            put((uint32_t)tell(&options));
            break;
        case READ:
            for (table = 0; table < 11; table++)
                put_counters(table);
            break;
        case RESET:
            put((uint32_t)calib_monitors_reset(&monitors, &calibrator));
            break;
        default:
            put((uint32_t)restart());
            break;
        }
    }
    return fclose(asked) == 0 && fclose(answered) == 0 ? 0 : 1;
}
