/* What the programs share that call the library as it must not be called. */

#ifndef HOSTILE_H
#define HOSTILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib.h"

enum { SLOT = 8192, SECTOR = 4096, FLASH = 4 * SECTOR };

static unsigned checks;

static void expect_at(int32_t got, int32_t expected, const char *call, int line)
{
    checks++;
    if (got != expected) {
        fprintf(stderr, "line %d: %s\n  gives %ld (%s)\n  not   %ld (%s)\n", line, call, (long)got, calib_error_text(got),
                (long)expected, calib_error_text(expected));
        exit(1);
    }
}

#define EXPECT(call, expected) expect_at((call), (expected), #call, __LINE__)
#define TRUE(condition) expect_at((condition) ? 1 : 0, 1, #condition, __LINE__)

/* Flash in memory, and how many more calls of a callback succeed; every one after that fails. */
struct chip {
    uint8_t bytes[FLASH];
    unsigned reads, writes, erases;
    void *state;
    int32_t refused;
};

static inline int32_t chip_read(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    struct chip *chip = context;

    if (chip->reads == 0)
        return -1;
    chip->reads--;
    TRUE(offset + len <= FLASH);
    memcpy(bytes, chip->bytes + offset, len);
    return 0;
}

static inline int32_t chip_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    struct chip *chip = context;
    uint32_t i;

    if (chip->writes == 0)
        return 7;
    chip->writes--;
    TRUE(offset % 32 == 0 && len % 32 == 0 && offset + len <= FLASH);
    for (i = 0; i < len; i++) {
        TRUE(chip->bytes[offset + i] == 0xFF);
        chip->bytes[offset + i] = bytes[i];
    }
    return 0;
}

static inline int32_t chip_erase(void *context, uint32_t offset, uint32_t len)
{
    struct chip *chip = context;

    if (chip->erases == 0)
        return 1;
    chip->erases--;
    TRUE(offset % SECTOR == 0 && len == SECTOR && offset + len <= FLASH);
    memset(chip->bytes + offset, 0xFF, len);
    return 0;
}

static const uint8_t classifier[8] = {'u', 'p', 'd', 'a', 't', 'e', 's', '!'};

struct file {
    uint32_t *words;
    const uint8_t *bytes;
    size_t len;
};

static inline struct file load(const char *path)
{
    FILE *stream = fopen(path, "rb");
    struct file file;
    long end;

    TRUE(stream != NULL);
    TRUE(fseek(stream, 0, SEEK_END) == 0);
    end = ftell(stream);
    TRUE(end > 0 && fseek(stream, 0, SEEK_SET) == 0);
    file.len = (size_t)end;
    file.words = malloc(file.len);
    TRUE(file.words != NULL && fread(file.words, 1, file.len, stream) == file.len);
    file.bytes = (const uint8_t *)file.words;
    TRUE(fclose(stream) == 0);
    return file;
}

static inline calib_flash_t flash_of(struct chip *chip)
{
    calib_flash_t flash = {NULL, chip_read, chip_write, chip_erase, FLASH, SECTOR};

    flash.context = chip;
    return flash;
}

static inline void new_chip(struct chip *chip)
{
    memset(chip, 0, sizeof *chip);
    memset(chip->bytes, 0xFF, sizeof chip->bytes);
    chip->reads = chip->writes = chip->erases = 1000000;
}

static int alarms, alarm_fails, classify_fails;

static inline int32_t set_alarm(void *context, uint8_t raised)
{
    (void)context;
    alarms = raised;
    return alarm_fails;
}

static inline int32_t classify(void *context, const float *features, size_t count, float *output, size_t output_len)
{
    (void)context;
    TRUE(count == 2 && output_len == 1);
    output[0] = features[0] / 10.0F;
    return classify_fails;
}

static inline calib_device_config_t config_of(struct chip *chip)
{
    calib_device_config_t config;

    memset(&config, 0, sizeof config);
    config.classifier.classify = classify;
    config.classifier.name = "hostile";
    memcpy(config.classifier.id, classifier, sizeof classifier);
    config.classifier.features = 2;
    config.classifier.classes = 2;
    config.classifier.output = CALIB_OUTPUT_SCORE;
    config.board.set_alarm = set_alarm;
    config.flash = flash_of(chip);
    config.layout.offsets[1] = SLOT;
    config.layout.slot_bytes = SLOT;
    config.alarm_threshold = 0.5F;
    return config;
}

#endif
