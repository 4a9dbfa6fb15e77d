/* A device on this machine: the bytes of a file are what its line receives, and what it answers is written to another.
 *
 * usage: device KEY RECEIVED SENT; KEY holds the 32 bytes of a public key, or none */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib.h"

enum { SECTOR = 4096, SLOT = 8192, JOURNAL = 2 * SLOT, FLASH = JOURNAL + 2 * SECTOR };

static uint8_t flash[FLASH];

static int32_t flash_read(void *context, uint32_t offset, uint8_t *bytes, uint32_t len)
{
    (void)context;
    memcpy(bytes, flash + offset, len);
    return 0;
}

static int32_t flash_write(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
    (void)context;
    memcpy(flash + offset, bytes, len);
    return 0;
}

static int32_t flash_erase(void *context, uint32_t offset, uint32_t len)
{
    (void)context;
    memset(flash + offset, 0xFF, len);
    return 0;
}

static int32_t set_alarm(void *context, uint8_t raised)
{
    (void)context;
    (void)raised;
    return 0;
}

/* The score is the feature. */
static int32_t classify(void *context, const float *features, size_t count, float *output, size_t output_len)
{
    (void)context;
    if (count != 1 || output_len != 1)
        return 1;
    output[0] = features[0];
    return 0;
}

static size_t fill(const char *path, uint8_t *bytes, size_t room)
{
    FILE *stream = fopen(path, "rb");
    size_t len = stream != NULL ? fread(bytes, 1, room, stream) : 0;

    if (stream == NULL || fclose(stream) != 0)
        exit(1);
    return len;
}

int main(int argc, char **argv)
{
    static calib_device_t device;
    static calib_monitors_t monitors;
    static uint64_t staged[CALIB_BUFFER_WORDS], loaded[CALIB_BUFFER_WORDS], counters[CALIB_COUNTERS_WORDS];
    static uint8_t received[1 << 20], reply[CALIB_REPLY_BYTES], key[CALIB_KEY_BYTES];
    const calib_flash_t callbacks = {NULL, flash_read, flash_write, flash_erase, FLASH, SECTOR};
    calib_device_config_t config;
    calib_journal_t journal;
    size_t len, at, taken, reply_len;
    FILE *sent;

    if (argc != 4)
        return 1;
    memset(flash, 0xFF, sizeof flash);
    memset(&journal, 0, sizeof journal);
    journal.flash = callbacks;
    journal.offset = JOURNAL;
    journal.len_bytes = 2 * SECTOR;
    journal.every = 8;
    memset(&config, 0, sizeof config);
    config.classifier.classify = classify;
    config.classifier.name = "on the host";
    memcpy(config.classifier.id, "updates!", sizeof config.classifier.id);
    config.classifier.features = 1;
    config.classifier.classes = 2;
    config.classifier.output = CALIB_OUTPUT_SCORE;
    config.board.set_alarm = set_alarm;
    config.flash = callbacks;
    config.layout.offsets[1] = SLOT;
    config.layout.slot_bytes = SLOT;
    config.key = fill(argv[1], key, sizeof key) == sizeof key ? key : NULL;
    config.monitors = &monitors;
    config.alarm_threshold = 0.5F;
    if (calib_monitors_open_persistent(&monitors, counters, CALIB_COUNTERS_WORDS, &journal) != CALIB_OK)
        return 2;
    if (calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS) != CALIB_OK)
        return 3;
    len = fill(argv[2], received, sizeof received);
    sent = fopen(argv[3], "wb");
    if (sent == NULL)
        return 1;
    for (at = 0; at < len; at += taken) {
        if (calib_device_take(&device, received + at, len - at, &taken, reply, sizeof reply, &reply_len) != CALIB_OK)
            return 4;
        if (fwrite(reply, 1, reply_len, sent) != reply_len)
            return 1;
    }
    return fclose(sent) == 0 ? 0 : 1;
}
