/*
 * calib for C firmware: calibrated probabilities from artifacts, C99 and C++.
 *
 * cbindgen makes this file of `firmware/c/src`: change that.
 *
 * Threads and interrupts: nothing here is global. A calibrator that is open may be applied by several threads at once, and by
 * interrupts; everything that takes a store or a device without `const` is for one at a time, callbacks included. A callback that
 * calls with the state that called it, be it to open it again, gets CALIB_ERROR_BUSY. A calibrator that a call was given is neither opened
 * nor loaded by the callbacks of that call. No function allocates, waits for anything but its callbacks, or jumps out of
 * one.
 *
 * A program calls CALIB_CHECK() first: a library of another version is refused there.
 *
 * States are the caller's memory, whatever it holds. They may be static, and may be moved by nobody once they are open. Opening one again is
 * allowed, and nothing needs to be closed. Memory that keeps what it holds over a reset is cleared before a state is opened in it: a reset
 * within a call leaves the state in use.
 *
 * What a function writes must be no part of anything else that it works with: arguments, states, and what states were opened with. Where it
 * is, the function gives CALIB_ERROR_OVERLAP, and changes nothing. Memory that is only written may hold anything.
 */

#ifndef CALIB_H
#define CALIB_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX > 0xFFFFFFFFu
#define CALIB_64_BITS
#else
#define CALIB_NOT_64_BITS
#endif

/* Checks once, before any other function, that this header is that of the library: CALIB_OK, or CALIB_ERROR_VERSION. */
#define CALIB_CHECK() \
    calib_check(CALIB_VERSION, sizeof(calib_calibrator_t), sizeof(calib_store_t), sizeof(calib_device_t), \
                sizeof(calib_monitors_t), sizeof(calib_result_t))

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_calibrator_t`.
 */
#define CALIB_CALIBRATOR_WORDS 72
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_calibrator_t`.
 */
#define CALIB_CALIBRATOR_WORDS 112
#endif

/**
 * In `calib_info_t.encoding`: scores are floats from 0 to 1.
 */
#define CALIB_ENCODING_F32 0

/**
 * In `calib_info_t.encoding`: scores are codes from 0 to 255.
 */
#define CALIB_ENCODING_U8 1

/**
 * In `calib_info_t.encoding`: scores are codes from -128 to 127.
 */
#define CALIB_ENCODING_I8 2

/**
 * In `calib_info_t.encoding`: scores are codes from 0 to 65535.
 */
#define CALIB_ENCODING_U16 3

/**
 * In `calib_info_t.encoding`: scores are floats from 0 to 1, which are rounded to 16 bits.
 */
#define CALIB_ENCODING_ROUNDED_F32 4

/**
 * In `calib_info_t.encoding`: scores are codes from -32768 to 32767.
 */
#define CALIB_ENCODING_I16 5

/**
 * In `calib_info_t.encoding`: scores are any finite floats.
 */
#define CALIB_ENCODING_MARGIN 6

/**
 * In `calib_info_t.encoding`: scores are any finite floats, which are rounded to 16 bits.
 */
#define CALIB_ENCODING_ROUNDED_MARGIN 7

/**
 * In `calib_info_t.reduction`: class 1 of two.
 */
#define CALIB_REDUCTION_BINARY 0

/**
 * In `calib_info_t.reduction`: the predicted class, a table for each.
 */
#define CALIB_REDUCTION_TOP_LABEL 1

/**
 * In `calib_info_t.reduction`: the predicted class, one table.
 */
#define CALIB_REDUCTION_CONFIDENCE 2

/**
 * In `calib_info_t.reduction`: every class by itself.
 */
#define CALIB_REDUCTION_CLASS_WISE 3

/**
 * In `calib_info_t.reduction`: every class, divided by the sum.
 */
#define CALIB_REDUCTION_NORMALIZED 4

/**
 * In `calib_info_t.reduction`: the first few classes, a table for each rank and class.
 */
#define CALIB_REDUCTION_TOP_K_LABEL 5

/**
 * In `calib_info_t.reduction`: the first few classes, a table for each rank.
 */
#define CALIB_REDUCTION_TOP_K_CONFIDENCE 6

/**
 * In `calib_info_t.reduction`: whole vectors.
 */
#define CALIB_REDUCTION_JOINT 7

/**
 * In `calib_info_t.method`, `.reduction`, `.encoding` and `.theorem`: one that this header does not know, or none.
 */
#define CALIB_UNKNOWN 255

/**
 * In `calib_classifier_t.output`: one float from 0 to 1, the score of class 1 of two.
 */
#define CALIB_OUTPUT_SCORE 0

/**
 * In `calib_classifier_t.output`: one finite float, the margin of class 1 of two.
 */
#define CALIB_OUTPUT_MARGIN 1

/**
 * In `calib_classifier_t.output`: a logit for each class.
 */
#define CALIB_OUTPUT_LOGITS 2

/**
 * In `calib_classifier_t.output`: a probability for each class.
 */
#define CALIB_OUTPUT_PROBS 3

/**
 * Bytes of the longest name of a classifier, without the zero that ends it.
 */
#define CALIB_NAME_BYTES 32

/**
 * The most features, and the most classes, of a classifier behind a serial line.
 */
#define CALIB_MAX_VALUES 128

/**
 * In `calib_evidence_t.raised`: no alarm was raised.
 */
#define CALIB_NOT_RAISED 0

/**
 * In `calib_evidence_t.raised`: an alarm was raised, by the prediction or outcome `raised_at`, or by one since the look before it.
 */
#define CALIB_RAISED_AT 1

/**
 * In `calib_evidence_t.raised`: an alarm was raised, by the prediction `raised_at` or one before it.
 */
#define CALIB_RAISED_BY 2

/**
 * In `calib_counters_t.kept`: the counters are in memory alone.
 */
#define CALIB_KEPT_NOT 0

/**
 * In `calib_counters_t.kept`: the journal holds all but the last `unsaved` predictions and outcomes.
 */
#define CALIB_KEPT 1

/**
 * In `calib_counters_t.kept`: the flash failed when the counters were to be saved.
 */
#define CALIB_KEPT_FAILED 2

/**
 * In `calib_counters_t.kept`: as `CALIB_KEPT`, but counters were lost at the last start, an alarm perhaps among them.
 */
#define CALIB_KEPT_LOST 3

/**
 * In `calib_counters_t.kept`: this header does not know it.
 */
#define CALIB_KEPT_OTHER 255

/**
 * The most bins of a table in which predictions are counted.
 */
#define CALIB_COUNTED_BINS 32

/**
 * How many units the logarithm of e has in `calib_evidence_t`.
 */
#define CALIB_EVIDENCE_UNITS 16777216

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of the counters of `calib_monitors_open`.
 */
#define CALIB_COUNTERS_WORDS 85
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of the counters of `calib_monitors_open`.
 */
#define CALIB_COUNTERS_WORDS 88
#endif

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of the counters of `calib_monitors_open_many`.
 */
#define CALIB_MANY_COUNTERS_WORDS 339
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of the counters of `calib_monitors_open_many`.
 */
#define CALIB_MANY_COUNTERS_WORDS 342
#endif

/**
 * Bytes of saved counters of `calib_monitors_open`.
 */
#define CALIB_SAVED_BYTES 616

/**
 * Bytes of saved counters of `calib_monitors_open_many`.
 */
#define CALIB_MANY_SAVED_BYTES 2648

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_device_t`.
 */
#define CALIB_DEVICE_WORDS 432
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_device_t`.
 */
#define CALIB_DEVICE_WORDS 496
#endif

/**
 * Bytes of the longest reply.
 */
#define CALIB_REPLY_BYTES 608

/**
 * It worked.
 */
#define CALIB_OK 0

/**
 * A pointer is null.
 */
#define CALIB_ERROR_NULL -1

/**
 * A pointer is not aligned for what it points to; an artifact starts at a multiple of 4.
 */
#define CALIB_ERROR_ALIGNMENT -2

/**
 * A length is too small, or impossible.
 */
#define CALIB_ERROR_LENGTH -3

/**
 * Memory that is written overlaps other memory of the call, or of a state. Nothing was written.
 */
#define CALIB_ERROR_OVERLAP -4

/**
 * The state was never opened, or its opening failed; or another calibrator was loaded into the buffer of this one since, or failed to be.
 */
#define CALIB_ERROR_STATE -5

/**
 * A callback called a function with the state that called the callback; or the memory kept a state in use over a reset: clear it.
 */
#define CALIB_ERROR_BUSY -6

/**
 * A number that is no named constant, or a required callback that is missing.
 */
#define CALIB_ERROR_ARGUMENT -7

/**
 * The library was built without the feature that this needs.
 */
#define CALIB_ERROR_UNSUPPORTED -8

/**
 * The program was compiled with the header of another library.
 */
#define CALIB_ERROR_VERSION -9

/**
 * There is no artifact: the memory is blank.
 */
#define CALIB_ERROR_BLANK -20

/**
 * The bytes are no artifact that this version reads, or they are damaged.
 */
#define CALIB_ERROR_ARTIFACT -21

/**
 * The artifact is for another classifier.
 */
#define CALIB_ERROR_CLASSIFIER -22

/**
 * The artifact is not signed with the trusted key.
 */
#define CALIB_ERROR_SIGNATURE -23

/**
 * The 32 bytes are no public key.
 */
#define CALIB_ERROR_KEY -24

/**
 * The calibrator is not of this kind of scores or number of classes, or gives more than one probability.
 */
#define CALIB_ERROR_KIND -30

/**
 * The calibrator takes scores in another encoding.
 */
#define CALIB_ERROR_ENCODING -31

/**
 * A score is not a number, infinite, or out of its range; or probabilities do not add up to 1.
 */
#define CALIB_ERROR_SCORE -32

/**
 * The calibrator has groups, and the options name none of them.
 */
#define CALIB_ERROR_GROUP -33

/**
 * The slots do not fit the flash, its sectors or each other.
 */
#define CALIB_ERROR_LAYOUT -40

/**
 * A callback for the flash failed.
 */
#define CALIB_ERROR_FLASH -41

/**
 * The flash does not hold what was written.
 */
#define CALIB_ERROR_READ_BACK -42

/**
 * The artifact is longer than a slot, or than the buffer.
 */
#define CALIB_ERROR_TOO_LARGE -43

/**
 * No installation into the slot was completed.
 */
#define CALIB_ERROR_UNCOMMITTED -44

/**
 * The artifact's rollback counter is below that of the active calibrator.
 */
#define CALIB_ERROR_DOWNGRADE -45

/**
 * The artifact has no rollback counter, which a device with a trusted key requires.
 */
#define CALIB_ERROR_NO_COUNTER -46

/**
 * The artifact's rollback counter is that of another artifact in the slots.
 */
#define CALIB_ERROR_SAME_COUNTER -47

/**
 * The slots are not what they were when the calibrator was loaded: load it again.
 */
#define CALIB_ERROR_RELOAD -48

/**
 * The active calibrator cannot be made permanent, or the device's installations are used up.
 */
#define CALIB_ERROR_WORN -49

/**
 * The artifact changed while it was installed.
 */
#define CALIB_ERROR_CHANGED -50

/**
 * The callback for the alarm failed.
 */
#define CALIB_ERROR_ALARM -60

/**
 * The classifier failed, or its features are not as many finite numbers as it takes.
 */
#define CALIB_ERROR_CLASSIFY -61

/**
 * The calibrator has no monitors, none of this table, or several probabilities for a prediction.
 */
#define CALIB_ERROR_NOT_MONITORED -70

/**
 * The calibrator has more tables, or more bins in one, than the counters have room for.
 */
#define CALIB_ERROR_ROOM -71

/**
 * The monitors count the predictions of another calibrator, or of none yet; or the result is of another one.
 */
#define CALIB_ERROR_OTHER_CALIBRATOR -72

/**
 * The result has no bin that the calibrator counts outcomes of.
 */
#define CALIB_ERROR_BIN -73

/**
 * As many outcomes are known as predictions were counted; or the result is of no prediction that was counted.
 */
#define CALIB_ERROR_NO_PREDICTION -74

/**
 * A counter has reached what it can hold.
 */
#define CALIB_ERROR_FULL -75

/**
 * The bytes are no saved counters of these monitors and this calibrator, or damaged.
 */
#define CALIB_ERROR_SAVED -76

/**
 * The outcome comes too late: that of a prediction is known which was counted `CALIB_TOLD_WINDOW` later, or the counters were reset since.
 */
#define CALIB_ERROR_LATE -77

/**
 * The opposite outcome of the same prediction was told before. That one stands.
 */
#define CALIB_ERROR_TOLD -78

/**
 * The result is from before the restart. Nobody knows whether its outcome was told, as a journal does not hold that: it is not counted.
 */
#define CALIB_ERROR_RESTARTED -79

/**
 * In `calib_layout_t.erased`: erased bytes are 0xFF, as in nearly all flash.
 */
#define CALIB_ERASED_ONES 0

/**
 * In `calib_layout_t.erased`: erased bytes are 0x00.
 */
#define CALIB_ERASED_ZEROS 1

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_monitors_t`.
 */
#define CALIB_MONITORS_WORDS 13
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_monitors_t`.
 */
#define CALIB_MONITORS_WORDS 15
#endif

/**
 * In `calib_result_t.reason`: nothing is said, as the call failed or there was none. It is 0, so a cleared result says it.
 */
#define CALIB_NO_RESULT 0

/**
 * In `calib_result_t.reason`: there is a calibrated probability.
 */
#define CALIB_CALIBRATED 1

/**
 * In `calib_result_t.reason`: no table could be fitted for the class.
 */
#define CALIB_NO_CLASS 2

/**
 * In `calib_result_t.reason`: there is no calibrator.
 */
#define CALIB_NO_ARTIFACT 3

/**
 * In `calib_result_t.reason`: the calibrator is damaged.
 */
#define CALIB_BAD_ARTIFACT 4

/**
 * In `calib_result_t.reason`: the calibrator is for another classifier.
 */
#define CALIB_OTHER_CLASSIFIER 5

/**
 * In `calib_result_t.reason`: no calibration point is in the score's bin.
 */
#define CALIB_EMPTY_BIN 6

/**
 * In `calib_result_t.reason`: every class has the probability 0.
 */
#define CALIB_ZERO_SUM 7

/**
 * In `calib_result_t.reason`: there are thresholds or prediction sets alone, and no probability.
 */
#define CALIB_NO_TABLE 8

/**
 * In `calib_result_t.reason`: the monitors raised an alarm, and the calibrator asks for no probability from then on.
 */
#define CALIB_ALARMED 9

/**
 * In `calib_result_t.reason`: the calibrator asks for monitors, and the device has none, or none with room for its tables.
 */
#define CALIB_NOT_MONITORED 10

/**
 * In `calib_result_t.reason`: a reason that this header does not know.
 */
#define CALIB_OTHER_REASON 255

/**
 * A bit of `calib_result_t.flags`: the bin holds no calibration point.
 */
#define CALIB_FLAG_EMPTY 1

/**
 * A bit of `calib_result_t.flags`: the probability was divided by the sum over all classes.
 */
#define CALIB_FLAG_SHARED_OUT 2

/**
 * A bit of `calib_result_t.flags`: the score is outside the range of the calibration rows.
 */
#define CALIB_FLAG_OUT_OF_RANGE 4

/**
 * A bit of `calib_result_t.flags`: `bin` is a range of the score, and the interval holds the event rate of the range, whatever the calibrator.
 */
#define CALIB_FLAG_RANGE 8

/**
 * In `calib_result_t.alarm`: the rule raises the alarm, or there is no probability to go by. It is 0, so a cleared result says it.
 */
#define CALIB_ALARM_RAISED 0

/**
 * In `calib_result_t.alarm`: the rule lets it pass.
 */
#define CALIB_ALARM_CLEAR 1

/**
 * In `calib_result_t.alarm`: the artifact has no rule; the caller decides by the probability.
 */
#define CALIB_ALARM_NO_RULE 2

/**
 * In `calib_result_t.verdict`: the artifact has no thresholds.
 */
#define CALIB_VERDICT_NONE 0

/**
 * In `calib_result_t.verdict`: below the lower threshold.
 */
#define CALIB_VERDICT_NEGATIVE 1

/**
 * In `calib_result_t.verdict`: between the thresholds.
 */
#define CALIB_VERDICT_REFER 2

/**
 * In `calib_result_t.verdict`: from the upper threshold up.
 */
#define CALIB_VERDICT_POSITIVE 3

/**
 * In `calib_result_t.action`: the artifact has no decision rule.
 */
#define CALIB_NO_ACTION 255

/**
 * Words of a set of classes.
 */
#define CALIB_SET_WORDS 4

/**
 * Bytes of the longest artifact that is loaded into a buffer.
 */
#define CALIB_BUFFER_BYTES 4096

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of a buffer: `uint64_t buffer[CALIB_BUFFER_WORDS]`.
 */
#define CALIB_BUFFER_WORDS 514
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of a buffer: `uint64_t buffer[CALIB_BUFFER_WORDS]`.
 */
#define CALIB_BUFFER_WORDS 515
#endif

#if defined(CALIB_NOT_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_store_t`.
 */
#define CALIB_STORE_WORDS 48
#endif

#if defined(CALIB_64_BITS)
/**
 * Words, of 8 bytes, of a `calib_store_t`.
 */
#define CALIB_STORE_WORDS 56
#endif

/**
 * In `calib_slots_t.in_force`: neither slot holds a calibrator that is accepted.
 */
#define CALIB_NO_SLOT 255

/**
 * How far apart predictions may be whose outcomes are reported in any order. An outcome is rejected once the outcome of a prediction that
 * came this many later is known.
 */
#define CALIB_TOLD_WINDOW 256

/**
 * Bytes of a public key.
 */
#define CALIB_KEY_BYTES 32

/**
 * The first number of the version of this header.
 */
#define CALIB_VERSION_MAJOR 0

/**
 * The second number of the version of this header.
 */
#define CALIB_VERSION_MINOR 1

/**
 * The third number of the version of this header.
 */
#define CALIB_VERSION_PATCH 0

/**
 * The version of this header in one number, a byte for each part: 0x010203 is 1.2.3.
 */
#define CALIB_VERSION 256

/**
 * An artifact that was checked, and the calibrator in it. It points to the artifact's bytes, which stay where they are and do not
 * change while it is used. Opened by `calib_open` or `calib_store_load`; there is nothing to close. One that was loaded is refused with
 * `CALIB_ERROR_STATE` once the store has loaded again, whether that succeeded or not.
 */
typedef struct {
    /**
     * The library's own.
     */
    uint64_t opaque[CALIB_CALIBRATOR_WORDS];
} calib_calibrator_t;

/**
 * The monitors of a calibrator, over counters in other memory of the caller's. Opened by `calib_monitors_open` and its
 * like; there is nothing to close.
 */
typedef struct {
    /**
     * The library's own.
     */
    uint64_t opaque[CALIB_MONITORS_WORDS];
} calib_monitors_t;

/**
 * What a calibrator may be told besides scores. A null pointer stands for all zeros.
 */
typedef struct {
    /**
     * The monitors that count the prediction, begun with this calibrator; null counts nothing. They are for one thread at a time.
     */
    calib_monitors_t *monitors;
    /**
     * A random word, uniform and independent of the scores, for a randomized calibrator.
     */
    uint32_t word;
    /**
     * Whether there is a random word: 0 or 1.
     */
    uint8_t has_word;
    /**
     * The code of the patient's group, for an artifact with groups.
     */
    uint8_t group;
    /**
     * Whether there is a group: 0 or 1.
     */
    uint8_t has_group;
    /**
     * Always 0.
     */
    uint8_t reserved;
} calib_options_t;

/**
 * What is said of one output of the classifier. Copy it, keep it: it points nowhere.
 *
 * A call that fails leaves `CALIB_NO_RESULT` here, with the alarm raised and without a probability, unless the place itself is at fault.
 */
typedef struct {
    /**
     * The calibrated probability of class 1 of two, otherwise that the predicted class is right. Not a number unless `reason` is
     * `CALIB_CALIBRATED`, so that a comparison with it is false.
     */
    float prob;
    /**
     * The guaranteed bound on the difference between `prob` and the event frequency of the bin; not a number without a guarantee. It fails with
     * probability at most `calib_info_t.alpha`.
     */
    float epsilon;
    /**
     * The lower end of the probability's interval; meaningful if `has_interval` is 1.
     */
    float interval_low;
    /**
     * The upper end of the probability's interval.
     */
    float interval_high;
    /**
     * The prediction set, if `has_set` is 1: class `c` is bit `c % 32` of word `c / 32`.
     */
    uint32_t set[CALIB_SET_WORDS];
    /**
     * The name of the calibrator; zeros if there is none.
     */
    uint8_t identity[8];
    /**
     * The number of the prediction, which no other prediction that the monitors counted has: from 1 on, and with a journal behind all numbers of
     * earlier starts. 0 if it was not counted, or if the journal could not reserve a number. `calib_monitors_tell` knows the prediction by it.
     */
    uint32_t number;
    /**
     * The predicted class; 1 of a binary calibrator.
     */
    uint16_t class_index;
    /**
     * The bin of the score.
     */
    uint16_t bin;
    /**
     * `CALIB_CALIBRATED`, or why there is no probability.
     */
    uint8_t reason;
    /**
     * Bits `CALIB_FLAG_...`.
     */
    uint8_t flags;
    /**
     * Whether there is an interval: 0 or 1.
     */
    uint8_t has_interval;
    /**
     * Whether there is a prediction set: 0 or 1.
     */
    uint8_t has_set;
    /**
     * The number of the decision rule's action, or `CALIB_NO_ACTION`.
     */
    uint8_t action;
    /**
     * `CALIB_VERDICT_...`: what the thresholds say.
     */
    uint8_t verdict;
    /**
     * `CALIB_ALARM_...`.
     */
    uint8_t alarm;
    /**
     * Always 0.
     */
    uint8_t reserved;
} calib_result_t;

/**
 * The band at a score. If a higher score never means a lower probability, the probability of an event lies in the band for every score
 * simultaneously. This fails with probability at most `alpha` over the labels of the calibration set.
 */
typedef struct {
    /**
     * The lower end.
     */
    float low;
    /**
     * The upper end.
     */
    float high;
    /**
     * The largest probability that the band does not hold for all scores.
     */
    float alpha;
} calib_band_t;

/**
 * What an artifact says of its calibrator.
 */
typedef struct {
    /**
     * The number of calibration rows.
     */
    uint64_t n;
    /**
     * The artifact's name, a hash of its content.
     */
    uint8_t identity[8];
    /**
     * The artifact's length in bytes.
     */
    uint32_t len_bytes;
    /**
     * The artifact's counter; 0 if it has none.
     */
    uint32_t counter;
    /**
     * The number of bins.
     */
    uint32_t bins;
    /**
     * The largest probability that the guarantee does not hold; not a number without a guarantee.
     */
    float alpha;
    /**
     * The guaranteed bound on the difference between probability and event frequency, of all bins; not a number without a guarantee.
     */
    float epsilon;
    /**
     * The difference between neighboring codes' scores; 0 of floats.
     */
    float scale;
    /**
     * The code of the score 0; 0 of floats.
     */
    int32_t zero_point;
    /**
     * The number of classes.
     */
    uint16_t classes;
    /**
     * How many results `calib_apply_top_k_...` gives; 0 of other calibrators.
     */
    uint16_t top_k;
    /**
     * How many floats `calib_apply_all_...` needs; 0 of other calibrators.
     */
    uint16_t all_floats;
    /**
     * `CALIB_ENCODING_...`.
     */
    uint8_t encoding;
    /**
     * `CALIB_REDUCTION_...`.
     */
    uint8_t reduction;
    /**
     * The method's number in the artifact format, or `CALIB_UNKNOWN`.
     */
    uint8_t method;
    /**
     * The number of the guarantee's theorem in the artifact format, or `CALIB_UNKNOWN` without a guarantee.
     */
    uint8_t theorem;
    /**
     * Whether the calibrator takes a random word with every score: 0 or 1.
     */
    uint8_t is_randomized;
    /**
     * The number of groups; 0 if there are none.
     */
    uint8_t groups;
    /**
     * The number of the decision rule's actions; 0 if there is no rule.
     */
    uint8_t actions;
    /**
     * Whether there are thresholds: 0 or 1.
     */
    uint8_t has_thresholds;
    /**
     * Whether there are prediction sets: 0 or 1.
     */
    uint8_t has_sets;
    /**
     * Always 0.
     */
    uint8_t reserved;
} calib_info_t;

/**
 * A device. Opened by `calib_device_open`; there is nothing to close. One that was moved is refused with `CALIB_ERROR_STATE`.
 */
typedef struct {
    /**
     * The library's own.
     */
    uint64_t opaque[CALIB_DEVICE_WORDS];
} calib_device_t;

/**
 * The caller's classifier.
 */
typedef struct {
    /**
     * Passed to the callback unchanged; may be null.
     */
    void *context;
    /**
     * Classifies `count` finite features: writes one number, or one for each class, to `output`. A classifier that cannot returns
     * anything but 0; the alarm is then raised, and the device reports to the host that the output was not a number.
     */
    int32_t (*classify)(void *context, const float *features, size_t count, float *output, size_t output_len);
    /**
     * A name for people: UTF-8, ended by a zero, constant.
     */
    const char *name;
    /**
     * The identity that a calibrator names: other weights, another identity.
     */
    uint8_t id[8];
    /**
     * The number of features, at most `CALIB_MAX_VALUES`.
     */
    uint16_t features;
    /**
     * The number of classes, at most `CALIB_MAX_VALUES`; 2 of a score or a margin.
     */
    uint16_t classes;
    /**
     * `CALIB_OUTPUT_...`.
     */
    uint8_t output;
    /**
     * Always 0.
     */
    uint8_t reserved[3];
} calib_classifier_t;

/**
 * The caller's board. A call takes as long as the callbacks that it makes: keep them short.
 */
typedef struct {
    /**
     * Handed to every callback as it is; may be null.
     */
    void *context;
    /**
     * Raises the alarm with 1, clears it with 0. Returns 0 if it succeeded: a device whose alarm fails does not answer.
     */
    int32_t (*set_alarm)(void *context, uint8_t raised);
    /**
     * A timer that counts up through all of its 32 bits; null if nothing is measured.
     */
    uint32_t (*ticks)(void *context);
    /**
     * The most stack used so far, in bytes; null if nobody knows.
     */
    uint32_t (*stack_bytes)(void *context);
    /**
     * Writes a random word, uniform and independent of everything, and returns 0; null if there is no source of them.
     */
    int32_t (*random)(void *context, uint32_t *word);
} calib_board_t;

/**
 * The caller's flash. A callback returns 0 if it succeeded, and any other number if not. No callback may call a function with the
 * state that it serves.
 *
 * A callback may take as long as the flash does: there is no limit, and a function returns after the last of its callbacks. An installation
 * erases one slot, writes it and reads it back. A save of a journal writes one record, and erases at most 4096 bytes, or one longer sector;
 * beginning with another calibrator and a reset erase all of the journal. A watchdog is fed by the callbacks, or allows for the sum.
 *
 * What is asked for lies within a slot and is of whole units of 32 bytes. So the flash's own units, in which it is read and
 * written, divide 32. Nothing is written over what does not read as erased.
 */
typedef struct {
    /**
     * Handed to every callback as it is; may be null.
     */
    void *context;
    /**
     * Reads `len` bytes at `offset`.
     */
    int32_t (*read)(void *context, uint32_t offset, uint8_t *bytes, uint32_t len);
    /**
     * Writes `len` bytes, which are erased, at `offset`.
     */
    int32_t (*write)(void *context, uint32_t offset, const uint8_t *bytes, uint32_t len);
    /**
     * Erases the sector at `offset`, of `len` bytes.
     */
    int32_t (*erase)(void *context, uint32_t offset, uint32_t len);
    /**
     * The length of the flash in bytes.
     */
    uint32_t len_bytes;
    /**
     * The length of a sector in bytes, all of which is erased at once: a part of 1024 or a multiple of it.
     */
    uint32_t sector_bytes;
} calib_flash_t;

/**
 * The place of two slots in the flash: of whole sectors, of whole units of 1024 bytes, with nothing else in them.
 */
typedef struct {
    /**
     * The offsets of the slots in the flash, in bytes.
     */
    uint32_t offsets[2];
    /**
     * The length of either slot in bytes. An artifact may be 288 bytes shorter.
     */
    uint32_t slot_bytes;
    /**
     * `CALIB_ERASED_ONES` or `CALIB_ERASED_ZEROS`.
     */
    uint8_t erased;
    /**
     * Always 0.
     */
    uint8_t reserved[3];
} calib_layout_t;

/**
 * What a device is made of. It is copied; what its pointers point to is not.
 */
typedef struct {
    /**
     * The classifier.
     */
    calib_classifier_t classifier;
    /**
     * The alarm, and what else the board has.
     */
    calib_board_t board;
    /**
     * The flash with the slots.
     */
    calib_flash_t flash;
    /**
     * The slots.
     */
    calib_layout_t layout;
    /**
     * The 32 bytes of the public key with which calibrators must be signed; null accepts every calibrator, and answers questions
     * about scores from the line.
     */
    const uint8_t *key;
    /**
     * What counts the predictions, open; null counts nothing. The device begins with the active calibrator. With a `key`, outcomes are not
     * accepted over the serial link, as anyone who forges them can silence a monitor: report them with `calib_monitors_tell`.
     */
    calib_monitors_t *monitors;
    /**
     * If a calibrator has no rule: a probability at or above this threshold raises the alarm.
     */
    float alarm_threshold;
    /**
     * Whether a probability below the threshold raises it instead: 0 or 1.
     */
    uint8_t alarm_below;
    /**
     * Always 0.
     */
    uint8_t reserved[3];
} calib_device_config_t;

/**
 * Where monitors save their counters: in two or more sectors with nothing else in them.
 */
typedef struct {
    /**
     * The flash. Its sectors are parts of 4096 bytes, or multiples of it; of longer sectors 4096 bytes are used.
     */
    calib_flash_t flash;
    /**
     * The offset of the first sector in the flash, in bytes.
     */
    uint32_t offset;
    /**
     * The length of all sectors in bytes: at least 8192, in whole units of 4096 bytes; of longer sectors at least two.
     */
    uint32_t len_bytes;
    /**
     * After how many predictions all is saved, at least 1, and sooner after a start; an outcome is saved at once. A power cut loses what was
     * counted since, which was neither evaluated nor reported before. With 1, anyone who switches the power cannot choose what is counted.
     */
    uint32_t every;
    /**
     * `CALIB_ERASED_ONES` or `CALIB_ERASED_ZEROS`.
     */
    uint8_t erased;
    /**
     * Always 0.
     */
    uint8_t reserved[3];
} calib_journal_t;

/**
 * What a monitor says.
 */
typedef struct {
    /**
     * The natural logarithm of the evidence against the calibrator, in parts of `CALIB_EVIDENCE_UNITS`.
     */
    int64_t log;
    /**
     * How much of it an alarm takes.
     */
    int64_t alarm_log;
    /**
     * The evidence as odds: 1000 says 1000 : 1 against the calibrator; 0 is less than 1 : 1.
     */
    uint32_t odds;
    /**
     * The odds that an alarm takes.
     */
    uint32_t alarm_odds;
    /**
     * The number of the prediction, or of the outcome, that raised the alarm, counted from 1; 0 if none was raised.
     */
    uint32_t raised_at;
    /**
     * `CALIB_NOT_RAISED`, `CALIB_RAISED_AT` or `CALIB_RAISED_BY`.
     */
    uint8_t raised;
    /**
     * Whether there is such a monitor: 0 or 1. Without a guarantee there is none of it.
     */
    uint8_t is_watched;
    /**
     * Always 0.
     */
    uint8_t reserved[2];
} calib_evidence_t;

/**
 * What the monitors of a table counted, and what they say.
 */
typedef struct {
    /**
     * Whether scores come from another distribution than the calibration's.
     */
    calib_evidence_t shift;
    /**
     * Whether they do from some time on; of several alarms the last.
     */
    calib_evidence_t change;
    /**
     * Whether outcomes are as frequent as guaranteed.
     */
    calib_evidence_t guarantee;
    /**
     * The predictions in each bin of the monitors; 0 from `bins` on.
     */
    uint32_t predictions[CALIB_COUNTED_BINS];
    /**
     * The known outcomes in each bin of the calibrator's table; 0 from `outcome_bins` on.
     */
    uint32_t labelled[CALIB_COUNTED_BINS];
    /**
     * How many of them were positive, or right.
     */
    uint32_t positives[CALIB_COUNTED_BINS];
    /**
     * The name of the calibrator whose predictions were counted.
     */
    uint8_t identity[8];
    /**
     * With `CALIB_KEPT` or `CALIB_KEPT_LOST`, how many predictions and outcomes of all tables were counted since all was saved.
     */
    uint32_t unsaved;
    /**
     * The table.
     */
    uint16_t table;
    /**
     * How many tables the calibrator has.
     */
    uint16_t tables;
    /**
     * The monitors' bins.
     */
    uint8_t bins;
    /**
     * The bins of the calibrator's table; 0 if they are too many for outcomes to be counted.
     */
    uint8_t outcome_bins;
    /**
     * `CALIB_KEPT_...`.
     */
    uint8_t kept;
    /**
     * Whether a counter has reached what it can hold: 0 or 1. Nothing is counted from then on.
     */
    uint8_t is_full;
    /**
     * Always 0.
     */
    uint8_t reserved[4];
} calib_counters_t;

/**
 * Two slots in flash, of which one always holds a calibrator once one was installed. Opened by `calib_store_open`; there is nothing to
 * close.
 */
typedef struct {
    /**
     * The library's own.
     */
    uint64_t opaque[CALIB_STORE_WORDS];
} calib_store_t;

/**
 * An acknowledged installation.
 */
typedef struct {
    /**
     * The artifact's name.
     */
    uint8_t identity[8];
    /**
     * The number of the installation on this device, from 1 on.
     */
    uint32_t sequence;
    /**
     * The slot that holds it, 0 or 1.
     */
    uint8_t slot;
    /**
     * Always 0.
     */
    uint8_t reserved[3];
} calib_receipt_t;

/**
 * What a slot holds.
 */
typedef struct {
    /**
     * `CALIB_OK` if an installation is complete in it; otherwise why not, and the rest is 0.
     */
    int32_t status;
    /**
     * The artifact's length in bytes.
     */
    uint32_t len_bytes;
    /**
     * The artifact's counter.
     */
    uint32_t counter;
    /**
     * The number of the installation.
     */
    uint32_t sequence;
    /**
     * The artifact's name.
     */
    uint8_t identity[8];
} calib_slot_t;

/**
 * What both slots hold.
 */
typedef struct {
    /**
     * Each slot.
     */
    calib_slot_t slots[2];
    /**
     * The slot whose calibrator was loaded last, or `CALIB_NO_SLOT`.
     */
    uint8_t in_force;
    /**
     * The slot that may hold a newer calibrator than the active one and cannot be used, or `CALIB_NO_SLOT`.
     */
    uint8_t passed_over;
    /**
     * Always 0.
     */
    uint8_t reserved[2];
} calib_slots_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Calibrates a binary score, a float from 0 to 1. `options` may be null.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_score(const calib_calibrator_t *calibrator,
                          float score,
                          const calib_options_t *options,
                          calib_result_t *result);

/**
 * Calibrates a binary margin, any finite float.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_margin(const calib_calibrator_t *calibrator,
                           float margin,
                           const calib_options_t *options,
                           calib_result_t *result);

/**
 * Calibrates a binary score's integer code, in the encoding that `calib_info` tells.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_code(const calib_calibrator_t *calibrator,
                         int32_t integer_code,
                         const calib_options_t *options,
                         calib_result_t *result);

/**
 * Calibrates the predicted class of a vector of logits, one for each class.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_logits(const calib_calibrator_t *calibrator,
                           const float *logits,
                           size_t count,
                           const calib_options_t *options,
                           calib_result_t *result);

/**
 * Calibrates the predicted class of a vector of probabilities, which add up to 1.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_probs(const calib_calibrator_t *calibrator,
                          const float *probs,
                          size_t count,
                          const calib_options_t *options,
                          calib_result_t *result);

/**
 * Calibrates the predicted class of a vector of keys: each class's integer code less the lowest code of the encoding.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_keys(const calib_calibrator_t *calibrator,
                         const uint16_t *keys,
                         size_t count,
                         const calib_options_t *options,
                         calib_result_t *result);

/**
 * Calibrates the predicted class of a vector of codes from -128 to 127. `space` has room for as many keys.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_i8(const calib_calibrator_t *calibrator,
                       const int8_t *codes,
                       size_t count,
                       uint16_t *space,
                       const calib_options_t *options,
                       calib_result_t *result);

/**
 * Calibrates the predicted class of a vector of codes from 0 to 255. `space` has room for as many keys.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_u8(const calib_calibrator_t *calibrator,
                       const uint8_t *codes,
                       size_t count,
                       uint16_t *space,
                       const calib_options_t *options,
                       calib_result_t *result);

/**
 * Calibrates every class of a vector of logits: the front of `probs` then holds a probability for each class, not a number where
 * there is none. `probs` has room for `calib_info_t.all_floats` floats. The result is of the predicted class.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_all_logits(const calib_calibrator_t *calibrator,
                               const float *logits,
                               size_t count,
                               const calib_options_t *options,
                               float *probs,
                               size_t probs_len,
                               calib_result_t *result);

/**
 * Calibrates every class of a vector of probabilities, as `calib_apply_all_logits`.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_all_probs(const calib_calibrator_t *calibrator,
                              const float *vector,
                              size_t count,
                              const calib_options_t *options,
                              float *probs,
                              size_t probs_len,
                              calib_result_t *result);

/**
 * Calibrates the first few classes of a vector of logits, in descending order: `results` has room for `results_len` of them, and
 * `calib_info_t.top_k` are written. Action, verdict, set and alarm stand in the first.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_top_k_logits(const calib_calibrator_t *calibrator,
                                 const float *logits,
                                 size_t count,
                                 const calib_options_t *options,
                                 calib_result_t *results,
                                 size_t results_len);

/**
 * Calibrates the first few classes of a vector of probabilities, as `calib_apply_top_k_logits`.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_apply_top_k_probs(const calib_calibrator_t *calibrator,
                                const float *probs,
                                size_t count,
                                const calib_options_t *options,
                                calib_result_t *results,
                                size_t results_len);

/**
 * The band at a binary score, a float from 0 to 1. `CALIB_ERROR_KIND` if the artifact has no band, or takes other scores; `band` is then left
 * as it was.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_band_score(const calib_calibrator_t *calibrator,
                         float score,
                         calib_band_t *band);

/**
 * The band at a binary margin, any finite float.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_band_margin(const calib_calibrator_t *calibrator,
                          float margin,
                          calib_band_t *band);

/**
 * The band at a binary score's integer code, in the encoding that `calib_info` tells.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_band_code(const calib_calibrator_t *calibrator,
                        int32_t integer_code,
                        calib_band_t *band);

/**
 * Opens an artifact at the start of `bytes`, whose rest is erased: checks it completely, once.
 *
 * `bytes` starts at a multiple of 4, and stays where and what it is while the calibrator is used. `classifier` points to the
 * 8 bytes of the classifier's identity, which the artifact must name if it names one; null accepts every artifact.
 * No signature is checked: anyone who can write this memory could also write another program. `calib_store_load` checks signatures.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_open(calib_calibrator_t *calibrator,
                   const uint8_t *bytes,
                   size_t len,
                   const uint8_t *classifier);

/**
 * Says what an open calibrator is.
 *
 * # Safety
 *
 * As [`calib_open`].
 */
int32_t calib_info(const calib_calibrator_t *calibrator, calib_info_t *info);

/**
 * Joins the parts of a device, raises the alarm, and loads the active calibrator.
 *
 * `staged` and `loaded` have room for `buffer_words` words each, at least `CALIB_BUFFER_WORDS`: one receives a new calibrator while the
 * one in the other is used. It is no error if there is no calibrator: the device answers "uncalibrated", and its alarm stays raised.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_device_open(calib_device_t *device,
                          const calib_device_config_t *config,
                          uint64_t *staged,
                          uint64_t *loaded,
                          size_t buffer_words);

/**
 * Reads bytes from the serial link until a request is complete, and answers it.
 *
 * `taken` is set to how many of the `len` bytes were read. `reply_len` is set to the length of the reply that is to be sent, or to 0 if
 * no request is complete yet. `reply` has room for `CALIB_REPLY_BYTES` bytes. Call it again with the rest of the bytes. Bytes that are not a
 * frame are skipped. An installation erases and writes a slot within this
 * call, and the counters of monitors may be saved: it takes as long as the flash's callbacks do.
 *
 * If it returns anything but `CALIB_OK`, nothing is to be sent; after `CALIB_ERROR_ALARM` the device must not go on as if its alarm
 * were in order.
 *
 * # Safety
 *
 * As [`calib_device_open`].
 */
int32_t calib_device_take(calib_device_t *device,
                          const uint8_t *bytes,
                          size_t len,
                          size_t *taken,
                          uint8_t *reply,
                          size_t reply_capacity,
                          size_t *reply_len);

/**
 * Classifies features of the device's own, as a request over the line does: calibrates the output, and sets the alarm.
 *
 * Of the options only the group is looked at; they may name no monitors, as the device has its own. The result's `alarm` says what the alarm was set to.
 *
 * # Safety
 *
 * As [`calib_device_open`].
 */
int32_t calib_device_classify(calib_device_t *device,
                              const float *features,
                              size_t count,
                              const calib_options_t *told,
                              calib_result_t *result);

/**
 * Returns the text of an error code, in English; of any other number "unknown error". The text is constant and ends with a zero.
 */
const char *calib_error_text(int32_t error);

/**
 * Makes monitors of one table of up to 32 bins: those of a binary calibrator, or of one by confidence.
 *
 * `counters` has room for `counters_words` words, at least `CALIB_COUNTERS_WORDS`; nothing else uses it while the monitors are used.
 * They are only in memory, unless `calib_monitors_save` saves them. Every start is then a separate test, and the bound on false alerts
 * is that of one start. With `calib_monitors_open_kept` the bound holds over all starts. Counting begins with `calib_monitors_begin`, or with the device
 * that is given the monitors.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_monitors_open(calib_monitors_t *monitors,
                            uint64_t *counters,
                            size_t counters_words);

/**
 * The same for up to 10 tables of up to 15 bins: those of a calibrator with a table for each class or group. `counters` has room for
 * `CALIB_MANY_COUNTERS_WORDS`.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_open_many(calib_monitors_t *monitors,
                                 uint64_t *counters,
                                 size_t counters_words);

/**
 * As `calib_monitors_open`, with a journal: the counters are saved in flash by themselves, and survive a restart. Opening reads the
 * flash, and writes nothing.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_open_kept(calib_monitors_t *monitors,
                                 uint64_t *counters,
                                 size_t counters_words,
                                 const calib_journal_t *journal);

/**
 * As `calib_monitors_open_many`, with a journal, of which a save takes 2.6 KB of a sector's 4: three sectors let no restart lose a save.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_open_many_kept(calib_monitors_t *monitors,
                                      uint64_t *counters,
                                      size_t counters_words,
                                      const calib_journal_t *journal);

/**
 * Continues to count for this calibrator if it is the one that was counted for before, also by the journal. Otherwise restarts at 0.
 *
 * From then on `calib_apply_...` counts each prediction whose `calib_options_t` names the monitors. A calibrator that was fitted
 * without `--monitor`, or that gives several probabilities, gives `CALIB_ERROR_NOT_MONITORED`. A calibrator with more tables or bins
 * than there is room for gives `CALIB_ERROR_ROOM`. A device calls this for the active calibrator.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_begin(calib_monitors_t *monitors,
                             const calib_calibrator_t *calibrator);

/**
 * Reports the outcome of a prediction that was counted, once it is known.
 *
 * This reads the calibrator's name, the number, the class, the bin and the reason of the `result`, and the group of the options. `is_positive`
 * is 1 if the event happened, or, with several classes, if the predicted class was right; otherwise 0.
 *
 * The same outcome counts once, however often it is reported. Errors:
 *
 * - `CALIB_ERROR_OTHER_CALIBRATOR`: the result is of another calibrator;
 * - `CALIB_ERROR_NO_PREDICTION`: no prediction with this number was counted;
 * - `CALIB_ERROR_TOLD`: the opposite outcome is known;
 * - `CALIB_ERROR_LATE`: an outcome of a prediction that came `CALIB_TOLD_WINDOW` or more later is known;
 * - `CALIB_ERROR_RESTARTED`: the result is from before a restart, and the journal does not hold which outcomes were reported.
 *
 * The bytes of `calib_monitors_save` hold which outcomes were reported.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_tell(calib_monitors_t *monitors,
                            const calib_calibrator_t *calibrator,
                            const calib_result_t *result,
                            const calib_options_t *told,
                            uint8_t is_positive);

/**
 * Returns what the monitors of a table counted, and computes the evidence: about a million instructions.
 *
 * A binary calibrator, and one by confidence, has only table 0. A calibrator by predicted class has a table for each class. With groups,
 * the tables of each group follow those of the group before.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_read(calib_monitors_t *monitors,
                            const calib_calibrator_t *calibrator,
                            uint16_t table,
                            calib_counters_t *counters);

/**
 * Restarts all counts at 0, and clears the alerts.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_reset(calib_monitors_t *monitors, const calib_calibrator_t *calibrator);

/**
 * Writes all counters to `bytes`, as `calib_monitors_restore` takes them: at most `CALIB_SAVED_BYTES`, or `CALIB_MANY_SAVED_BYTES` of
 * many tables. `len` is set to how many they are. Monitors with a journal save themselves, and give `CALIB_ERROR_ARGUMENT`.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_save(calib_monitors_t *monitors,
                            uint8_t *bytes,
                            size_t capacity,
                            size_t *len);

/**
 * Takes counters over that `calib_monitors_save` wrote, after counting has begun for their calibrator. Predictions that came after these bytes are lost,
 * and their numbers are given again: tell no outcome of them, or use a journal, which gives no number twice. Bytes that are damaged, or of
 * another calibrator or other monitors, give `CALIB_ERROR_SAVED`, and nothing changes.
 *
 * # Safety
 *
 * As [`calib_monitors_open`].
 */
int32_t calib_monitors_restore(calib_monitors_t *monitors,
                               const uint8_t *bytes,
                               size_t len);

/**
 * Takes the flash with two slots, for the classifier of this identity.
 *
 * `classifier` points to 8 bytes. `key` points to the 32 bytes of the public key with which artifacts must be signed; null
 * accepts every artifact. `buffer` has room for `CALIB_BUFFER_WORDS` words; artifacts are loaded into it, so calibrators point
 * to it. The slots are read, and nothing is written. It is no error if there is no calibrator: `calib_store_load` says so.
 *
 * # Safety
 *
 * Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
 */
int32_t calib_store_open(calib_store_t *store,
                         const calib_flash_t *flash,
                         const calib_layout_t *layout,
                         const uint8_t *classifier,
                         const uint8_t *key,
                         uint64_t *buffer,
                         size_t buffer_words);

/**
 * Loads the active calibrator into the store's buffer, checks it there, and opens it.
 *
 * Calibrators that were loaded before point to the same buffer: from then on they are refused with `CALIB_ERROR_STATE`, also if nothing could be
 * loaded. Other threads do not apply them meanwhile.
 *
 * # Safety
 *
 * As [`calib_store_open`].
 */
int32_t calib_store_load(calib_store_t *store,
                         calib_calibrator_t *calibrator);

/**
 * Checks an artifact of `len` bytes and installs it in the slot that is not active; `receipt` may be null.
 *
 * The power may fail at any moment: the active calibrator is then the old one or the new one. Once this returns `CALIB_OK`, it is
 * the new one. `bytes` starts at a multiple of 4, and has at most `CALIB_BUFFER_BYTES`. The calibrator that was loaded stays usable; `calib_store_load` loads the new
 * one.
 *
 * # Safety
 *
 * As [`calib_store_open`].
 */
int32_t calib_store_install(calib_store_t *store,
                            const uint8_t *bytes,
                            size_t len,
                            calib_receipt_t *receipt);

/**
 * Reads both slots completely, and says what they hold.
 *
 * # Safety
 *
 * As [`calib_store_open`].
 */
int32_t calib_store_survey(calib_store_t *store, calib_slots_t *slots);

/**
 * Returns the version of the library, as `CALIB_VERSION` gives that of the header.
 */
uint32_t calib_version(void);

/**
 * Checks that the program was compiled with the header of this library: the same version, and states of the same sizes. Call it once
 * before any other function, as `CALIB_CHECK()`, which fills the arguments in. A program with another header gets `CALIB_ERROR_VERSION`.
 */
int32_t calib_check(uint32_t version,
                    size_t calibrator_bytes,
                    size_t store_bytes,
                    size_t device_bytes,
                    size_t monitors_bytes,
                    size_t result_bytes);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CALIB_H */
