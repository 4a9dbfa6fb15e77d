#include "tree.h"

/* Below the threshold it goes to the node `below`, otherwise to the next; a node without a feature is a leaf. */
struct node {
    float threshold_or_score;
    int8_t feature;
    uint8_t below;
};

enum { LEAF = -1 };

static const struct node nodes[] = {
    {0.0F, 0, 6},
    {0.75F, 1, 5},
    {1.5F, 0, 4},
    {0.96875F, LEAF, 0},
    {0.84375F, LEAF, 0},
    {0.625F, LEAF, 0},
    {-0.5F, 1, 9},
    {-1.25F, 0, 10},
    {0.4375F, LEAF, 0},
    {0.03125F, LEAF, 0},
    {0.1875F, LEAF, 0},
};

int32_t tree_classify(void *context, const float *features, size_t count, float *output, size_t output_len)
{
    const struct node *node = nodes;

    (void)context;
    if (count != (size_t)TREE_FEATURES || output_len != 1U)
        return -1;
    while (node->feature != LEAF)
        node = features[node->feature] < node->threshold_or_score ? &nodes[node->below] : node + 1;
    output[0] = node->threshold_or_score;
    return 0;
}
