/* Slots that take what is signed alone.
 *
 * usage: hostile_signed KEY OTHER_KEY FIRST SAME NEWER UNCOUNTED UNSIGNED NEXT REVOKED, the 32 bytes of two public keys, and binary artifacts for the classifier
 * "updates!": all but UNSIGNED and NEXT are signed with the first key; the first two have the same counter, the third a greater one, the fourth none.
 * NEXT is signed with the other key, which the first one names in its place; REVOKED has the greatest counter. */

#include "hostile.h"

int main(int argc, char **argv)
{
    static struct chip chip;
    static uint64_t buffer[CALIB_BUFFER_WORDS];
    static const uint8_t no_point[CALIB_KEY_BYTES] = {2};
    const calib_layout_t layout = {{0, SLOT}, SLOT, CALIB_ERASED_ONES, {0, 0, 0}};
    const calib_flash_t flash = flash_of(&chip);
    const size_t words = CALIB_BUFFER_WORDS;
    enum { KEY, OTHER_KEY, FIRST, SAME, NEWER, UNCOUNTED, UNSIGNED, NEXT, REVOKED, FILES };
    struct file files[FILES];
    calib_calibrator_t calibrator;
    calib_slots_t found;
    calib_store_t store;
    int i;

    if (argc != FILES + 1)
        return 2;
    for (i = 0; i < FILES; i++)
        files[i] = load(argv[i + 1]);
    TRUE(files[KEY].len == CALIB_KEY_BYTES && files[OTHER_KEY].len == CALIB_KEY_BYTES);
    new_chip(&chip);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, no_point, buffer, words), CALIB_ERROR_KEY);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, files[OTHER_KEY].bytes, buffer, words), CALIB_OK);
    EXPECT(calib_store_install(&store, files[FIRST].bytes, files[FIRST].len, NULL), CALIB_ERROR_SIGNATURE);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, files[KEY].bytes, buffer, words), CALIB_OK);
    EXPECT(calib_store_install(&store, files[UNSIGNED].bytes, files[UNSIGNED].len, NULL), CALIB_ERROR_SIGNATURE);
    EXPECT(calib_store_install(&store, files[UNCOUNTED].bytes, files[UNCOUNTED].len, NULL), CALIB_ERROR_NO_COUNTER);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_ERROR_BLANK);
    EXPECT(calib_store_install(&store, files[FIRST].bytes, files[FIRST].len, NULL), CALIB_OK);
    EXPECT(calib_store_install(&store, files[SAME].bytes, files[SAME].len, NULL), CALIB_ERROR_SAME_COUNTER);
    EXPECT(calib_store_install(&store, files[NEWER].bytes, files[NEWER].len, NULL), CALIB_OK);
    EXPECT(calib_store_install(&store, files[FIRST].bytes, files[FIRST].len, NULL), CALIB_ERROR_DOWNGRADE);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_OK);
    /* Another owner trusts neither slot, though an installation is complete in both. */
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, files[OTHER_KEY].bytes, buffer, words), CALIB_OK);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_ERROR_SIGNATURE);
    EXPECT(calib_store_survey(&store, &found), CALIB_OK);
    TRUE(found.slots[0].status == CALIB_OK && found.slots[1].status == CALIB_OK && found.active == CALIB_NO_SLOT);
    /* The next key takes the place of the first, also after a restart. */
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, files[KEY].bytes, buffer, words), CALIB_OK);
    EXPECT(calib_store_install(&store, files[NEXT].bytes, files[NEXT].len, NULL), CALIB_OK);
    EXPECT(calib_store_install(&store, files[REVOKED].bytes, files[REVOKED].len, NULL), CALIB_ERROR_SIGNATURE);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, files[KEY].bytes, buffer, words), CALIB_OK);
    EXPECT(calib_store_install(&store, files[REVOKED].bytes, files[REVOKED].len, NULL), CALIB_ERROR_SIGNATURE);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_OK);
    EXPECT(calib_store_open(&store, &flash, &layout, classifier, files[OTHER_KEY].bytes, buffer, words), CALIB_OK);
    EXPECT(calib_store_load(&store, &calibrator), CALIB_OK);
    for (i = 0; i < FILES; i++)
        free(files[i].words);
    printf("%u checks\n", checks);
    return 0;
}
