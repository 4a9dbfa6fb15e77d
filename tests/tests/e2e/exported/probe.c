/* Calls every function of an exported header with everything in `case.h`, and puts out the bits of what it returns. */

#include "case.h"
#include "cal.h"

void put(uint32_t word);
void finish(void);

static uint32_t bits(float number)
{
    union {
        float number;
        uint32_t bits;
    } word;
    word.number = number;
    return word.bits;
}

static void put_result(int status, const struct calib_result *result)
{
    put((uint32_t)status);
    if (status != CALIB_OK)
        return;
    put(bits(result->prob));
    put(bits(result->epsilon));
    put(result->bin);
#ifdef HAS_INTERVAL
    put(bits(result->lo));
    put(bits(result->hi));
#endif
#ifdef HAS_P0_P1
    put(bits(result->p0));
    put(bits(result->p1));
#endif
}

#ifdef CODE_TYPE
static void single_scores(struct calib_result *result)
{
    uint32_t table;
    int32_t code;

    for (table = 0; table <= CALIB_TABLES; table++)
        for (code = LOWEST - 1; code <= HIGHEST + 1; code += STEP)
            put_result(calib_calibrate(table, code, result), result);
}
#else
static void single_scores(struct calib_result *result)
{
    uint32_t table, i;

    for (table = 0; table <= CALIB_TABLES; table++)
        for (i = 0; i < sizeof asked / sizeof *asked; i++) {
            union {
                float number;
                uint32_t bits;
            } score;
            score.bits = asked[i];
            put_result(calib_calibrate(table, score.number, WORD(i) result), result);
        }
}
#endif

#ifdef VECTORS
static void vectors_of_scores(struct calib_result *result)
{
    uint32_t i;

    for (i = 0; i < VECTORS; i++) {
#ifdef CODE_TYPE
        const VECTOR_TYPE *vector = vector_words + i * CALIB_CLASSES;
#else
        float vector[CALIB_CLASSES];
        uint32_t place;
        for (place = 0; place < CALIB_CLASSES; place++) {
            union {
                float number;
                uint32_t bits;
            } word;
            word.bits = vector_words[i * CALIB_CLASSES + place];
            vector[place] = word.number;
        }
#endif
#if defined HAS_TOP_LABEL
        uint32_t predicted = 0;
        int status = calib_top_label(vector, WORD(i) &predicted, result);
        put_result(status, result);
        if (status == CALIB_OK)
            put(predicted);
#elif defined HAS_TOP_K
        uint32_t rank;
        for (rank = 0; rank <= CALIB_RANKS; rank++) {
            uint32_t ranked = 0;
            int status = calib_top_k(vector, rank, WORD(i) &ranked, result);
            put_result(status, result);
            if (status == CALIB_OK)
                put(ranked);
        }
#elif defined HAS_NORMALIZED
        float calibrated[CALIB_CLASSES];
        uint32_t class_;
        int status = calib_normalized(vector, WORD(i) calibrated);
        (void)result;
        put((uint32_t)status);
        for (class_ = 0; status == CALIB_OK && class_ < CALIB_CLASSES; class_++)
            put(bits(calibrated[class_]));
#endif
    }
}
#endif

int main(void)
{
    struct calib_result result;

    single_scores(&result);
#ifdef VECTORS
    vectors_of_scores(&result);
#endif
    finish();
    return 0;
}
