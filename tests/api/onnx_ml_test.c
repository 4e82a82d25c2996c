// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml.

#include <locale.h>

#include "tests/api/values.h"

#define REALS(name, type, dims, data)                                                              \
    "create(| dst=" name " | dtype=" type ", dims=" dims ", ran=[0, 0], data=" data                \
    ", from_file=false);\n"

// ---- Features ----

TEST(features_are_scaled_replaced_and_told_from_a_threshold)
{
    ln_context *ctx = run_text(REALS("x", "TL_FLOAT", "[2, 2]", "[1, -2, 3, 4]") REALS(
        "k", "TL_INT64", "[2]",
        "[7, 9]") "ml_Scaler(X=x | Y=s | offset=[1, 2], scale=[10]);\n"
                  "ml_Binarizer(X=x | Y=b | threshold=1);\n"
                  "ml_Imputer(X=x | Y=i | imputed_value_floats=[5, 6], replaced_value_float=4);\n"
                  "ml_Imputer(X=k | Y=j | imputed_value_int64s=[1], replaced_value_int64=9);\n"
                  "ml_Scaler(X=k | Y=t |);\n");
    check_numbers(ctx, "s", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(0, -40, 20, 20));
    check_numbers(ctx, "b", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(0, 0, 1, 1));
    check_numbers(ctx, "i", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(1, -2, 3, 6));
    check_numbers(ctx, "j", TL_INT64, 1, DIMS(2), NUMBERS(7, 1));
    check_numbers(ctx, "t", TL_FLOAT, 1, DIMS(2), NUMBERS(7, 9));
    close_run(ctx);
}

TEST(rows_are_normalized_unless_that_divides_by_zero)
{
    ln_context *ctx =
        run_text(REALS("x", "TL_DOUBLE", "[3, 2]",
                       "[3, -4, 0, 0, 1, 1]") "ml_Normalizer(X=x | Y=m | norm=\"MAX\");\n"
                                              "ml_Normalizer(X=x | Y=a | norm=\"L1\");\n"
                                              "ml_Normalizer(X=x | Y=e | norm=\"L2\");\n");
    check_numbers(ctx, "m", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(1, -4.0 / 3, 0, 0, 1, 1));
    check_numbers(ctx, "a", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(3.0 / 7, -4.0 / 7, 0, 0, 0.5, 0.5));
    check_numbers(ctx, "e", TL_FLOAT, 2, DIMS(3, 2),
                  NUMBERS(0.6, -0.8, 0, 0, sqrt(0.5), sqrt(0.5)));
    close_run(ctx);
}

TEST(columns_are_picked_and_put_side_by_side)
{
    ln_context *ctx = run_text(
        REALS("x", "TL_INT32", "[2, 3]", "[1, 2, 3, 4, 5, 6]")
            REALS("p", "TL_INT64", "[3]", "[2, 0, 2]") REALS(
                "r", "TL_INT32", "[3]",
                "[7, 8, 9]") "ml_ArrayFeatureExtractor(X=x, Y=p | Z=y |);\n"
                             "ml_ArrayFeatureExtractor(X=r, Y=p | Z=z |);\n"
                             "ml_FeatureVectorizer(X1=x, X2=x | Y=v | inputdimensions=[2, 4]);\n");
    check_numbers(ctx, "y", TL_INT32, 2, DIMS(2, 3), NUMBERS(3, 1, 3, 6, 4, 6));
    check_numbers(ctx, "z", TL_INT32, 2, DIMS(1, 3), NUMBERS(9, 7, 9));
    check_numbers(ctx, "v", TL_FLOAT, 2, DIMS(2, 6), NUMBERS(1, 2, 1, 2, 3, 0, 4, 5, 4, 5, 6, 0));
    close_run(ctx);
    check_fails(REALS("x", "TL_FLOAT", "[2]", "[1, 2]") REALS(
                    "p", "TL_INT64", "[1]", "[-1]") "ml_ArrayFeatureExtractor(X=x, Y=p | Z=y |);\n",
                LN_INVALID, "position -1 is outside 2 columns");
}

// ---- Labels ----

TEST(labels_are_found_by_the_last_key_that_is_equal)
{
    ln_context *ctx = run_text("strings(| dst=x | dims=[3], data=[\"b\", \"z\", \"a\"]);\n" REALS(
        "k", "TL_INT64", "[2]",
        "[4, 1]") "ml_LabelEncoder(X=x | Y=y | keys_strings=[\"a\", \"b\", \"a\"], "
                  "values_int64s=[1, 2, 3], default_int64=-7);\n"
                  "ml_LabelEncoder(X=k | Y=w | keys_int64s=[4, 5], values_strings=[\"four\", \"five\"]);\n"
                  "ml_LabelEncoder(X=x | Y=o | since=1, classes_strings=[\"a\", \"b\"]);\n"
                  "ml_CategoryMapper(X=x | Y=c | cats_strings=[\"a\", \"b\"], cats_int64s=[10, 20]);\n"
                  "ml_CategoryMapper(X=k | Y=d | cats_strings=[\"a\"], cats_int64s=[4]);\n"
                  "ml_OneHotEncoder(X=x | Y=h | cats_strings=[\"a\", \"b\"]);\n");
    check_numbers(ctx, "y", TL_INT64, 1, DIMS(3), NUMBERS(2, -7, 3));
    check_strings(ctx, "w", 1, DIMS(2), STRINGS("four", "_Unused"));
    check_numbers(ctx, "o", TL_INT64, 1, DIMS(3), NUMBERS(1, -1, 0));
    check_numbers(ctx, "c", TL_INT64, 1, DIMS(3), NUMBERS(20, -1, 10));
    check_strings(ctx, "d", 1, DIMS(2), STRINGS("a", "_Unused"));
    check_numbers(ctx, "h", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(0, 1, 0, 0, 1, 0));
    close_run(ctx);
}

TEST(tables_of_labels_may_be_tensors)
{
    ln_context *ctx = run_text(
        REALS("x", "TL_DOUBLE", "[3]", "[0.5, 2, -0]") REALS("k", "TL_DOUBLE", "[2]", "[0, 0.5]")
            REALS("v", "TL_INT16", "[2]", "[30, 31]") REALS(
                "d", "TL_INT16", "[1]",
                "[42]") "ml_LabelEncoder(X=x, keys_tensor=k, values_tensor=v, default_tensor=d | Y=y |);\n");
    check_numbers(ctx, "y", TL_INT16, 1, DIMS(3), NUMBERS(31, 42, 30));
    close_run(ctx);
}

TEST(labels_that_do_not_fit_are_refused)
{
    check_fails("strings(| dst=x | dims=[1], data=[\"a\"]);\n"
                "ml_LabelEncoder(X=x | Y=y | keys_strings=[\"a\", \"b\"], values_int64s=[1]);\n",
                LN_INVALID, "2 keys of type string for 1 values");
    check_fails(REALS("x", "TL_FLOAT", "[1]",
                      "[3]") "ml_OneHotEncoder(X=x | Y=y | cats_int64s=[1, 2], zeros=0);\n",
                LN_INVALID, "element 0 is in no category");
}

TEST(numbers_of_a_run_become_texts)
{
    ln_context *ctx = run_text("input(| dst=k | dtype=TL_INT64, dims=[2]);\n"
                               "ml_LabelEncoder(X=k | Y=w | keys_int64s=[4, 0], "
                               "values_strings=[\"four\", \"none\"]);\n");
    check_strings(ctx, "w", 1, DIMS(2), STRINGS("none", "none"));
    close_run(ctx);
}

// ---- Linear models ----

#define ROWS REALS("x", "TL_FLOAT", "[2, 2]", "[1, 2, -3, 1]")

TEST(linear_functions_decide_between_classes)
{
    // Scores: row 1: 5, 1 and 0; row 2: -1, -6 and 1.
    ln_context *ctx = run_text(
        ROWS "ml_LinearClassifier(X=x | Y=c, Z=z | coefficients=[1, 2, 1, -1, 0, 0], "
             "intercepts=[0, 2, 0], classlabels_strings=[\"p\", \"q\", \"r\"]);\n"
             "ml_LinearClassifier(X=x | Y=d, Z=w | coefficients=[1, 0], intercepts=[0], "
             "classlabels_ints=[10, 20], post_transform=\"LOGISTIC\");\n"
             "ml_LinearRegressor(X=x | Y=y | coefficients=[1, 2, 0, 1], intercepts=[1, 0], "
             "targets=2);\n");
    check_strings(ctx, "c", 1, DIMS(2), STRINGS("p", "r"));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(2, 3), NUMBERS(5, 1, 0, -1, -2, 0));
    check_numbers(ctx, "d", TL_INT64, 1, DIMS(2), NUMBERS(20, 10));
    double p = 1 / (1 + exp(-1.0)), q = 1 / (1 + exp(3.0));
    check_numbers(ctx, "w", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(1 - p, p, 1 - q, q));
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(6, 2, 0, 1));
    close_run(ctx);
    check_fails(ROWS "ml_LinearClassifier(X=x | Y=c, Z=z | coefficients=[1, 2, 3], "
                     "intercepts=[0, 2], classlabels_ints=[1, 2]);\n",
                LN_INVALID, "3 coefficients and 2 intercepts for 2 columns");
}

static void count_warning(const ln_msg *msg, void *user)
{
    if (msg->level == LN_MSG_WARN && strstr(msg->text, "6 coefficients for 2 functions of 2"))
        ++*(int *)user;
}

TEST(coefficients_that_no_function_has_are_left_out_with_one_warning)
{
    int warnings = 0;
    ln_msg_set_handler(count_warning, &warnings);
    ln_context *ctx = run_text(ROWS "ml_LinearClassifier(X=x | Y=c, Z=z | "
                                    "coefficients=[1, 0, 0, 1, 9, 9], intercepts=[0, 2], "
                                    "classlabels_ints=[1, 2]);\n");
    ln_msg_set_handler(NULL, NULL);
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(1, 4, -3, 3));
    CHECK_EQ(warnings, 1);
    close_run(ctx);
}

TEST(support_vectors_vote)
{
    // Two classes with one vector each, an rbf kernel: row 1 is the first vector.
    ln_context *ctx = run_text(
        ROWS "ml_SVMClassifier(X=x | Y=c, Z=z | kernel_type=\"RBF\", kernel_params=[0.5, 0, 0], "
             "vectors_per_class=[1, 1], support_vectors=[1, 2, -3, 1], coefficients=[1, -1], "
             "rho=[0.25], classlabels_ints=[7, 8]);\n"
             "ml_SVMClassifier(X=x | Y=d, Z=w | kernel_type=\"RBF\", kernel_params=[0.5, 0, 0], "
             "vectors_per_class=[1, 1], support_vectors=[1, 2, -3, 1], coefficients=[1, -1], "
             "rho=[0], prob_a=[-2], prob_b=[0], classlabels_strings=[\"u\", \"v\"]);\n"
             "ml_SVMRegressor(X=x | Y=y | kernel_type=\"POLY\", kernel_params=[1, 1, 2], "
             "support_vectors=[1, 0], coefficients=[0.5], n_supports=1, rho=[-1]);\n"
             "ml_SVMRegressor(X=x | Y=o | coefficients=[1, 1], rho=[0], one_class=1);\n");
    double far = exp(-0.5 * 17), p = 1 / (1 + exp(-2 * (1 - far)));
    check_numbers(ctx, "c", TL_INT64, 1, DIMS(2), NUMBERS(7, 8));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(2, 2),
                  NUMBERS(-(1 - far + 0.25), 1 - far + 0.25, -(far - 1 + 0.25), far - 1 + 0.25));
    check_strings(ctx, "d", 1, DIMS(2), STRINGS("u", "v"));
    // Coupling ends when the error is below 0.005 / classes.
    float probabilities[4];
    CHECK_NOT_NULL(ln_context_get_data(ctx, "w", probabilities));
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(probabilities[i], i % 3 == 0 ? p : 1 - p, 0.0025);
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 1), NUMBERS(1, 1));
    check_numbers(ctx, "o", TL_FLOAT, 2, DIMS(2, 1), NUMBERS(1, -1));
    close_run(ctx);
}

// In f32 the second vector would be lost beside the first one.
TEST(vectors_of_a_linear_kernel_are_added_up_in_double)
{
#define CANCELLING "coefficients=[16777216, 1, -16777216], support_vectors=[1, 1, 1], n_supports=3"
    static const char *const targets[] = {"ref", "cpu"};
    static const char text[] = REALS("x", "TL_FLOAT", "[2, 1]", "[3, -0.5]") //
        "ml_SVMRegressor(X=x | Y=y | " CANCELLING ", rho=[0.25]);\n"
        "ml_SVMRegressor(X=x | Y=o | " CANCELLING ", rho=[0], one_class=1);\n";
    CHECK_OK(ln_arch_init());
    for (int t = 0; t < 2; t++) {
        ln_context *ctx = load_text(text, targets[t]);
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 1), NUMBERS(3.25, -0.25));
        check_numbers(ctx, "o", TL_FLOAT, 2, DIMS(2, 1), NUMBERS(1, -1));
        close_context(ctx);
    }
    ln_arch_cleanup();
#undef CANCELLING
}

TEST(a_machine_has_all_that_it_needs)
{
    check_fails(ROWS
                "ml_SVMClassifier(X=x | Y=c, Z=z | vectors_per_class=[3, 2], "
                "support_vectors=[1, 2], coefficients=[1], rho=[0], classlabels_ints=[0, 1]);\n",
                LN_INVALID, "5 support vectors of 2 values");
    check_fails(ROWS "ml_SVMClassifier(X=x | Y=c, Z=z | vectors_per_class=[1, 1, 1], "
                     "support_vectors=[1, 2, 3, 4, 5, 6], coefficients=[1, 2, 3, 4, 5, 6], "
                     "rho=[0, 1], classlabels_ints=[0, 1, 2]);\n",
                LN_INVALID, "2 rho for 3 pairs");
    check_fails(ROWS "ml_SVMRegressor(X=x | Y=y | coefficients=[1, 2, 3], rho=[0]);\n", LN_INVALID,
                "3 coefficients instead of 2");
}

// ---- Trees ----

// Column 0 <= 0.5 ? leaf 1 : (column 1 < 2 ? leaf 3 : leaf 4), and a second tree of one leaf.
#define NODES                                                                                      \
    "nodes_treeids=[0, 0, 0, 0, 0, 9], nodes_nodeids=[0, 1, 2, 3, 4, 0], "                         \
    "nodes_featureids=[0, 0, 1, 0, 0, 0], nodes_values=[0.5, 0, 2, 0, 0, 0], "                     \
    "nodes_modes=[\"BRANCH_LEQ\", \"LEAF\", \"BRANCH_LT\", \"LEAF\", \"LEAF\", \"LEAF\"], "        \
    "nodes_truenodeids=[1, 0, 3, 0, 0, 0], nodes_falsenodeids=[2, 0, 4, 0, 0, 0]"
#define CASES REALS("x", "TL_FLOAT", "[3, 2]", "[0.5, 9, 1, 2, 1, 1]")

TEST(leaves_vote_for_targets)
{
    static const struct {
        const char *aggregate;
        double values[6];
    } cases[] = {
        {"SUM", {11, 1, 1, 5, 21, 1}},
        {"AVERAGE", {5.5, 1, 0.5, 3, 10.5, 1}},
        {"MIN", {1, 1, 1, 5, 1, 1}},
        {"MAX", {10, 1, 1, 5, 20, 1}},
    };
    for (int i = 0; i < 4; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 CASES "ml_TreeEnsembleRegressor(X=x | Y=y | " NODES
                       ", target_treeids=[0, 0, 0, 9], target_nodeids=[1, 4, 3, 0], "
                       "target_ids=[0, 1, 0, 0], target_weights=[10, 4, 20, 1], n_targets=2, "
                       "base_values=[0, 1], aggregate_function=\"%s\");\n",
                 cases[i].aggregate);
        ln_context *ctx = run_text(text);
        check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(3, 2), cases[i].values);
        close_run(ctx);
    }
}

TEST(leaves_vote_for_classes)
{
    ln_context *ctx = run_text(
        CASES "ml_TreeEnsembleClassifier(X=x | Y=c, Z=z | " NODES
              ", class_treeids=[0, 0, 0, 9], class_nodeids=[1, 4, 3, 0], class_ids=[0, 1, 2, 1], "
              "class_weights=[3, 4, 5, 1], classlabels_strings=[\"a\", \"b\", \"c\"]);\n"
              "ml_TreeEnsembleClassifier(X=x | Y=d, Z=w | " NODES
              ", class_treeids=[0, 0, 0, 9], class_nodeids=[1, 4, 3, 0], class_ids=[0, 0, 0, 0], "
              "class_weights=[0.25, 0.5, 0.75, 0.125], classlabels_int64s=[5, 6]);\n"
              "ml_TreeEnsembleClassifier(X=x | Y=e, Z=v | " NODES
              ", class_treeids=[0, 0, 0, 9], class_nodeids=[1, 4, 3, 0], class_ids=[0, 0, 0, 0], "
              "class_weights=[-1, 2, 3, 0.5], classlabels_int64s=[5, 6], "
              "post_transform=\"LOGISTIC\");\n");
    check_strings(ctx, "c", 1, DIMS(3), STRINGS("a", "b", "c"));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(3, 3), NUMBERS(3, 1, 0, 0, 5, 0, 0, 1, 5));
    check_numbers(ctx, "d", TL_INT64, 1, DIMS(3), NUMBERS(5, 6, 6));
    check_numbers(ctx, "w", TL_FLOAT, 2, DIMS(3, 2),
                  NUMBERS(0.625, 0.375, 0.375, 0.625, 0.125, 0.875));
    check_numbers(ctx, "e", TL_INT64, 1, DIMS(3), NUMBERS(5, 6, 6));
    double p = 1 / (1 + exp(0.5)), q = 1 / (1 + exp(-2.5)), r = 1 / (1 + exp(-3.5));
    check_numbers(ctx, "v", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(1 - p, p, 1 - q, q, 1 - r, r));
    close_run(ctx);
}

#define SECOND                                                                                     \
    ", class_treeids=[0, 0, 0, 9], class_nodeids=[1, 4, 3, 0], class_ids=[1, 1, 1, 1], "           \
    "class_weights=[0.25, 0.5, 0.75, 0.125], classlabels_int64s=[5, 6]"

TEST(votes_for_one_of_two_classes)
{
    ln_context *ctx = run_text(
        CASES "ml_TreeEnsembleClassifier(X=x | Y=c, Z=z | " NODES SECOND ");\n"
              "ml_TreeEnsembleClassifier(X=x | Y=d, Z=w | " NODES SECOND
              ", post_transform=\"LOGISTIC\");\n"
              "ml_TreeEnsembleClassifier(X=x | Y=e, Z=v | " NODES
              ", class_treeids=[0, 0, 0, 9], class_nodeids=[1, 4, 3, 0], class_ids=[0, 0, 0, 0], "
              "class_weights=[0.25, 0.5, 0.75, 0.125], classlabels_int64s=[5, 6], "
              "post_transform=\"LOGISTIC\");\n");
    check_numbers(ctx, "c", TL_INT64, 1, DIMS(3), NUMBERS(5, 6, 6));
    check_numbers(ctx, "z", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(0, 0.375, 0, 0.625, 0, 0.875));
    double p = 1 / (1 + exp(-0.375)), q = 1 / (1 + exp(-0.625)), r = 1 / (1 + exp(-0.875));
    check_numbers(ctx, "w", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(0.5, p, 0.5, q, 0.5, r));
    check_numbers(ctx, "v", TL_FLOAT, 2, DIMS(3, 2), NUMBERS(1 - p, p, 1 - q, q, 1 - r, r));
    close_run(ctx);
}

TEST(one_score_of_two_classes_becomes_two)
{
    // Sums 1 and -3.
#define LINEAR(c, z, transform)                                                                    \
    "ml_LinearClassifier(X=x | Y=" c ", Z=" z " | coefficients=[1, 0], intercepts=[0], "           \
    "classlabels_ints=[10, 20], post_transform=\"" transform "\");\n"
#define VECTORS(c, z, transform)                                                                   \
    "ml_SVMClassifier(X=x | Y=" c ", Z=" z " | vectors_per_class=[1, 1], "                         \
    "support_vectors=[1, 0, 0, 0], coefficients=[1, -1], rho=[0], classlabels_ints=[7, 8], "       \
    "kernel_params=[1, 0, 1], post_transform=\"" transform "\");\n"
    ln_context *ctx = run_text(ROWS LINEAR("a", "za", "SOFTMAX") LINEAR("b", "zb", "SOFTMAX_ZERO")
                                   VECTORS("c", "zc", "LOGISTIC") VECTORS("d", "zd", "SOFTMAX"));
    check_numbers(ctx, "za", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(0, 1, 4, -3));
    check_numbers(ctx, "zb", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(0, 1, 4, -3));
    double p = 1 / (1 + exp(-1.0)), q = 1 / (1 + exp(3.0));
    check_numbers(ctx, "zc", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(1 - p, p, 1 - q, q));
    check_numbers(ctx, "zd", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(0, 1, 4, -3));
    close_run(ctx);
}

// One node of any mode with a leaf on each side.
#define SPLIT(modes, truenodes, trueleafs, roots, targets)                                         \
    REALS("s", "TL_FLOAT", "[2]", "[1, 2]")                                                        \
    REALS("w", "TL_FLOAT", "[2]", "[10, 20]")                                                      \
    REALS("m", "TL_UINT8", "[2]", modes)                                                           \
    REALS("x", "TL_FLOAT", "[2, 1]", "[1, 2]")                                                     \
    "ml_TreeEnsemble(X=x, nodes_splits=s, nodes_modes=m, leaf_weights=w | Y=y | "                  \
    "nodes_featureids=[0, 0], nodes_truenodeids=" truenodes ", nodes_falsenodeids=[1, 0], "        \
    "nodes_trueleafs=" trueleafs ", nodes_falseleafs=[1, 1], tree_roots=" roots                    \
    ", leaf_targetids=" targets ", n_targets=2);\n"

TEST(nodes_and_leaves_may_be_listed_apart)
{
    ln_context *ctx = run_text(SPLIT("[0, 1]", "[0, 1]", "[1, 1]", "[0, 1]", "[0, 1]"));
    // Tree 0: x <= 1 ? 10 for target 0 : 20 for target 1. Tree 1: x < 2 ? 20 for 1 : 10 for 0.
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(10, 20, 10, 20));
    close_run(ctx);
}

TEST(trees_that_lie_are_refused)
{
    check_fails(SPLIT("[0, 7]", "[0, 1]", "[1, 1]", "[0]", "[0, 1]"), LN_INVALID, "mode 7");
    check_fails(SPLIT("[0, 6]", "[0, 1]", "[1, 1]", "[0]", "[0, 1]"), LN_INVALID, "too few sets");
    check_fails(SPLIT("[0, 1]", "[0, 2]", "[1, 1]", "[0]", "[0, 1]"), LN_INVALID, "leaf 2 of 2");
    check_fails(SPLIT("[0, 1]", "[0, -1]", "[1, 0]", "[0]", "[0, 1]"), LN_INVALID, "node -1 of 2");
    check_fails(SPLIT("[0, 1]", "[1, 0]", "[0, 0]", "[0]", "[0, 1]"), LN_INVALID, "in a circle");
    check_fails(SPLIT("[0, 1]", "[0, 1]", "[1, 1]", "[2]", "[0, 1]"), LN_INVALID, "node 2 of 2");
    check_fails(SPLIT("[0, 1]", "[0, 1]", "[1, 1]", "[0]", "[0, 2]"), LN_INVALID, "target 2 of 2");
    check_fails(CASES "ml_TreeEnsembleRegressor(X=x | Y=y | nodes_treeids=[0, 0], "
                      "nodes_nodeids=[0, 0], nodes_featureids=[0, 0], nodes_values=[0, 0], "
                      "nodes_modes=[\"LEAF\", \"LEAF\"], nodes_truenodeids=[0, 0], "
                      "nodes_falsenodeids=[0, 0], target_treeids=[0], target_nodeids=[0], "
                      "target_ids=[0], target_weights=[1]);\n",
                LN_INVALID, "node 0 is twice in tree 0");
    check_fails(CASES "ml_TreeEnsembleRegressor(X=x | Y=y | nodes_treeids=[0], "
                      "nodes_nodeids=[0], nodes_featureids=[2], nodes_values=[0], "
                      "nodes_modes=[\"BRANCH_EQ\"], nodes_truenodeids=[0], "
                      "nodes_falsenodeids=[0], target_treeids=[0], target_nodeids=[0], "
                      "target_ids=[0], target_weights=[1]);\n",
                LN_INVALID, "column 2 of 2");
}

// ---- Maps ----

TEST(rows_become_maps)
{
    ln_context *ctx = run_text(ROWS "ml_ZipMap(X=x | Z=m | classlabels_strings=[\"b\", \"a\"]);\n");
    ln_object *maps;
    CHECK_OK(ln_context_get_object(ctx, "m", &maps));
    CHECK_EQ(ln_object_count(maps), 2);
    ln_object *second = ln_object_item(maps, 1);
    CHECK_EQ(ln_object_get_kind(second), LN_OBJECT_MAP);
    const char *const *names = ln_object_tensor(ln_object_item(second, 0))->data;
    CHECK_STR_EQ(names[1], "a");
    const float *values = ln_object_tensor(ln_object_item(second, 1))->data;
    CHECK_NEAR(values[0], -3, 0);
    ln_object_release(maps);
    close_run(ctx);
    check_fails(ROWS "ml_ZipMap(X=x | Z=m | classlabels_int64s=[1]);\n", LN_INVALID,
                "0 strings and 1 numbers as names of 2 columns");
}

// A map {7: 1.5, 3: 2.5}.
static ln_object *make_map(void)
{
    int count = 2;
    ln_object *keys = ln_object_new_tensor(TL_INT64, 1, &count, NULL);
    ln_object *values = ln_object_new_tensor(TL_FLOAT, 1, &count, NULL);
    CHECK(keys && values);
    memcpy(ln_object_tensor(keys)->data, (int64_t[]){7, 3}, 2 * sizeof(int64_t));
    memcpy(ln_object_tensor(values)->data, (float[]){1.5f, 2.5f}, 2 * sizeof(float));
    ln_object *map = ln_object_new_map(keys, values);
    CHECK_NOT_NULL(map);
    ln_object_release(keys);
    ln_object_release(values);
    return map;
}

TEST(maps_become_rows)
{
    ln_arch_init();
    ln_context *ctx = load_text(
        "input(| dst=m | dtype=TL_OBJECT, dims=[], open=true);\n"
        "ml_CastMap(X=m | Y=dense |);\n"
        "ml_CastMap(X=m | Y=sparse | cast_to=\"TO_INT64\", map_form=\"SPARSE\", max_map=8);\n"
        "ml_CastMap(X=m | Y=text | cast_to=\"TO_STRING\");\n"
        "ml_DictVectorizer(X=m | Y=words | int64_vocabulary=[1, 3, 7]);\n",
        "ref");
    ln_object *map = make_map();
    CHECK_OK(ln_context_set_object(ctx, "m", map));
    ln_object_release(map);
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "dense", TL_FLOAT, 2, DIMS(1, 2), NUMBERS(2.5, 1.5));
    check_numbers(ctx, "sparse", TL_INT64, 2, DIMS(1, 8), NUMBERS(0, 0, 0, 2, 0, 0, 0, 1));
    check_strings(ctx, "text", 2, DIMS(1, 2), STRINGS("2.500000", "1.500000"));
    check_numbers(ctx, "words", TL_FLOAT, 2, DIMS(1, 3), NUMBERS(0, 2.5, 1.5));
    close_run(ctx);
}

// {0: "2.5", 1: first}
static ln_object *make_text_map(const char *first)
{
    const int two[] = {2};
    ln_object *keys = ln_object_new_tensor(TL_INT64, 1, two, NULL);
    ln_object *values = ln_object_new_tensor(TL_STRING, 1, two, NULL);
    CHECK(keys && values);
    ((int64_t *)ln_object_tensor(keys)->data)[0] = 0;
    ((int64_t *)ln_object_tensor(keys)->data)[1] = 1;
    CHECK_OK(ln_object_set_string(values, 0, "2.5", 3));
    CHECK_OK(ln_object_set_string(values, 1, first, strlen(first)));
    ln_object *map = ln_object_new_map(keys, values);
    CHECK_NOT_NULL(map);
    ln_object_release(keys);
    ln_object_release(values);
    return map;
}

TEST(maps_have_decimal_points_whatever_the_locale)
{
    static const char *const locales[] = {"C", "de_DE.UTF-8"};
    ln_arch_init();
    for (size_t i = 0; i < 2; i++) {
        ln_context *ctx = load_text("input(| dst=m | dtype=TL_OBJECT, dims=[], open=true);\n"
                                    "ml_CastMap(X=m | Y=text | cast_to=\"TO_STRING\");\n"
                                    "ml_CastMap(X=m | Y=real |);\n",
                                    "ref");
        if (!setlocale(LC_NUMERIC, locales[i]))
            print_message("no locale %s is installed\n", locales[i]);
        ln_object *map = make_map(), *texts = make_text_map("-1e3");
        CHECK_OK(ln_context_set_object(ctx, "m", map));
        CHECK_OK(ln_context_run(ctx));
        check_strings(ctx, "text", 2, DIMS(1, 2), STRINGS("2.500000", "1.500000"));
        CHECK_OK(ln_context_set_object(ctx, "m", texts));
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "real", TL_FLOAT, 2, DIMS(1, 2), NUMBERS(2.5, -1000));
        ln_object_release(map);
        ln_object_release(texts);
        close_context(ctx);
    }
    setlocale(LC_NUMERIC, "C");
    ln_arch_cleanup();
}

TEST(texts_that_are_no_numbers_are_refused)
{
    ln_arch_init();
    ln_context *ctx = load_text("input(| dst=m | dtype=TL_OBJECT, dims=[], open=true);\n"
                                "ml_CastMap(X=m | Y=real |);\n",
                                "ref");
    ln_object *texts = make_text_map("2,5");
    CHECK_OK(ln_context_set_object(ctx, "m", texts));
    CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
    CHECK_MESSAGE("the value '2,5' of the map is no number");
    ln_object_release(texts);
    close_run(ctx);
}

TEST_LIST(features_are_scaled_replaced_and_told_from_a_threshold,
          rows_are_normalized_unless_that_divides_by_zero, columns_are_picked_and_put_side_by_side,
          labels_are_found_by_the_last_key_that_is_equal, tables_of_labels_may_be_tensors,
          labels_that_do_not_fit_are_refused, numbers_of_a_run_become_texts,
          linear_functions_decide_between_classes,
          coefficients_that_no_function_has_are_left_out_with_one_warning, support_vectors_vote,
          vectors_of_a_linear_kernel_are_added_up_in_double, a_machine_has_all_that_it_needs,
          leaves_vote_for_targets, leaves_vote_for_classes, votes_for_one_of_two_classes,
          one_score_of_two_classes_becomes_two, nodes_and_leaves_may_be_listed_apart,
          trees_that_lie_are_refused, rows_become_maps, maps_become_rows,
          maps_have_decimal_points_whatever_the_locale, texts_that_are_no_numbers_are_refused)
