/* A decision tree of two features: the firmware's own classifier. */

#ifndef TREE_H
#define TREE_H

#include <stddef.h>
#include <stdint.h>

enum { TREE_FEATURES = 2 };

/* The score of class 1: how often the leaf's training rows were of it. As calib's callback. */
int32_t tree_classify(void *context, const float *features, size_t count, float *output, size_t output_len);

#endif
