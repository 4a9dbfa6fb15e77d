/* A firmware with a classifier of its own: everything else is one call. */

#include <string.h>

#include "board.h"
#include "calib.h"
#include "tree.h"

static calib_device_t device;
static uint64_t staged[CALIB_BUFFER_WORDS];
static uint64_t loaded[CALIB_BUFFER_WORDS];
static calib_monitors_t monitors;
static uint64_t counters[CALIB_COUNTERS_WORDS];

/* Raises the alarm, and stops. */
static void stop(void)
{
    (void)board.set_alarm(board.context, 1);
    for (;;) {
    }
}

static int32_t open(void)
{
    calib_device_config_t config;
    int32_t error = CALIB_CHECK();

    if (error == CALIB_OK)
        error = calib_monitors_open(&monitors, counters, CALIB_COUNTERS_WORDS);
    if (error != CALIB_OK)
        return error;
    (void)memset(&config, 0, sizeof config);
    config.classifier.classify = tree_classify;
    config.classifier.name = "tree";
    (void)memcpy(config.classifier.id, CLASSIFIER_ID, sizeof config.classifier.id);
    config.classifier.features = TREE_FEATURES;
    config.classifier.classes = 2;
    config.classifier.output = CALIB_OUTPUT_SCORE;
    config.board = board;
    config.flash = board_flash;
    config.layout = board_layout;
    config.monitors = &monitors;
    config.alarm_threshold = 0.5F;
    return calib_device_open(&device, &config, staged, loaded, CALIB_BUFFER_WORDS);
}

int main(void)
{
    static uint8_t reply[CALIB_REPLY_BYTES];
    size_t taken, reply_len;
    uint8_t byte;

    board_start();
    if (open() != CALIB_OK)
        stop();
    for (;;) {
        byte = board_receive();
        if (calib_device_take(&device, &byte, 1, &taken, reply, sizeof reply, &reply_len) != CALIB_OK)
            stop();
        if (reply_len > 0)
            board_send(reply, reply_len);
    }
}
