// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier: what the leaves' votes come to.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/ml_forest.h"
#include "arch/ref/onnx/ml_trees.h"
#include "op/onnx/ml.h"
#include "op/onnx/ml_scores.h"
#include "op/onnx/param_array.h"
#include "tensor/elem.h"

// In the order of TreeEnsemble's numbers.
typedef enum aggregate { AGGREGATE_AVERAGE, AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX } aggregate;

// Facts about the votes of a classifier.
typedef struct classes {
    bool is_pair;          // all votes are for one of two classes
    size_t voted;          // that one
    bool are_all_positive; // votes
} classes;

// What `prepare` makes of the parameters.
typedef struct model {
    ln_ml_trees trees;
    size_t widest, column_count; // the node with the largest feature, and how many this needs
    size_t targets;
    aggregate aggregate;
    ln_ml_transform transform;
    const double *base; // for each target, or NULL
    size_t base_count;
    classes classes;
    ln_ml_classes names; // of a classifier
} model;

// Rows that go through a tree together, which then stays in the nearest cache.
enum { BLOCK_ROWS = 56 };

typedef struct ensemble {
    ln_call *call;
    const model *model;
    size_t rows, columns, targets;
    double *values;  // of a block of rows, each after one that is less than all
    double *scores;  // of each of these for each target, and room for two
    bool *has_score; // somebody voted for it
} ensemble;

// ---- Before all runs ----

static ln_status keep_trees(ln_call *call, const ln_ml_forest *forest, model *m)
{
    m->widest = forest->widest;
    if (forest->node_count > 0 && forest->nodes[forest->widest].mode != LN_ML_LEAF)
        m->column_count = forest->nodes[forest->widest].feature + 1;
    bool adds = m->aggregate == AGGREGATE_SUM || m->aggregate == AGGREGATE_AVERAGE;
    return ln_ml_trees_keep(call, forest, adds, &m->trees);
}

static ln_status begin_model(ln_call *call, int targets, model **out_model)
{
    *out_model = ln_call_keep(call, 1, sizeof **out_model);
    if (!*out_model)
        return ln_error_status();
    (*out_model)->targets = (size_t)targets;
    return LN_OK;
}

ln_status ln_ref_prepare_ml_tree_ensemble_regressor(ln_call *call)
{
    static const char *const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    const char *name = ln_call_string(call, "aggregate_function");
    int kind = 0, targets;
    while (kind <= AGGREGATE_MAX && strcmp(name, names[kind]) != 0)
        kind++;
    if (kind > AGGREGATE_MAX)
        return ln_call_fail(call, LN_INVALID, "aggregate_function \"%s\" is not known", name);
    model *m;
    ln_ml_forest forest;
    LN_TRY(ln_ml_target_count(call, &targets));
    LN_TRY(begin_model(call, targets, &m));
    m->aggregate = (aggregate)kind;
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(ln_array_keep_reals(call, "base_values", "base_values_as_tensor", &m->base_count,
                               &m->base));
    LN_TRY(ln_ml_forest_read(call, "target", m->targets, &forest));
    return keep_trees(call, &forest, m);
}

ln_status ln_ref_prepare_ml_tree_ensemble(ln_call *call)
{
    int64_t kind = ln_call_int(call, "aggregate_function");
    int64_t transform = ln_call_int(call, "post_transform");
    if (kind < 0 || kind > AGGREGATE_MAX || transform < 0 || transform > LN_ML_PROBIT)
        return ln_call_fail(call, LN_INVALID, "aggregate_function %lld, post_transform %lld",
                            (long long)kind, (long long)transform);
    int targets;
    model *m;
    ln_ml_forest forest;
    LN_TRY(ln_ml_target_count(call, &targets));
    LN_TRY(begin_model(call, targets, &m));
    m->aggregate = (aggregate)kind;
    m->transform = (ln_ml_transform)transform;
    LN_TRY(ln_ml_forest_read_split(call, m->targets, &forest));
    return keep_trees(call, &forest, m);
}

static classes examine_votes(const ln_ml_forest *forest, size_t targets)
{
    classes c = {.is_pair = targets == 2, .are_all_positive = true};
    size_t count = forest->node_count ? forest->nodes[forest->node_count - 1].vote_end : 0;
    c.voted = count ? forest->votes[0].target : 0;
    for (size_t i = 0; i < count; i++) {
        c.is_pair = c.is_pair && forest->votes[i].target == c.voted;
        c.are_all_positive = c.are_all_positive && forest->votes[i].weight >= 0;
    }
    return c;
}

ln_status ln_ref_prepare_ml_tree_ensemble_classifier(ln_call *call)
{
    int targets;
    model *m;
    ln_ml_forest forest;
    LN_TRY(ln_ml_class_count(call, "classlabels_int64s", &targets));
    LN_TRY(begin_model(call, targets, &m));
    m->aggregate = AGGREGATE_SUM;
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(ln_array_keep_reals(call, "base_values", "base_values_as_tensor", &m->base_count,
                               &m->base));
    LN_TRY(ln_ml_forest_read(call, "class", m->targets, &forest));
    LN_TRY(ln_ml_classes_keep(call, "classlabels_int64s", &m->names));
    m->classes = examine_votes(&forest, m->targets);
    return keep_trees(call, &forest, m);
}

// ---- Votes ----

static ln_status open_ensemble(ln_call *call, int targets, ensemble *e)
{
    int rows, columns;
    *e = (ensemble){.call = call, .model = ln_call_prepared(call), .targets = (size_t)targets};
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    e->rows = (size_t)rows;
    e->columns = (size_t)columns;
    if (!ln_call_is_counting(call) && e->model->column_count > e->columns)
        return ln_call_fail(call, LN_INVALID, "node %zu looks at column %zu of %zu",
                            e->model->widest, e->model->column_count - 1, e->columns);
    size_t block = e->rows < BLOCK_ROWS ? e->rows : BLOCK_ROWS;
    e->values = ln_call_scratch(call, block * (e->columns + 1), sizeof *e->values);
    e->scores = ln_call_scratch(call, block * e->targets + 2, sizeof *e->scores);
    e->has_score = ln_call_scratch(call, block * e->targets + 2, sizeof *e->has_score);
    return e->values && e->scores && e->has_score ? LN_OK : ln_error_status();
}

static void count_vote(aggregate kind, const ln_ml_vote *vote, double *scores, bool *has_score)
{
    double weight = vote->weight, *score = &scores[vote->target];
    bool is_first = !has_score[vote->target];
    has_score[vote->target] = true;
    if (kind == AGGREGATE_SUM || kind == AGGREGATE_AVERAGE)
        *score += weight;
    else if (is_first || (kind == AGGREGATE_MIN ? weight < *score : weight > *score))
        *score = weight;
}

static void count_votes(void *user, size_t row, size_t step, const double *leaves, size_t count)
{
    const ensemble *e = user;
    const model *m = e->model;
    double *scores = e->scores + row * e->targets;
    bool *has_score = e->has_score + row * e->targets;
    if (m->trees.is_direct && step == 0) {
        double sum = scores[m->trees.voted];
        for (size_t i = 0; i < count; i++)
            sum += leaves[i];
        scores[m->trees.voted] = sum;
        has_score[m->trees.voted] = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = i * step * e->targets;
        if (m->trees.is_direct) {
            scores[at + m->trees.voted] += leaves[i];
            has_score[at + m->trees.voted] = true;
            continue;
        }
        const ln_ml_vote *votes = m->trees.votes + (size_t)leaves[i];
        for (size_t v = 0, n = votes->left; v < n; v++)
            count_vote(m->aggregate, &votes[v], scores + at, has_score + at);
    }
}

// Loads a block of rows; returns whether there is a NaN.
static bool load_rows(ensemble *e, size_t first, size_t count)
{
    const tl_tensor *src = ln_call_in(e->call, 0);
    bool have_nan = false;
    double *row = e->values;
    for (size_t r = first; r < first + count; r++) {
        *row++ = -INFINITY;
        for (size_t at = r * e->columns; at < (r + 1) * e->columns; at++, row++) {
            *row = src->dtype == TL_FLOAT ? (double)((const float *)src->data)[at]
                                          : ln_elem_real(src, at);
            have_nan |= *row != *row;
        }
    }
    return have_nan;
}

// `scores` and `has_score` of some rows: all trees' votes.
static ln_status vote(ensemble *e, size_t first, size_t count)
{
    size_t len = count * e->targets;
    ln_ml_rows rows = {e->values, e->columns, count, load_rows(e, first, count)};
    memset(e->scores, 0, len * sizeof *e->scores);
    memset(e->has_score, 0, len * sizeof *e->has_score);
    LN_TRY(ln_ml_trees_walk(e->call, &e->model->trees, &rows, count_votes, e));
    for (size_t i = 0; i < len && e->model->aggregate == AGGREGATE_AVERAGE; i++)
        e->scores[i] /= (double)e->model->trees.root_count;
    return LN_OK;
}

// Votes for all rows, block by block, and has `finish` use each row's scores.
static ln_status run_ensemble(ensemble *e, ln_status (*finish)(ensemble *e, size_t row,
                                                               double *scores, bool *has_score))
{
    for (size_t first = 0; first < e->rows; first += BLOCK_ROWS) {
        size_t count = e->rows - first < BLOCK_ROWS ? e->rows - first : BLOCK_ROWS;
        LN_TRY(vote(e, first, count));
        for (size_t r = 0; r < count; r++)
            LN_TRY(finish(e, first + r, e->scores + r * e->targets, e->has_score + r * e->targets));
    }
    return LN_OK;
}

// ---- Regression ----

static ln_status finish_regression(ensemble *e, size_t row, double *scores, bool *has_score)
{
    (void)has_score;
    tl_tensor *dst = ln_call_dst(e->call, 0);
    for (size_t i = 0; i < e->model->base_count; i++)
        scores[i] += e->model->base[i];
    ln_ml_transform_apply(e->model->transform, scores, e->targets);
    for (size_t i = 0; i < e->targets; i++)
        ln_elem_set_real(dst, row * e->targets + i, scores[i]);
    return LN_OK;
}

ln_status ln_ref_ml_tree_ensemble_regressor(ln_call *call)
{
    ensemble e;
    const model *prepared = ln_call_prepared(call);
    int targets = prepared ? (int)prepared->targets : 0;
    if (!prepared)
        LN_TRY(ln_ml_target_count(call, &targets));
    LN_TRY(open_ensemble(call, targets, &e));
    if (ln_call_is_counting(call))
        return LN_OK;
    if (e.model->base_count != 0 && e.model->base_count != e.targets)
        return ln_call_fail(call, LN_INVALID, "%zu base values for %zu targets",
                            e.model->base_count, e.targets);
    return run_ensemble(&e, finish_regression);
}

// ---- Classification ----

// The class of a row of two classes where all votes are for the second: both have scores.
static size_t decide_second(const model *m, double *scores)
{
    size_t best = scores[1] > (m->classes.are_all_positive ? 0.5 : 0);
    if (m->base_count > 0)
        scores[0] += m->base[0];
    ln_ml_transform_apply(m->transform, scores, 2);
    return best;
}

// The class of a row of two classes with one score, which is that of the second one.
static size_t decide_pair(const model *m, double *scores)
{
    const classes *c = &m->classes;
    if (c->voted == 1 && m->base_count < 2)
        return decide_second(m, scores);
    scores[0] = scores[c->voted];
    if (m->base_count > 0)
        scores[0] += m->base[m->base_count - 1];
    size_t best = scores[0] > (c->are_all_positive ? 0.5 : 0);
    if (m->base_count < 2) {
        ln_ml_transform_pair(m->transform, c->are_all_positive, scores);
        return best;
    }
    scores[1] = scores[0];
    scores[0] = -scores[0];
    ln_ml_transform_apply(m->transform, scores, 2);
    return best;
}

// The class of a row: the one with the largest score among those that somebody voted for.
static size_t decide(const model *m, double *scores, bool *has_score)
{
    size_t best = m->targets;
    for (size_t i = 0; i < m->targets; i++) {
        if (i < m->base_count) {
            scores[i] += m->base[i];
            has_score[i] = true;
        }
        if (has_score[i] && (best == m->targets || scores[i] > scores[best]))
            best = i;
    }
    ln_ml_transform_apply(m->transform, scores, m->targets);
    return best == m->targets ? 0 : best;
}

// A classifier that knows one class: it is that, or, where the score is not positive, 0 or nothing.
static ln_status set_only_class(ln_call *call, const model *m, size_t row, bool is_it)
{
    if (is_it)
        return ln_ml_classes_set(call, &m->names, row, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (!dst)
        return LN_OK;
    if (dst->dtype == TL_STRING)
        return ln_call_set_string(call, 0, row, "", 0);
    ln_elem_set_int(dst, row, 0);
    return LN_OK;
}

static ln_status finish_classification(ensemble *e, size_t row, double *scores, bool *has_score)
{
    const model *m = e->model;
    tl_tensor *dst = ln_call_dst(e->call, 1);
    bool is_positive = scores[0] + (m->base_count ? m->base[0] : 0) > 0;
    size_t best = m->classes.is_pair ? decide_pair(m, scores) : decide(m, scores, has_score);
    if (e->targets == 1)
        LN_TRY(set_only_class(e->call, m, row, is_positive));
    else
        LN_TRY(ln_ml_classes_set(e->call, &m->names, row, best));
    for (size_t i = 0; dst && i < e->targets; i++)
        ln_elem_set_real(dst, row * e->targets + i, scores[i]);
    return LN_OK;
}

ln_status ln_ref_ml_tree_ensemble_classifier(ln_call *call)
{
    ensemble e;
    int targets;
    LN_TRY(ln_ml_class_count(call, "classlabels_int64s", &targets));
    LN_TRY(open_ensemble(call, targets, &e));
    if (ln_call_is_counting(call))
        return LN_OK;
    const model *m = e.model;
    if (m->base_count != 0 && m->base_count != e.targets &&
        !(m->classes.is_pair && m->base_count == 1))
        return ln_call_fail(call, LN_INVALID, "%zu base values for %zu classes", m->base_count,
                            e.targets);
    return run_ensemble(&e, finish_classification);
}
