// SPDX-License-Identifier: Apache-2.0
// Attention of ONNX. Where queries are 0 all scores are equal, and each query gets the mean of the
// values it sees.

#include <stdbool.h>

#include "tests/api/onnx_outputs.h"

// Three queries and keys of one head, and values 1, 3, 8.
#define ZEROS                                                                                      \
    F32("q", "[1, 1, 3, 1]", "[0, 0, 0]")                                                          \
    F32("k", "[1, 1, 3, 1]", "[1, 2, 3]") F32("v", "[1, 1, 3, 1]", "[1, 3, 8]")
#define PLAIN  "Attention(Q=q, K=k, V=v | Y=y | "
#define MASKED "Attention(Q=q, K=k, V=v, attn_mask=m | Y=y | "

TEST(queries_see_what_masks_leave)
{
    static const onnx_output cases[] = {
        {"all", ZEROS PLAIN ");", "1x1x3x1", {4, 4, 4}},
        {"nothing behind their own place", ZEROS PLAIN "is_causal=1);", "1x1x3x1", {1, 2, 4}},
        {"one key before",
         ZEROS PLAIN "left_window_size=1, right_window_size=0);",
         "1x1x3x1",
         {1, 2, 5.5}},
        {"one key behind",
         ZEROS PLAIN "left_window_size=0, right_window_size=1);",
         "1x1x3x1",
         {2, 5.5, 8}},
        {"a window that is also causal",
         ZEROS PLAIN "right_window_size=2, is_causal=1);",
         "1x1x3x1",
         {1, 2, 4}},
        {"true keys",
         ZEROS BOOLS("m", "[1, 3]", "[1, 0, 1]") MASKED ");",
         "1x1x3x1",
         {4.5, 4.5, 4.5}},
        {"a query without keys gets 0",
         ZEROS BOOLS("m", "[3, 3]", "[1, 0, 0, 0, 0, 0, 0, 0, 1]") MASKED ");",
         "1x1x3x1",
         {1, 0, 8}},
        {"true keys that are not behind",
         ZEROS BOOLS("m", "[1, 3]", "[0, 1, 1]") MASKED "is_causal=1);",
         "1x1x3x1",
         {0, 3, 5.5}},
        {"a score that is added: weights 1, 1, 2",
         ZEROS F32("m", "[1, 3]", "[0, 0, 0.69314718056]") MASKED ");",
         "1x1x3x1",
         {5, 5, 5}},
        {"keys behind a short mask are hidden",
         ZEROS BOOLS("m", "[1, 2]", "[1, 1]") MASKED ");",
         "1x1x3x1",
         {2, 2, 2}},
        {"so is all but the first behind one value",
         ZEROS BOOLS("m", "[1, 1]", "[1]") MASKED "since=24);",
         "1x1x3x1",
         {1, 1, 1}},
        {"which was repeated once",
         ZEROS BOOLS("m", "[1, 1]", "[1]") MASKED "since=23);",
         "1x1x3x1",
         {4, 4, 4}},
        {"keys in use, of each image",
         F32("q", "[2, 1, 2, 1]", "[0, 0, 0, 0]") F32("k", "[2, 1, 3, 1]", "[1, 2, 3, 1, 2, 3]")
             F32("v", "[2, 1, 3, 1]", "[1, 3, 8, 2, 4, 9]")
                 I64("n", "[2]", "[3, 2]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=y |);",
         "2x1x2x1",
         {4, 4, 3, 3}},
        {"the last of them are the queries' own, in each image",
         F32("q", "[2, 1, 2, 1]", "[0, 0, 0, 0]") F32("k", "[2, 1, 3, 1]", "[1, 2, 3, 1, 2, 3]")
             F32("v", "[2, 1, 3, 1]", "[1, 3, 8, 2, 4, 9]")
                 I64("n", "[2]",
                     "[3, 2]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=y | is_causal=1);",
         "2x1x2x1",
         {2, 4, 2, 3}},
        {"keys in use",
         ZEROS I64("n", "[1]", "[2]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=y |);",
         "1x1x3x1",
         {2, 2, 2}},
        {"the last of them is the last query's own",
         F32("q", "[1, 1, 1, 1]", "[0]") F32("k", "[1, 1, 3, 1]",
                                             "[1, 2, 3]") F32("v", "[1, 1, 3, 1]", "[1, 3, 8]")
             I64("n", "[1]",
                 "[2]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=y | is_causal=1, left_window_size=0);",
         "1x1x1x1",
         {3}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(what_is_past_comes_first)
{
    static const onnx_output cases[] = {
        {"a past value of 5",
         ZEROS F32("pk", "[1, 1, 1, 1]", "[0]")
             F32("pv", "[1, 1, 1, 1]",
                 "[5]") "Attention(Q=q, K=k, V=v, past_key=pk, past_value=pv | Y=y | is_causal=1);",
         "1x1x3x1",
         {3, 3, 4.25}},
        {"present values",
         ZEROS F32("pk", "[1, 1, 1, 1]", "[0]")
             F32("pv", "[1, 1, 1, 1]",
                 "[5]") "Attention(Q=q, K=k, V=v, past_key=pk, past_value=pv | Y=z, present_key=w, "
                        "present_value=y |);",
         "1x1x4x1",
         {5, 1, 3, 8}},
        {"present keys without a past",
         ZEROS "Attention(Q=q, K=k, V=v | Y=z, present_key=y, present_value=w |);",
         "1x1x3x1",
         {1, 2, 3}},
        {"an empty past",
         ZEROS F32("pk", "[1, 1, 0, 1]", "[0]")
             F32("pv", "[1, 1, 0, 1]",
                 "[0]") "Attention(Q=q, K=k, V=v, past_key=pk, past_value=pv | Y=y |);",
         "1x1x3x1",
         {4, 4, 4}},
    };
    CHECK_OUTPUTS(cases);
}

// One query of 2 for keys of 1 and 3: scores 2 and 6 with scale 1.
#define SCORES                                                                                     \
    F32("q", "[1, 1, 1, 1]", "[2]")                                                                \
    F32("k", "[1, 1, 2, 1]", "[1, 3]") F32("v", "[1, 1, 2, 1]", "[0, 1]")
#define QK(mode) "qk_matmul_output_mode=" mode

// One query after a past of two keys. numpy: s = log(m), -inf hides a key; e = exp(s - max(s)),
// e / sum(e) @ v, and 0 where all of s is -inf. A row that is NaN because of its values stays NaN.
#define AFTER_TWO(mask, past, params)                                                              \
    F32("q", "[1, 1, 1, 1]", "[0]")                                                                \
    F32("k", "[1, 1, 1, 1]", "[0]")                                                                \
    F32("v", "[1, 1, 1, 1]", "[8]")                                                                \
    F32("pk", "[1, 1, 2, 1]", "[0, 0]")                                                            \
    F32("n", "[1, 1, 2, 1]", past)                                                                 \
    F32("l", "[1, 3]", mask)                                                                       \
    "Log(input=l | output=m |);\n"                                                                 \
    "Div(A=n, B=n | C=nans |);\n"                                                                  \
    "Add(A=n, B=nans | C=pv |);\n"                                                                 \
    "Attention(Q=q, K=k, V=v, "                                                                    \
    "attn_mask=m, past_key=pk, "                                                                   \
    "past_value=pv | Y=y | " params ");"

TEST(a_query_after_a_past_sees_what_its_mask_leaves)
{
    static const onnx_output cases[] = {
        {"all", AFTER_TWO("[1, 1, 1]", "[2, 4]", "is_causal=1"), "1x1x1x1", {16.0 / 3}},
        {"its own key", AFTER_TWO("[0, 0, 1]", "[2, 4]", "is_causal=1"), "1x1x1x1", {8}},
        {"none", AFTER_TWO("[0, 0, 0]", "[2, 4]", "is_causal=1"), "1x1x1x1", {0}},
        {"none, without an order", AFTER_TWO("[0, 0, 0]", "[2, 4]", ""), "1x1x1x1", {0}},
        {"NaN in what it sees", AFTER_TWO("[0, 1, 1]", "[2, 0]", "is_causal=1"), "1x1x1x1", {NAN}},
        {"NaN in all that it sees", AFTER_TWO("[0, 1, 0]", "[2, 0]", ""), "1x1x1x1", {NAN}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(scores_can_be_seen_at_each_stage)
{
    static const onnx_output cases[] = {
        {"raw",
         SCORES "Attention(Q=q, K=k, V=v | Y=z, qk_matmul_output=y | softcap=4);",
         "1x1x1x2",
         {2, 6}},
        {"scaled",
         SCORES "Attention(Q=q, K=k, V=v | Y=z, qk_matmul_output=y | scale=0.25);",
         "1x1x1x2",
         {0.5, 1.5}},
        {"capped: 4 tanh(score / 4)",
         SCORES "Attention(Q=q, K=k, V=v | Y=z, qk_matmul_output=y | softcap=4, " QK("1") ");",
         "1x1x1x2",
         {1.84846862904, 3.62059301459}},
        {"with the mask",
         SCORES F32(
             "m", "[1, 2]",
             "[1, -1]") "Attention(Q=q, K=k, V=v, attn_mask=m | Y=z, qk_matmul_output=y | " QK("2") ");",
         "1x1x1x2",
         {3, 5}},
        {"probabilities",
         SCORES "Attention(Q=q, K=k, V=v | Y=z, qk_matmul_output=y | " QK("3") ");",
         "1x1x1x2",
         {0.01798620996, 0.98201379004}},
    };
    static const onnx_output in_doubles[] = {
        {"huge scores do not overflow",
         F32("q", "[1, 1, 1, 1]", "[3e19]") F32("k", "[1, 1, 2, 1]", "[3e19, -3e19]")
             F32("v", "[1, 1, 2, 1]", "[5, 1]") "Attention(Q=q, K=k, V=v | Y=y |);",
         "1x1x1x1",
         {5}},
    };
    CHECK_OUTPUTS(cases);
    CHECK_OUTPUTS_ON("ref", in_doubles);
}

// Places hide keys from queries: causal order, windows and lengths. What is there may be anything,
// as in memory that is not in use yet. Keys give the weights exp(key), and the queries are 1.
#define KEYS(k, v)                                                                                 \
    F32("q", "[1, 1, 3, 1]", "[1, 1, 1]")                                                          \
    F32("k", "[1, 1, 3, 1]", k) F32("v", "[1, 1, 3, 1]", v)
#define LOG3      "1.09861228867"
#define OF(more)  "attention(q=q, k=k, v=v" more " | dst=y | "
#define LENGTH(n) I64("n", "[1]", n)

TEST(keys_of_other_places_take_no_part)
{
    static const onnx_output cases[] = {
        {"numbers: (1 + 3 * 5) / 4, (1 + 3 * 5 + 3 * 8) / 7",
         KEYS("[0, " LOG3 ", " LOG3 "]", "[1, 5, 8]") OF("") "is_causal=1);",
         "1x1x3x1",
         {1, 4, 40 / 7.0}},
        {"a later key",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, 8]") OF("") "is_causal=1);",
         "1x1x3x1",
         {1, 4, NAN}},
        {"a later value",
         KEYS("[0, " LOG3 ", 0]", "[1, 5, nan]") OF("") "is_causal=1);",
         "1x1x3x1",
         {1, 4, NAN}},
        {"an infinite one",
         KEYS("[0, " LOG3 ", 0]", "[1, 5, inf]") OF("") "is_causal=1);",
         "1x1x3x1",
         {1, 4, INFINITY}},
        {"a key before a window",
         KEYS("[nan, 0, " LOG3 "]", "[8, 1, 5]") OF("") "left_window_size=1);",
         "1x1x3x1",
         {NAN, NAN, 4}},
        {"a value before it",
         KEYS("[0, 0, " LOG3 "]", "[nan, 1, 5]") OF("") "left_window_size=1);",
         "1x1x3x1",
         {NAN, NAN, 4}},
        {"a key after a window",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, 8]") OF("") "right_window_size=1);",
         "1x1x3x1",
         {4, NAN, NAN}},
        {"an infinite one, and weights that count as 0",
         KEYS("[0, " LOG3 ", inf]", "[1, 5, 8]") OF("") "right_window_size=1, guarded=true);",
         "1x1x3x1",
         {4, 0, 0}},
        {"keys on both sides",
         KEYS("[nan, 0, nan]", "[1, 5, 8]") OF("") "left_window_size=0, right_window_size=0);",
         "1x1x3x1",
         {NAN, 5, NAN}},
        {"keys not in use",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, nan]") LENGTH("[2]") OF(", lengths=n") ");",
         "1x1x3x1",
         {4, 4, 4}},
        {"with a mask that is added",
         KEYS("[0, 0, nan]", "[1, 5, nan]") F32("m", "[1, 3]", "[0, " LOG3 ", 0]")
             OF(", mask=m") "is_causal=1);",
         "1x1x3x1",
         {1, 4, NAN}},
        {"with a mask of bools",
         KEYS("[0, 0, nan]", "[1, 5, nan]") BOOLS("m", "[1, 3]", "[0, 1, 1]")
             OF(", mask=m") "is_causal=1, zero_if_hidden=true);",
         "1x1x3x1",
         {0, 5, NAN}},
        {"one element of a value, in the second of two heads that share keys",
         F32("q", "[1, 2, 2, 2]", "[0, 0, 0, 0, 0, 0, 0, 0]")
             F32("k", "[1, 1, 2, 2]", "[0, 0, 0, 0]") F32("v", "[1, 1, 2, 2]", "[1, 2, 3, nan]")
                 OF("") "is_causal=1);",
         "1x2x2x2",
         {1, 2, 2, NAN, 1, 2, 2, NAN}},
    };
    CHECK_OUTPUTS(cases);
}

// Of three queries and two keys in use, the last two queries have a place.
TEST(a_query_that_sees_no_key_is_nan_or_0)
{
    static const onnx_output cases[] = {
        {"NaN",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, 8]") LENGTH("[2]") OF(", lengths=n") "is_causal=1);",
         "1x1x3x1",
         {NAN, 1, 4}},
        {"in a window too",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, 8]") LENGTH("[2]")
             OF(", lengths=n") "right_window_size=0);",
         "1x1x3x1",
         {NAN, 1, 4}},
        {"0 if guarded",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, nan]") LENGTH("[2]")
             OF(", lengths=n") "is_causal=1, guarded=true);",
         "1x1x3x1",
         {0, 1, 4}},
        {"0 if it says so",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, nan]") LENGTH("[2]")
             OF(", lengths=n") "is_causal=1, zero_if_hidden=true);",
         "1x1x3x1",
         {0, 1, 4}},
        {"0 in ONNX",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, nan]")
             LENGTH("[2]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=y | is_causal=1);",
         "1x1x3x1",
         {0, 1, 4}},
        {"whatever the values that a mask hides",
         KEYS("[0, nan, 0]", "[nan, 1, 1]")
             BOOLS("m", "[1, 3]", "[0, 0, 0]") "Attention(Q=q, K=k, V=v, attn_mask=m | Y=y |);",
         "1x1x3x1",
         {0, 0, 0}},
        {"no probabilities, and none behind a query's place",
         KEYS("[0, " LOG3 ", nan]", "[1, 5, 8]") LENGTH(
             "[2]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=z, qk_matmul_output=y | "
                    "is_causal=1, " QK("3") ");",
         "1x1x3x3",
         {0, 0, 0, 1, 0, 0, 0.25, 0.75, 0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(heads_share_keys_in_runs)
{
    static const onnx_output cases[] = {
        {"four heads of queries, two of keys",
         F32("q", "[1, 4, 1, 1]", "[0, 0, 0, 0]") F32("k", "[1, 2, 1, 1]", "[1, 1]")
             F32("v", "[1, 2, 1, 2]", "[1, 2, 3, 4]") "Attention(Q=q, K=k, V=v | Y=y |);",
         "1x4x1x2",
         {1, 2, 1, 2, 3, 4, 3, 4}},
        {"packed",
         F32("q", "[1, 1, 4]", "[0, 0, 0, 0]") F32("k", "[1, 1, 2]", "[1, 1]")
             F32("v", "[1, 1, 4]",
                 "[1, 2, 3, 4]") "Attention(Q=q, K=k, V=v | Y=y | q_num_heads=4, kv_num_heads=2);",
         "1x1x8",
         {1, 2, 1, 2, 3, 4, 3, 4}},
        {"no tokens",
         F32("q", "[1, 1, 0, 2]", "[0]") F32("k", "[1, 1, 0, 2]", "[0]")
             F32("v", "[1, 1, 0, 2]", "[0]") "Attention(Q=q, K=k, V=v | Y=y |);",
         "1x1x0x2",
         {0}},
        {"no keys",
         F32("q", "[1, 1, 1, 2]", "[1, 1]") F32("k", "[1, 1, 0, 2]", "[0]")
             F32("v", "[1, 1, 0, 2]", "[0]") "Attention(Q=q, K=k, V=v | Y=y |);",
         "1x1x1x2",
         {0, 0}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(attention_tells_what_does_not_fit)
{
    static const onnx_refusal cases[] = {
        {"packed without heads", F32("q", "[1, 1, 4]", "[0]") "Attention(Q=q, K=q, V=q | Y=y |);",
         "cannot split 4 elements of Q into 0 heads"},
        {"three heads for two",
         F32("q", "[1, 3, 1, 1]", "[0]")
             F32("k", "[1, 2, 1, 1]", "[0]") "Attention(Q=q, K=k, V=k | Y=y |);",
         "cannot share 2 heads of keys among 3"},
        {"only a past key", ZEROS "Attention(Q=q, K=k, V=v, past_key=k | Y=y |);", "only together"},
        {"a mask of another shape", ZEROS BOOLS("m", "[2, 3]", "[1]") MASKED ");",
         "a mask that does not fit 1 x 1 x 3 x 3"},
        {"a window of -2", ZEROS PLAIN "left_window_size=-2);", "window of -2"},
        {"more keys in use than there are",
         ZEROS I64("n", "[1]", "[4]") "Attention(Q=q, K=k, V=v, nonpad_kv_seqlen=n | Y=y |);",
         "a length of 4 for 3 keys"},
        {"empty heads with scores without end",
         "input(| dst=q | dtype=TL_FLOAT, dims=[1, 1, 2000000000, 0]);\n"
         "Attention(Q=q, K=q, V=q | Y=y |);",
         "over the limit"},
        {"mode 4", ZEROS PLAIN QK("4") ");", "no qk_matmul_output_mode 4"},
        {"queries of another size",
         ZEROS F32("p", "[1, 1, 1, 2]", "[0]") "Attention(Q=p, K=k, V=v | Y=y |);",
         "queries of 2 elements for keys of 1"},
    };
    CHECK_REFUSALS(cases);
}

// ---- Masks of every shape ----

enum { IMAGES = 2, HEADS = 2, TOKEN_COUNT = 70, SIZE = 3 };

static bool is_hidden(const int *dims, int image, int head, int query, int key)
{
    int at = dims[0] > 1 ? image : 0;
    at = at * dims[1] + (dims[1] > 1 ? head : 0);
    at = at * dims[2] + (dims[2] > 1 ? query : 0);
    at = at * dims[3] + key;
    return key > 0 && (at * 37 + at / 11) % 5 < 2;
}

static double number_at(int image, int head, int token, int i, int salt)
{
    int at = ((image * HEADS + head) * TOKEN_COUNT + token) * SIZE + i;
    return (double)((at * 29 + salt) % 31) / 16 - 1;
}

// softmax(q k / sqrt(size)) v over the keys that the mask leaves, in double.
static double expected_at(const int *mask, int image, int head, int query, int i)
{
    double sum = 0, weighed = 0;
    for (int key = 0; key < TOKEN_COUNT; key++) {
        double score = 0;
        for (int d = 0; d < SIZE; d++)
            score += number_at(image, head, query, d, 1) * number_at(image, head, key, d, 2);
        double weight =
            is_hidden(mask, image, head, query, key) ? 0 : exp(score / sqrt((double)SIZE));
        sum += weight;
        weighed += weight * number_at(image, head, key, i, 3);
    }
    return weighed / sum;
}

static void set_numbers(ln_context *ctx, const char *name, int salt)
{
    static float numbers[IMAGES * HEADS * TOKEN_COUNT * SIZE];
    for (int i = 0; i < IMAGES * HEADS * TOKEN_COUNT * SIZE; i++)
        numbers[i] = (float)number_at(0, 0, 0, i, salt);
    CHECK_OK(ln_context_set_data_n(ctx, name, numbers, sizeof numbers));
}

static void set_mask(ln_context *ctx, const int *dims, bool is_bool)
{
    ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, "m");
    for (int i = 0; i < entry->tensor->len; i++) {
        int rest = i, key = rest % dims[3], query = (rest /= dims[3]) % dims[2];
        int head = (rest /= dims[2]) % dims[1], image = rest / dims[1];
        bool hidden = is_hidden(dims, image, head, query, key);
        if (is_bool)
            ((tl_bool *)entry->tensor->data)[i] = !hidden;
        else
            ((float *)entry->tensor->data)[i] = hidden ? -INFINITY : 0;
    }
}

static void check_mask(const char *target, const int *dims, bool is_bool)
{
#define HEADED(name) "input(| dst=" name " | dtype=TL_FLOAT, dims=[2, 2, 70, 3]);\n"
    static float y[IMAGES][HEADS][TOKEN_COUNT][SIZE];
    char text[512];
    snprintf(text, sizeof text,
             HEADED("q") HEADED("k")
                 HEADED("v") "input(| dst=m | dtype=%s, dims=[%d, %d, %d, %d]);\n"
                             "Attention(Q=q, K=k, V=v, attn_mask=m | Y=y |);\n",
             is_bool ? "TL_BOOL" : "TL_FLOAT", dims[0], dims[1], dims[2], dims[3]);
    ln_context *ctx = load_text(text, target);
    set_numbers(ctx, "q", 1);
    set_numbers(ctx, "k", 2);
    set_numbers(ctx, "v", 3);
    set_mask(ctx, dims, is_bool);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
    for (int at = 0; at < IMAGES * HEADS * TOKEN_COUNT * SIZE; at++) {
        int i = at % SIZE, query = at / SIZE % TOKEN_COUNT, head = at / SIZE / TOKEN_COUNT % HEADS;
        int image = at / SIZE / TOKEN_COUNT / HEADS;
        CHECK_NEAR(y[image][head][query][i], expected_at(dims, image, head, query, i), 1e-5);
    }
    close_context(ctx);
}

TEST(masks_repeat_where_they_have_one)
{
    static const int dims[][4] = {{2, 2, 70, 70}, {1, 2, 70, 70}, {2, 1, 70, 70}, {2, 2, 1, 70},
                                  {1, 1, 70, 70}, {2, 1, 1, 70},  {1, 2, 1, 70},  {1, 1, 1, 70}};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
        for (int is_bool = 0; is_bool < 2; is_bool++) {
            check_mask("ref", dims[i], is_bool);
            check_mask("cpu", dims[i], is_bool);
        }
    ln_arch_cleanup();
}

// ---- LinearAttention ----

// Two tokens of one head with key 1 and query 1, values 3 and 5.
#define TOKENS                                                                                     \
    F32("q", "[1, 2, 1]", "[1, 1]")                                                                \
    F32("k", "[1, 2, 1]", "[1, 1]") F32("v", "[1, 2, 1]", "[3, 5]")
#define LINEAR(inputs, params)                                                                     \
    "LinearAttention(query=q, key=k, value=v" inputs                                               \
    " | output=y, present_state=s | q_num_heads=1, kv_num_heads=1, scale=1, update_rule=" params   \
    ");"

TEST(a_state_is_written_and_read)
{
    static const onnx_output cases[] = {
        {"values add up", TOKENS LINEAR("", "linear"), "1x2x1", {3, 8}},
        {"behind those of the past",
         TOKENS F32("p", "[1, 1, 1, 1]", "[10]") LINEAR(", past_state=p", "linear"),
         "1x2x1",
         {13, 18}},
        {"half is left: exp(-0.693)",
         TOKENS F32("d", "[1, 2, 1]", "[-0.69314718056, -0.69314718056]")
             LINEAR(", decay=d", "gated"),
         "1x2x1",
         {3, 6.5}},
        {"half of the error is corrected",
         TOKENS F32("b", "[1, 2, 1]", "[0.5, 0.5]") LINEAR(", beta=b", "delta"),
         "1x2x1",
         {1.5, 3.25}},
        {"both",
         TOKENS F32("b", "[1, 2, 1]", "[0.5, 0.5]")
             F32("d", "[1, 2, 1]", "[-0.69314718056, -0.69314718056]")
                 LINEAR(", decay=d, beta=b", "gated_delta"),
         "1x2x1",
         {1.5, 2.875}},
    };
    static const onnx_refusal refusals[] = {
        {"a gated rule without decay", TOKENS LINEAR("", "gated"), "takes decay"},
        {"a rule nobody knows", TOKENS LINEAR("", "magic"), "unknown update_rule 'magic'"},
        {"a state of another shape",
         TOKENS F32("p", "[1, 1, 2, 1]", "[0]") LINEAR(", past_state=p", "linear"),
         "needs past_state"},
    };
    CHECK_OUTPUTS(cases);
    CHECK_REFUSALS(refusals);
}

// ---- RotaryEmbedding ----

// A quarter of a turn at position 1, none at position 0.
#define QUARTER                                                                                    \
    F32("c", "[2, 2]", "[1, 1, 0, 0]")                                                             \
    F32("s", "[2, 2]", "[0, 0, 1, 1]") F32("x", "[1, 1, 1, 4]", "[1, 2, 3, 4]")
#define TURN(params) "RotaryEmbedding(X=x, cos_cache=c, sin_cache=s, position_ids=p | Y=y | " params

TEST(pairs_turn_by_the_angle_of_their_position)
{
    static const onnx_output cases[] = {
        {"halves", QUARTER I64("p", "[1, 1]", "[1]") TURN(");"), "1x1x1x4", {-3, -4, 1, 2}},
        {"neighbours",
         QUARTER I64("p", "[1, 1]", "[1]") TURN("interleaved=1);"),
         "1x1x1x4",
         {-2, 1, -4, 3}},
        {"only the first two",
         QUARTER I64("p", "[1, 1]", "[1]") TURN("rotary_embedding_dim=2);"),
         "1x1x1x4",
         {-2, 1, 3, 4}},
        {"position 0", QUARTER I64("p", "[1, 1]", "[0]") TURN(");"), "1x1x1x4", {1, 2, 3, 4}},
        {"from the end", QUARTER I64("p", "[1, 1]", "[-1]") TURN(");"), "1x1x1x4", {-3, -4, 1, 2}},
        {"a row for each token",
         F32("x", "[1, 2, 2]", "[1, 2, 3, 4]") F32("c", "[1, 2, 1]", "[0, 1]")
             F32("s", "[1, 2, 1]",
                 "[1, 0]") "RotaryEmbedding(X=x, cos_cache=c, sin_cache=s | Y=y | num_heads=1);",
         "1x2x2",
         {-2, 1, 3, 4}},
        {"of com.microsoft, from position 1 on",
         F32("x", "[1, 1, 4]",
             "[1, 2, 3, 4]") F32("c", "[2, 2]", "[1, 1, 0, 0]") F32("s", "[2, 2]", "[0, 0, 1, 1]")
             I64("p", "[1]",
                 "[1]") "ms_RotaryEmbedding(input=x, position_ids=p, cos_cache=c, sin_cache=s | output=y |);",
         "1x1x4",
         {-3, -4, 1, 2}},
    };
    static const onnx_refusal refusals[] = {
        {"no such position", QUARTER I64("p", "[1, 1]", "[2]") TURN(");"),
         "position 2, but angles for 2"},
        {"an odd number of elements",
         QUARTER I64("p", "[1, 1]", "[1]") TURN("rotary_embedding_dim=3);"),
         "cannot rotate 3 elements"},
    };
    CHECK_OUTPUTS(cases);
    CHECK_REFUSALS(refusals);
}

TEST_LIST(keys_of_other_places_take_no_part, a_query_that_sees_no_key_is_nan_or_0,
          masks_repeat_where_they_have_one, queries_see_what_masks_leave, what_is_past_comes_first,
          a_query_after_a_past_sees_what_its_mask_leaves, scores_can_be_seen_at_each_stage,
          heads_share_keys_in_runs, attention_tells_what_does_not_fit, a_state_is_written_and_read,
          pairs_turn_by_the_angle_of_their_position)
