/* Calls every calib_apply_... as it must not be called, with an artifact of the kind that it takes. All arrays are of exactly the length that
 * the function is told, so that the sanitizer sees whoever reads or writes more.
 *
 * usage: hostile_vectors BINARY MARGIN CODE CONFIDENCE CLASS_WISE TOP_K CODES_I8 CODES_U8 GROUPS, artifacts: of probabilities, margins and codes of
 * two classes, of logits of 7 classes (three), of codes of 40 and of 7 classes, and of two groups with thresholds. */

#include "hostile.h"

enum { BINARY, MARGIN, CODE, CONFIDENCE, CLASS_WISE, TOP_K, CODES_I8, CODES_U8, GROUPS, FILES };

enum { CLASSES = 7, CODE_CLASSES = 40 };

static struct file files[FILES];
static calib_calibrator_t k;
static calib_result_t result;
static calib_info_t info;

#define ODD(type, pointer) ((type *)((uintptr_t)(pointer) + 1))

/* Opens it where there is nothing behind it. */
static void open(int file)
{
    EXPECT(calib_open(&k, files[file].bytes, files[file].len, NULL), CALIB_OK);
    EXPECT(calib_info(&k, &info), CALIB_OK);
}

static void *exactly(size_t count, size_t size)
{
    void *place = calloc(count, size);

    TRUE(place != NULL);
    return place;
}

static const float *probs_of(size_t count)
{
    float *vector = exactly(count, sizeof(float));

    vector[0] = 1.0F;
    return vector;
}

static void single(void)
{
    const float infinite = strtof("inf", NULL), not_a_number = strtof("nan", NULL);
    calib_options_t options = {NULL, 0, 0, 0, 0, 0};

    open(MARGIN);
    EXPECT(calib_apply_margin(&k, 0.5F, NULL, &result), CALIB_OK);
    EXPECT(calib_apply_margin(NULL, 0.5F, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_margin(ODD(calib_calibrator_t, &k), 0.5F, NULL, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_margin(&k, 0.5F, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_margin(&k, 0.5F, ODD(calib_options_t, &options), &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_margin(&k, infinite, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_margin(&k, -infinite, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_margin(&k, not_a_number, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_score(&k, 0.5F, NULL, &result), CALIB_ERROR_ENCODING);

    open(CODE);
    TRUE(info.encoding == CALIB_ENCODING_I8);
    EXPECT(calib_apply_code(&k, -128, NULL, &result), CALIB_OK);
    EXPECT(calib_apply_code(&k, 127, NULL, &result), CALIB_OK);
    EXPECT(calib_apply_code(&k, -129, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_code(&k, 128, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_code(&k, INT32_MIN, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_code(&k, INT32_MAX, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(calib_apply_code(NULL, 0, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_code(&k, 0, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_code(&k, 0, NULL, ODD(calib_result_t, &result)), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_margin(&k, 0.5F, NULL, &result), CALIB_ERROR_ENCODING);

    open(GROUPS);
    TRUE(info.groups == 2);
    EXPECT(calib_apply_score(&k, 0.5F, NULL, &result), CALIB_ERROR_GROUP);
    options.has_group = 1;
    options.group = 1;
    EXPECT(calib_apply_score(&k, 0.5F, &options, &result), CALIB_OK);
    options.group = 2;
    EXPECT(calib_apply_score(&k, 0.5F, &options, &result), CALIB_ERROR_GROUP);
    options.group = 255;
    EXPECT(calib_apply_score(&k, 0.5F, &options, &result), CALIB_ERROR_GROUP);
    options.group = 1;
    options.has_group = 2;
    EXPECT(calib_apply_score(&k, 0.5F, &options, &result), CALIB_ERROR_ARGUMENT);
}

typedef int32_t apply_one(const calib_calibrator_t *, const float *, size_t, const calib_options_t *, calib_result_t *);
typedef int32_t apply_every(const calib_calibrator_t *, const float *, size_t, const calib_options_t *, float *, size_t, calib_result_t *);
typedef int32_t apply_first(const calib_calibrator_t *, const float *, size_t, const calib_options_t *, calib_result_t *, size_t);

static void floats_of_one(apply_one *apply, int takes_any_sum)
{
    const float *vector = probs_of(CLASSES), *more = probs_of(CLASSES + 1);
    float *bad = exactly(CLASSES, sizeof(float));
    size_t i;

    open(CONFIDENCE);
    EXPECT(apply(&k, vector, CLASSES, NULL, &result), CALIB_OK);
    EXPECT(apply(&k, vector, CLASSES - 1, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(apply(&k, more, CLASSES + 1, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(apply(&k, vector, 0, NULL, &result), CALIB_ERROR_SCORE);
    EXPECT(apply(&k, vector, SIZE_MAX / 4, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(apply(&k, vector, SIZE_MAX, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(apply(&k, NULL, CLASSES, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(apply(&k, ODD(const float, vector), CLASSES - 1, NULL, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(apply(&k, vector, CLASSES, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(apply(NULL, vector, CLASSES, NULL, &result), CALIB_ERROR_NULL);
    for (i = 0; i < CLASSES; i++) {
        bad[i] = strtof(i % 2 == 0 ? "nan" : "inf", NULL);
        EXPECT(apply(&k, bad, CLASSES, NULL, &result), CALIB_ERROR_SCORE);
        bad[i] = 0.0F;
    }
    EXPECT(apply(&k, bad, CLASSES, NULL, &result), takes_any_sum ? CALIB_OK : CALIB_ERROR_SCORE);
    open(CLASS_WISE);
    EXPECT(apply(&k, vector, CLASSES, NULL, &result), CALIB_ERROR_KIND);
    free((void *)(uintptr_t)vector);
    free((void *)(uintptr_t)more);
    free(bad);
}

static void floats_of_all(apply_every *apply)
{
    const float *vector = probs_of(CLASSES);
    float *probs;
    size_t len, i;

    open(CLASS_WISE);
    TRUE(info.all_floats >= CLASSES);
    for (len = 0; len <= info.all_floats; len++) {
        probs = exactly(len == 0 ? 1 : len, sizeof(float));
        EXPECT(apply(&k, vector, CLASSES, NULL, probs, len, &result), len < info.all_floats ? CALIB_ERROR_LENGTH : CALIB_OK);
        free(probs);
    }
    probs = exactly(info.all_floats, sizeof(float));
    len = info.all_floats;
    EXPECT(apply(&k, vector, CLASSES - 1, NULL, probs, len, &result), CALIB_ERROR_KIND);
    EXPECT(apply(&k, vector, 0, NULL, probs, len, &result), CALIB_ERROR_SCORE);
    EXPECT(apply(&k, NULL, CLASSES, NULL, probs, len, &result), CALIB_ERROR_NULL);
    EXPECT(apply(&k, ODD(const float, vector), CLASSES - 1, NULL, probs, len, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(apply(&k, vector, CLASSES, NULL, NULL, len, &result), CALIB_ERROR_NULL);
    EXPECT(apply(&k, vector, CLASSES, NULL, ODD(float, probs), len, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(apply(&k, vector, CLASSES, NULL, probs, SIZE_MAX, &result), CALIB_ERROR_LENGTH);
    EXPECT(apply(&k, vector, CLASSES, NULL, probs, len, NULL), CALIB_ERROR_NULL);
    EXPECT(apply(&k, vector, CLASSES, NULL, probs, len, ODD(calib_result_t, &result)), CALIB_ERROR_ALIGNMENT);
    EXPECT(apply(NULL, vector, CLASSES, NULL, probs, len, &result), CALIB_ERROR_NULL);
    EXPECT(apply(&k, vector, CLASSES, NULL, probs, len, &result), CALIB_OK);
    for (i = 0; i < CLASSES; i++)
        TRUE(!(probs[i] < 0.0F) && !(probs[i] > 1.0F));
    open(TOP_K);
    EXPECT(apply(&k, vector, CLASSES, NULL, probs, len, &result), CALIB_ERROR_KIND);
    free((void *)(uintptr_t)vector);
    free(probs);
}

static void floats_of_the_first(apply_first *apply)
{
    const float *vector = probs_of(CLASSES);
    calib_result_t *results;
    size_t len;

    open(TOP_K);
    TRUE(info.top_k == 3);
    for (len = 0; len <= 3; len++) {
        results = exactly(len == 0 ? 1 : len, sizeof(calib_result_t));
        EXPECT(apply(&k, vector, CLASSES, NULL, results, len), len < 3 ? CALIB_ERROR_LENGTH : CALIB_OK);
        free(results);
    }
    results = exactly(3, sizeof(calib_result_t));
    EXPECT(apply(&k, vector, CLASSES - 1, NULL, results, 3), CALIB_ERROR_KIND);
    EXPECT(apply(&k, vector, 0, NULL, results, 3), CALIB_ERROR_SCORE);
    EXPECT(apply(&k, NULL, CLASSES, NULL, results, 3), CALIB_ERROR_NULL);
    EXPECT(apply(&k, ODD(const float, vector), CLASSES - 1, NULL, results, 3), CALIB_ERROR_ALIGNMENT);
    EXPECT(apply(&k, vector, CLASSES, NULL, NULL, 3), CALIB_ERROR_NULL);
    EXPECT(apply(&k, vector, CLASSES, NULL, ODD(calib_result_t, results), 2), CALIB_ERROR_ALIGNMENT);
    EXPECT(apply(&k, vector, CLASSES, NULL, results, SIZE_MAX), CALIB_ERROR_LENGTH);
    EXPECT(apply(NULL, vector, CLASSES, NULL, results, 3), CALIB_ERROR_NULL);
    open(CLASS_WISE);
    EXPECT(apply(&k, vector, CLASSES, NULL, results, 3), CALIB_ERROR_KIND);
    free((void *)(uintptr_t)vector);
    free(results);
}

static void codes(void)
{
    int8_t *i8 = exactly(CODE_CLASSES, 1);
    uint8_t *u8 = exactly(CLASSES, 1);
    uint16_t *space = exactly(CODE_CLASSES, sizeof(uint16_t)), *keys = exactly(CLASSES, sizeof(uint16_t));
    size_t i;

    open(CODES_I8);
    TRUE(info.encoding == CALIB_ENCODING_I8 && info.classes == CODE_CLASSES);
    for (i = 0; i < CODE_CLASSES; i++)
        i8[i] = (int8_t)(i % 2 == 0 ? -128 : 127);
    EXPECT(calib_apply_i8(&k, i8, CODE_CLASSES, space, NULL, &result), CALIB_OK);
    TRUE(space[0] == 0 && space[1] == 255);
    EXPECT(calib_apply_i8(&k, i8, CODE_CLASSES - 1, space, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_i8(&k, i8, 0, space, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_i8(&k, i8, SIZE_MAX, space, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(calib_apply_i8(&k, NULL, CODE_CLASSES, space, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_i8(&k, i8, CODE_CLASSES, NULL, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_i8(&k, i8, CODE_CLASSES - 1, ODD(uint16_t, space), NULL, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_i8(&k, i8, CODE_CLASSES, space, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_i8(NULL, i8, CODE_CLASSES, space, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_u8(&k, u8, CLASSES, space, NULL, &result), CALIB_ERROR_ENCODING);

    open(CODES_U8);
    TRUE(info.encoding == CALIB_ENCODING_U8 && info.classes == CLASSES);
    u8[3] = 255;
    EXPECT(calib_apply_u8(&k, u8, CLASSES, space, NULL, &result), CALIB_OK);
    TRUE(space[0] == 0 && space[3] == 255 && result.class_index == 3);
    EXPECT(calib_apply_u8(&k, u8, CLASSES - 1, space, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_u8(&k, u8, 0, space, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_u8(&k, u8, SIZE_MAX, space, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(calib_apply_u8(&k, NULL, CLASSES, space, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_u8(&k, u8, CLASSES, NULL, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_u8(&k, u8, CLASSES, ODD(uint16_t, space), NULL, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_u8(&k, u8, CLASSES, space, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_u8(NULL, u8, CLASSES, space, NULL, &result), CALIB_ERROR_NULL);
    EXPECT(calib_apply_i8(&k, i8, CODE_CLASSES, space, NULL, &result), CALIB_ERROR_ENCODING);

    keys[5] = 255;
    EXPECT(calib_apply_keys(&k, keys, CLASSES, NULL, &result), CALIB_OK);
    TRUE(result.class_index == 5);
    keys[5] = 256;
    EXPECT(calib_apply_keys(&k, keys, CLASSES, NULL, &result), CALIB_ERROR_SCORE);
    keys[5] = 0;
    EXPECT(calib_apply_keys(&k, keys, CLASSES - 1, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_keys(&k, keys, 0, NULL, &result), CALIB_ERROR_KIND);
    EXPECT(calib_apply_keys(&k, keys, SIZE_MAX, NULL, &result), CALIB_ERROR_LENGTH);
    EXPECT(calib_apply_keys(&k, ODD(uint16_t, keys), CLASSES - 1, NULL, &result), CALIB_ERROR_ALIGNMENT);
    EXPECT(calib_apply_keys(&k, keys, CLASSES, NULL, NULL), CALIB_ERROR_NULL);
    EXPECT(calib_apply_keys(NULL, keys, CLASSES, NULL, &result), CALIB_ERROR_NULL);
    open(CONFIDENCE);
    EXPECT(calib_apply_keys(&k, keys, CLASSES, NULL, &result), CALIB_ERROR_ENCODING);
    free(i8);
    free(u8);
    free(space);
    free(keys);
}

int main(int argc, char **argv)
{
    int i;

    if (argc != FILES + 1)
        return 2;
    for (i = 0; i < FILES; i++)
        files[i] = load(argv[i + 1]);
    single();
    floats_of_one(calib_apply_logits, 1);
    floats_of_one(calib_apply_probs, 0);
    floats_of_all(calib_apply_all_logits);
    floats_of_all(calib_apply_all_probs);
    floats_of_the_first(calib_apply_top_k_logits);
    floats_of_the_first(calib_apply_top_k_probs);
    codes();
    for (i = 0; i < FILES; i++)
        free(files[i].words);
    printf("%u checks\n", checks);
    return 0;
}
