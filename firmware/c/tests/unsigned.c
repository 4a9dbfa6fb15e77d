/* With a library that was built without signatures, a key is refused, and never ignored.
 *
 * usage: unsigned KEY, the 32 bytes of a public key */

#include "hostile.h"

int main(int argc, char **argv)
{
    static struct chip chip;
    static calib_device_t device;
    static uint64_t staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS];
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    const size_t words = CALIB_BUFFER_WORDS;
    calib_device_config_t config;
    calib_store_t store;
    struct file key;

    if (argc != 2)
        return 2;
    key = load(argv[1]);
    TRUE(key.len == CALIB_KEY_BYTES);
    new_chip(&chip);
    config = config_of(&chip);
    memset(&store, 0, sizeof store);
    EXPECT(calib_store_open(&store, &config.flash, &layout, classifier, key.bytes, staged, words), CALIB_ERROR_UNSUPPORTED);
    EXPECT(calib_store_load(&store, (calib_calibrator_t *)(void *)loaded), CALIB_ERROR_STATE);
    EXPECT(calib_store_open(&store, &config.flash, &layout, classifier, NULL, staged, words), CALIB_OK);
    EXPECT(calib_device_open(&device, &config, staged, loaded, words), CALIB_OK);
    config.key = key.bytes;
    EXPECT(calib_device_open(&device, &config, staged, loaded, words), CALIB_ERROR_UNSUPPORTED);
    free(key.words);
    printf("%u checks\n", checks);
    return 0;
}
