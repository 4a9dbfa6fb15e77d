/* Asks the library what a file of words says, and writes the answers as words: what a Rust test compares with calib-core.
 *
 * usage: parity ASKED ANSWERED
 * ASKED: the artifact's length in bytes, its bytes up to a whole word, the number of questions; of each question its kind,
 * whether it has a word, the word, whether it has a group, the group, the number of values, the values. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib.h"

enum kind {
    SCORE, MARGIN, CODE, LOGITS, PROBS, KEYS, I8, U8, ALL_LOGITS, ALL_PROBS, TOP_K_LOGITS, TOP_K_PROBS
};

enum { MAX_VALUES = 128, MAX_RESULTS = 16 };

static FILE *answered;

static void put(uint32_t word)
{
    if (fwrite(&word, sizeof word, 1, answered) != 1)
        exit(3);
}

static void put_float(float number)
{
    uint32_t word;

    memcpy(&word, &number, sizeof word);
    put(word);
}

static void put_result(const calib_result_t *result)
{
    size_t i;

    put_float(result->prob);
    put_float(result->epsilon);
    put_float(result->interval_low);
    put_float(result->interval_high);
    for (i = 0; i < CALIB_SET_WORDS; i++)
        put(result->set[i]);
    put(result->class_index);
    put(result->bin);
    put(result->reason);
    put(result->flags);
    put(result->has_interval);
    put(result->has_set);
    put(result->action);
    put(result->verdict);
    put(result->alarm);
}

static void put_info(const calib_calibrator_t *calibrator, calib_info_t *info)
{
    size_t i;

    if (calib_info(calibrator, info) != CALIB_OK)
        exit(4);
    put((uint32_t)info->n);
    for (i = 0; i < sizeof info->identity; i++)
        put(info->identity[i]);
    put(info->len_bytes);
    put(info->counter);
    put(info->bins);
    put_float(info->alpha);
    put_float(info->epsilon);
    put(info->classes);
    put(info->top_k);
    put(info->all_floats);
    put(info->groups);
    put(info->actions);
    put(info->is_randomized);
    put(info->has_thresholds);
    put(info->has_sets);
    put(info->encoding);
    put_float(info->scale);
    put((uint32_t)info->zero_point);
    put(info->reduction);
    put(info->method);
    put(info->theorem);
}

/* The band at a score of one of the first three kinds, or why there is none. */
static void put_band(const calib_calibrator_t *calibrator, enum kind kind, float number, int32_t integer_code)
{
    calib_band_t band = {2.0F, 3.0F, 4.0F};
    int32_t error = kind == SCORE    ? calib_band_score(calibrator, number, &band)
                    : kind == MARGIN ? calib_band_margin(calibrator, number, &band)
                                     : calib_band_code(calibrator, integer_code, &band);

    put((uint32_t)error);
    put_float(band.low);
    put_float(band.high);
    put_float(band.alpha);
}

/* What the library for one table says of a score must be what the whole library says, byte for byte. */
static void compare_table(const calib_table_t *table, enum kind kind, float number, int32_t integer_code, int32_t error,
                          const calib_result_t *result)
{
    calib_result_t found;
    calib_band_t band = {2.0F, 3.0F, 4.0F};
    int32_t of_table = kind == SCORE    ? calib_table_score(table, number, &found)
                       : kind == MARGIN ? calib_table_margin(table, number, &found)
                                        : calib_table_code(table, integer_code, &found);
    int32_t of_band = kind == SCORE    ? calib_table_band_score(table, number, &band)
                      : kind == MARGIN ? calib_table_band_margin(table, number, &band)
                                       : calib_table_band_code(table, integer_code, &band);

    if (of_table != error || memcmp(&found, result, sizeof found) != 0)
        exit(8);
    put((uint32_t)of_band);
    put_float(band.low);
    put_float(band.high);
    put_float(band.alpha);
}

/* Answers one question; returns how many words it has. */
static size_t answer(const calib_calibrator_t *calibrator, const calib_table_t *table, const calib_info_t *info,
                     const uint32_t *words)
{
    const uint32_t *values = words + 6;
    const size_t count = words[5];
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};
    calib_result_t results[MAX_RESULTS];
    float floats[MAX_VALUES], probs[2 * MAX_VALUES];
    uint16_t keys[MAX_VALUES], space[MAX_VALUES];
    int8_t i8[MAX_VALUES];
    uint8_t u8[MAX_VALUES];
    size_t i, found = 1, floats_found = 0;
    int32_t error;

    if (count == 0 || count > MAX_VALUES)
        exit(5);
    memset(results, 0, sizeof results);
    options.has_word = (uint8_t)words[1];
    options.word = words[2];
    options.has_group = (uint8_t)words[3];
    options.group = (uint8_t)words[4];
    for (i = 0; i < count; i++) {
        memcpy(&floats[i], &values[i], sizeof floats[i]);
        keys[i] = (uint16_t)values[i];
        i8[i] = (int8_t)(int32_t)values[i];
        u8[i] = (uint8_t)values[i];
    }
    switch ((enum kind)words[0]) {
    case SCORE:
        error = calib_apply_score(calibrator, floats[0], &options, results);
        break;
    case MARGIN:
        error = calib_apply_margin(calibrator, floats[0], &options, results);
        break;
    case CODE:
        error = calib_apply_code(calibrator, (int32_t)values[0], &options, results);
        break;
    case LOGITS:
        error = calib_apply_logits(calibrator, floats, count, &options, results);
        break;
    case PROBS:
        error = calib_apply_probs(calibrator, floats, count, &options, results);
        break;
    case KEYS:
        error = calib_apply_keys(calibrator, keys, count, &options, results);
        break;
    case I8:
        error = calib_apply_i8(calibrator, i8, count, space, &options, results);
        break;
    case U8:
        error = calib_apply_u8(calibrator, u8, count, space, &options, results);
        break;
    case ALL_LOGITS:
        floats_found = info->classes;
        error = calib_apply_all_logits(calibrator, floats, count, &options, probs, info->all_floats, results);
        break;
    case ALL_PROBS:
        floats_found = info->classes;
        error = calib_apply_all_probs(calibrator, floats, count, &options, probs, info->all_floats, results);
        break;
    case TOP_K_LOGITS:
        found = info->top_k;
        error = calib_apply_top_k_logits(calibrator, floats, count, &options, results, MAX_RESULTS);
        break;
    case TOP_K_PROBS:
        found = info->top_k;
        error = calib_apply_top_k_probs(calibrator, floats, count, &options, results, MAX_RESULTS);
        break;
    default:
        exit(6);
    }
    put((uint32_t)error);
    if (error == CALIB_OK) {
        for (i = 0; i < found; i++) {
            /* Each names its calibrator, and none was counted. */
            if (memcmp(results[i].identity, info->identity, sizeof info->identity) != 0 || results[i].number != 0)
                exit(7);
            put_result(&results[i]);
        }
        for (i = 0; i < floats_found; i++)
            put_float(probs[i]);
    }
    if (words[0] <= CODE)
        put_band(calibrator, (enum kind)words[0], floats[0], (int32_t)values[0]);
    if (words[0] <= CODE && table != NULL)
        compare_table(table, (enum kind)words[0], floats[0], (int32_t)values[0], error, results);
    return 6 + count;
}

int main(int argc, char **argv)
{
    calib_calibrator_t calibrator;
    calib_info_t info, of_table;
    calib_table_t table;
    uint32_t *words;
    size_t len, at, left;
    FILE *asked;
    long end;
    int32_t error;

    if (argc != 3)
        return 2;
    asked = fopen(argv[1], "rb");
    answered = fopen(argv[2], "wb");
    if (asked == NULL || answered == NULL || fseek(asked, 0, SEEK_END) != 0)
        return 2;
    end = ftell(asked);
    if (end <= 0 || fseek(asked, 0, SEEK_SET) != 0)
        return 2;
    len = (size_t)end;
    words = malloc(len);
    if (words == NULL || fread(words, 1, len, asked) != len)
        return 2;
    error = calib_open(&calibrator, (const uint8_t *)(words + 1), words[0], NULL);
    if (error != CALIB_OK) {
        fprintf(stderr, "%s\n", calib_error_text(error));
        return 1;
    }
    put_info(&calibrator, &info);
    error = calib_table_open(&table, (const uint8_t *)(words + 1), words[0], NULL);
    put((uint32_t)error);
    if (error == CALIB_OK
        && (calib_table_info(&table, &of_table) != CALIB_OK || memcmp(&of_table, &info, offsetof(calib_info_t, reserved)) != 0))
        return 9;
    at = 1 + (words[0] + 3) / 4;
    for (left = words[at++]; left > 0; left--)
        at += answer(&calibrator, error == CALIB_OK ? &table : NULL, &info, words + at);
    free(words);
    fclose(asked);
    return fclose(answered) == 0 ? 0 : 3;
}
