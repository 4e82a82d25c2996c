// SPDX-License-Identifier: Apache-2.0
// Decision trees: the way from the root to a leaf.

#include "arch/ref/onnx/ml_forest.h"

#include <math.h>

static bool is_member(const ln_ml_forest *forest, const ln_ml_node *node, double x)
{
    for (size_t i = node->members; i < node->member_end; i++) {
        if (forest->members[i] == x)
            return true;
    }
    return false;
}

static bool is_true(const ln_ml_forest *forest, const ln_ml_node *node, double x)
{
    if (node->nan_is_true && isnan(x))
        return true;
    switch (node->mode) {
    case LN_ML_LEQ: return x <= node->value;
    case LN_ML_LT: return x < node->value;
    case LN_ML_GTE: return x >= node->value;
    case LN_ML_GT: return x > node->value;
    case LN_ML_EQ: return x == node->value;
    case LN_ML_NEQ: return x != node->value;
    case LN_ML_MEMBER: return is_member(forest, node, x);
    case LN_ML_LEAF: break;
    }
    return false;
}

ln_status ln_ml_forest_leaf(ln_call *call, const ln_ml_forest *forest, size_t root,
                            const double *row, const ln_ml_node **out_leaf)
{
    const ln_ml_node *node = &forest->nodes[root];
    size_t steps = 0;
    for (; node->mode != LN_ML_LEAF; steps++) {
        if (steps == forest->node_count)
            return ln_call_fail(call, LN_INVALID, "the tree of node %zu goes in a circle", root);
        bool goes_yes = is_true(forest, node, row[node->feature]);
        node = &forest->nodes[goes_yes ? node->yes : node->no];
    }
    *out_leaf = node;
    return ln_call_charge(call, (double)(1 + steps));
}
