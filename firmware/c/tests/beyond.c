/* Claims that there is one value more than there is: the sanitizer must end the program, and say that it was the library that looked.
 *
 * usage: beyond WHICH BINARY CONFIDENCE CLASS_WISE TOP_K CODES_U8, artifacts of probabilities, of logits of 7 classes (three) and of codes of 7. */

#include "hostile.h"

enum { BINARY, CONFIDENCE, CLASS_WISE, TOP_K, CODES_U8, FILES };

enum { CLASSES = 7 };

static calib_calibrator_t k;
static struct file files[FILES];

static void open(int file)
{
    EXPECT(calib_open(&k, files[file].bytes, files[file].len, NULL), CALIB_OK);
}

int main(int argc, char **argv)
{
    static struct chip chip;
    static calib_device_t device;
    static uint64_t staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS];
    static uint8_t reply[CALIB_REPLY_BYTES];
    float *vector = calloc(CLASSES - 1, sizeof(float)), *probs = malloc((CLASSES - 1) * sizeof(float));
    float whole[CLASSES] = {1.0F};
    uint16_t *space = malloc((CLASSES - 1) * sizeof(uint16_t));
    uint8_t *codes = calloc(CLASSES - 1, 1), all_codes[CLASSES] = {0};
    calib_result_t *results = malloc(2 * sizeof(calib_result_t)), *result = malloc(sizeof(calib_result_t));
    calib_device_config_t config;
    size_t taken, reply_len;
    int i;

    if (argc != FILES + 2)
        return 2;
    for (i = 0; i < FILES; i++)
        files[i] = load(argv[i + 2]);
    new_chip(&chip);
    config = config_of(&chip);
    vector[0] = 1.0F;
    EXPECT(calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS), CALIB_OK);
    switch (atoi(argv[1])) {
    case 0:
        return calib_open(&k, files[BINARY].bytes, files[BINARY].len + 1, NULL);
    case 1:
        open(CONFIDENCE);
        return calib_apply_probs(&k, vector, CLASSES, NULL, result);
    case 2:
        open(CLASS_WISE);
        return calib_apply_all_logits(&k, whole, CLASSES, NULL, probs, CLASSES, result);
    case 3:
        open(TOP_K);
        return calib_apply_top_k_logits(&k, whole, CLASSES, NULL, results, 3);
    case 4:
        open(CODES_U8);
        return calib_apply_u8(&k, codes, CLASSES, space, NULL, result);
    case 5:
        open(CODES_U8);
        return calib_apply_u8(&k, all_codes, CLASSES, space, NULL, result);
    case 6:
        return calib_device_take(&device, codes, CLASSES, &taken, reply, sizeof reply, &reply_len);
    default:
        return 3;
    }
}
