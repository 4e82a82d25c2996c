// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier: what the leaves' votes come to.

#include <string.h>

#include "arch/ref/onnx/ml.h"
#include "arch/ref/onnx/ml_forest.h"
#include "arch/ref/onnx/ml_scores.h"
#include "arch/ref/onnx/param_array.h"
#include "op/onnx/ml.h"
#include "tensor/elem.h"

// In the order of TreeEnsemble's numbers.
typedef enum aggregate { AGGREGATE_AVERAGE, AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX } aggregate;

typedef struct ensemble {
    ln_call *call;
    ln_ml_forest forest;
    size_t rows, columns, targets;
    aggregate aggregate;
    ln_ml_transform transform;
    const double *base; // for each target, or NULL
    size_t base_count;
    double *row;     // of the input
    double *scores;  // for each target, and room for two
    bool *has_score; // somebody voted for it
} ensemble;

static ln_status open_ensemble(ensemble *e)
{
    int rows, columns;
    LN_TRY(ln_ml_table(e->call, 0, &rows, &columns));
    e->rows = (size_t)rows;
    e->columns = (size_t)columns;
    e->row = ln_call_scratch(e->call, e->columns + 1, sizeof *e->row);
    e->scores = ln_call_scratch(e->call, e->targets + 2, sizeof *e->scores);
    e->has_score = ln_call_scratch(e->call, e->targets + 2, sizeof *e->has_score);
    return e->row && e->scores && e->has_score ? LN_OK : ln_error_status();
}

static ln_status read_base(ensemble *e)
{
    return ln_ref_param_reals(e->call, "base_values", "base_values_as_tensor", &e->base_count,
                              &e->base);
}

static void count_vote(ensemble *e, const ln_ml_vote *vote)
{
    double *score = &e->scores[vote->target];
    bool is_first = !e->has_score[vote->target];
    e->has_score[vote->target] = true;
    if (e->aggregate == AGGREGATE_SUM || e->aggregate == AGGREGATE_AVERAGE)
        *score += vote->weight;
    else if (is_first ||
             (e->aggregate == AGGREGATE_MIN ? vote->weight < *score : vote->weight > *score))
        *score = vote->weight;
}

// `scores` and `has_score` of one row: all trees' votes.
static ln_status vote(ensemble *e, size_t row)
{
    const tl_tensor *src = ln_call_in(e->call, 0);
    for (size_t c = 0; c < e->columns; c++)
        e->row[c] = ln_elem_real(src, row * e->columns + c);
    memset(e->scores, 0, e->targets * sizeof *e->scores);
    memset(e->has_score, 0, e->targets * sizeof *e->has_score);
    for (size_t t = 0; t < e->forest.root_count; t++) {
        const ln_ml_node *leaf;
        LN_TRY(ln_ml_forest_leaf(e->call, &e->forest, e->forest.roots[t], e->row, &leaf));
        for (size_t v = leaf->votes; v < leaf->vote_end; v++)
            count_vote(e, &e->forest.votes[v]);
    }
    if (e->aggregate == AGGREGATE_AVERAGE) {
        for (size_t i = 0; i < e->targets; i++)
            e->scores[i] /= (double)e->forest.root_count;
    }
    return LN_OK;
}

// ---- Regression ----

static ln_status run_regression(ensemble *e)
{
    tl_tensor *dst = ln_call_dst(e->call, 0);
    if (e->base_count != 0 && e->base_count != e->targets)
        return ln_call_fail(e->call, LN_INVALID, "%zu base values for %zu targets", e->base_count,
                            e->targets);
    for (size_t row = 0; row < e->rows; row++) {
        LN_TRY(vote(e, row));
        for (size_t i = 0; i < e->base_count; i++)
            e->scores[i] += e->base[i];
        ln_ml_transform_apply(e->transform, e->scores, e->targets);
        for (size_t i = 0; i < e->targets; i++)
            ln_elem_set_real(dst, row * e->targets + i, e->scores[i]);
    }
    return LN_OK;
}

ln_status ln_ref_ml_tree_ensemble_regressor(ln_call *call)
{
    static const char *const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    const char *name = ln_call_string(call, "aggregate_function");
    int kind = 0;
    while (kind <= AGGREGATE_MAX && strcmp(name, names[kind]) != 0)
        kind++;
    if (kind > AGGREGATE_MAX)
        return ln_call_fail(call, LN_INVALID, "aggregate_function \"%s\" is not known", name);
    ensemble e = {.call = call, .aggregate = (aggregate)kind};
    e.targets = (size_t)ln_call_dst(call, 0)->dims[1];
    LN_TRY(ln_ml_transform_read(call, &e.transform));
    LN_TRY(open_ensemble(&e));
    LN_TRY(read_base(&e));
    LN_TRY(ln_ml_forest_read(call, "target", e.columns, e.targets, &e.forest));
    return run_regression(&e);
}

ln_status ln_ref_ml_tree_ensemble(ln_call *call)
{
    int64_t kind = ln_call_int(call, "aggregate_function");
    int64_t transform = ln_call_int(call, "post_transform");
    if (kind < 0 || kind > AGGREGATE_MAX || transform < 0 || transform > LN_ML_PROBIT)
        return ln_call_fail(call, LN_INVALID, "aggregate_function %lld, post_transform %lld",
                            (long long)kind, (long long)transform);
    ensemble e = {
        .call = call, .aggregate = (aggregate)kind, .transform = (ln_ml_transform)transform};
    e.targets = (size_t)ln_call_dst(call, 0)->dims[1];
    LN_TRY(open_ensemble(&e));
    LN_TRY(ln_ml_forest_read_split(call, e.columns, e.targets, &e.forest));
    return run_regression(&e);
}

// ---- Classification ----

typedef struct classes {
    bool is_pair;          // all votes are for one of two classes
    size_t voted;          // that one
    bool are_all_positive; // votes
} classes;

static classes examine_votes(const ensemble *e)
{
    const ln_ml_forest *forest = &e->forest;
    classes c = {.is_pair = e->targets == 2, .are_all_positive = true};
    size_t count = forest->node_count ? forest->nodes[forest->node_count - 1].vote_end : 0;
    c.voted = count ? forest->votes[0].target : 0;
    for (size_t i = 0; i < count; i++) {
        c.is_pair = c.is_pair && forest->votes[i].target == c.voted;
        c.are_all_positive = c.are_all_positive && forest->votes[i].weight >= 0;
    }
    return c;
}

// The class of a row of two classes where all votes are for the second: both have scores.
static size_t decide_second(ensemble *e, const classes *c)
{
    size_t best = e->scores[1] > (c->are_all_positive ? 0.5 : 0);
    if (e->base_count > 0)
        e->scores[0] += e->base[0];
    ln_ml_transform_apply(e->transform, e->scores, 2);
    return best;
}

// The class of a row of two classes with one score, which is that of the second one.
static size_t decide_pair(ensemble *e, const classes *c)
{
    if (c->voted == 1 && e->base_count < 2)
        return decide_second(e, c);
    e->scores[0] = e->scores[c->voted];
    if (e->base_count > 0)
        e->scores[0] += e->base[e->base_count - 1];
    size_t best = e->scores[0] > (c->are_all_positive ? 0.5 : 0);
    if (e->base_count < 2) {
        ln_ml_transform_pair(e->transform, c->are_all_positive, e->scores);
        return best;
    }
    e->scores[1] = e->scores[0];
    e->scores[0] = -e->scores[0];
    ln_ml_transform_apply(e->transform, e->scores, 2);
    return best;
}

// The class of a row: the one with the largest score among those that somebody voted for.
static size_t decide(ensemble *e)
{
    size_t best = e->targets;
    for (size_t i = 0; i < e->targets; i++) {
        if (i < e->base_count) {
            e->scores[i] += e->base[i];
            e->has_score[i] = true;
        }
        if (e->has_score[i] && (best == e->targets || e->scores[i] > e->scores[best]))
            best = i;
    }
    ln_ml_transform_apply(e->transform, e->scores, e->targets);
    return best == e->targets ? 0 : best;
}

// A classifier that knows one class: it is that, or, where the score is not positive, 0 or nothing.
static ln_status set_only_class(ln_call *call, size_t row, bool is_it)
{
    if (is_it)
        return ln_ml_set_class(call, "classlabels_int64s", row, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (!dst)
        return LN_OK;
    if (dst->dtype == TL_STRING)
        return ln_call_set_string(call, 0, row, "", 0);
    ln_elem_set_int(dst, row, 0);
    return LN_OK;
}

ln_status ln_ref_ml_tree_ensemble_classifier(ln_call *call)
{
    ensemble e = {.call = call, .aggregate = AGGREGATE_SUM};
    int class_count;
    LN_TRY(ln_ml_class_count(call, "classlabels_int64s", &class_count));
    e.targets = (size_t)class_count;
    LN_TRY(ln_ml_transform_read(call, &e.transform));
    LN_TRY(open_ensemble(&e));
    LN_TRY(read_base(&e));
    LN_TRY(ln_ml_forest_read(call, "class", e.columns, e.targets, &e.forest));
    classes c = examine_votes(&e);
    if (e.base_count != 0 && e.base_count != e.targets && !(c.is_pair && e.base_count == 1))
        return ln_call_fail(call, LN_INVALID, "%zu base values for %zu classes", e.base_count,
                            e.targets);
    tl_tensor *dst = ln_call_dst(call, 1);
    for (size_t row = 0; row < e.rows; row++) {
        LN_TRY(vote(&e, row));
        bool is_positive = e.scores[0] + (e.base_count ? e.base[0] : 0) > 0;
        size_t best = c.is_pair ? decide_pair(&e, &c) : decide(&e);
        if (e.targets == 1)
            LN_TRY(set_only_class(call, row, is_positive));
        else
            LN_TRY(ln_ml_set_class(call, "classlabels_int64s", row, best));
        for (size_t i = 0; dst && i < e.targets; i++)
            ln_elem_set_real(dst, row * e.targets + i, e.scores[i]);
    }
    return LN_OK;
}
