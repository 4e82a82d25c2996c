// SPDX-License-Identifier: Apache-2.0
// Attention of com.microsoft. Where queries are 0 all scores are equal, and each query gets the
// mean of the values it sees.

#include "tests/api/onnx_outputs.h"

// ---- MultiHeadAttention ----

// Two queries and three keys of one head of size 1, and values 1, 3, 8.
#define ZEROS                                                                                      \
    F32("q", "[1, 2, 1]", "[0, 0]")                                                                \
    F32("k", "[1, 3, 1]", "[1, 2, 3]") F32("v", "[1, 3, 1]", "[1, 3, 8]")
#define MHA(inputs, params)                                                                        \
    "ms_MultiHeadAttention(query=q, key=k, value=v" inputs " | output=y | num_heads=1" params ");"

#define CAPTURE(name) "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"

TEST(masks_come_in_several_shapes)
{
    static const onnx_output cases[] = {
        {"none", ZEROS MHA("", ""), "1x2x1", {4, 4}},
        {"the end of each sequence",
         ZEROS I32("m", "[1]", "[2]") MHA(", key_padding_mask=m", ""),
         "1x2x1",
         {2, 2}},
        {"its end and its start",
         ZEROS I32("m", "[2]", "[3, 1]") MHA(", key_padding_mask=m", ""),
         "1x2x1",
         {5.5, 5.5}},
        {"each key",
         ZEROS I32("m", "[1, 3]", "[1, 0, 1]") MHA(", key_padding_mask=m", ""),
         "1x2x1",
         {4.5, 4.5}},
        {"each key for each query",
         ZEROS I32("m", "[1, 2, 3]", "[1, 0, 0, 0, 1, 1]") MHA(", key_padding_mask=m", ""),
         "1x2x1",
         {1, 5.5}},
        {"what a mask adds may be little: weights 2, 1, 1",
         ZEROS I32("m", "[1]", "[1]")
             MHA(", key_padding_mask=m", ", mask_filter_value=-0.69314718056"),
         "1x2x1",
         {3.25, 3.25}},
        {"where all is hidden all is equal",
         ZEROS I32("m", "[1, 3]", "[0, 0, 0]") MHA(", key_padding_mask=m", ""),
         "1x2x1",
         {4, 4}},
        {"scores are added: weights 1, 1, 2 for the second query",
         ZEROS F32("a", "[1, 1, 2, 3]", "[0, 0, 0, 0, 0, 0.69314718056]")
             MHA(", attention_bias=a", ""),
         "1x2x1",
         {4, 5}},
        {"nothing behind its own place", ZEROS MHA("", ", unidirectional=1"), "1x2x1", {1, 2}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(inputs_are_packed_in_several_ways)
{
    static const onnx_output cases[] = {
        {"keys and values by head",
         F32("q", "[1, 1, 2]", "[0, 0]") F32("k", "[1, 2, 2, 1]", "[0, 0, 0, 0]") F32(
             "v", "[1, 2, 2, 1]",
             "[1, 3, 5, 9]") "ms_MultiHeadAttention(query=q, key=k, value=v | output=y | num_heads=2);",
         "1x1x2",
         {2, 7}},
        {"keys with values",
         F32("q", "[1, 1, 1]", "[0]")
             F32("k", "[1, 2, 1, 2, 1]",
                 "[0, 4, 0, 6]") "ms_MultiHeadAttention(query=q, key=k | output=y | num_heads=1);",
         "1x1x1",
         {5}},
        {"all in one",
         F32("q", "[1, 2, 1, 3, 1]",
             "[0, 0, 4, 0, 0, 8]") "ms_MultiHeadAttention(query=q | output=y | num_heads=1);",
         "1x2x1",
         {6, 6}},
        {"biases of queries, keys and values",
         ZEROS F32("b", "[3]", "[0, 5, 100]") MHA(", bias=b", ""),
         "1x2x1",
         {104, 104}},
        {"of values that are wider, in a graph whose ranks come in the run",
         "create(| dst=c | dtype=TL_BOOL, dims=[], data=[1]);\n" F32("q", "[1, 1, 1]", "[0]")
             F32("k", "[1, 2, 1]", "[0, 0]") F32("v", "[1, 2, 2]", "[1, 2, 3, 4]") F32(
                 "b", "[4]",
                 "[0, 5, 100, 200]") "If(cond=c, capture1=q, capture2=k, capture3=v, capture4=b | outputs1=y | then_branch=\"t\", "
                                     "else_branch=\"t\");\n"
                                     "graph t {\n" CAPTURE("q") CAPTURE("k") CAPTURE("v") CAPTURE(
                                         "b") "ms_MultiHeadAttention(query=q, key=k, value=v, bias=b | "
                                              "output=o | num_heads=1);\n"
                                              "output(src=o | |);\n}\n",
         "1x1x2",
         {102, 203}},
        {"behind a past",
         ZEROS F32("pk", "[1, 1, 1, 1]", "[0]") F32("pv", "[1, 1, 1, 1]", "[8]")
             MHA(", past_key=pk, past_value=pv", ", unidirectional=1"),
         "1x2x1",
         {4.5, 4}},
        {"which the present holds too",
         ZEROS F32("pk", "[1, 1, 1, 1]", "[0]") F32(
             "pv", "[1, 1, 1, 1]",
             "[8]") "ms_MultiHeadAttention(query=q, key=k, value=v, past_key=pk, past_value=pv | output=o, "
                    "present_key=y | num_heads=1);",
         "1x1x4x1",
         {0, 1, 2, 3}},
    };
    CHECK_OUTPUTS(cases);
}

// ---- Attention ----

// Two tokens, from which the weights make queries 0, keys 0, and values that are twice the input.
#define PROJECTED                                                                                  \
    F32("x", "[1, 2, 1]", "[1, 3]")                                                                \
    F32("w", "[1, 3]", "[0, 0, 2]")

TEST(projections_come_before_attention)
{
    static const onnx_output cases[] = {
        {"without bias",
         PROJECTED "ms_Attention(input=x, weights=w | output=y | num_heads=1);",
         "1x2x1",
         {4, 4}},
        {"with bias and causal",
         PROJECTED F32(
             "b", "[3]",
             "[0, 0, 1]") "ms_Attention(input=x, weights=w, bias=b | output=y | num_heads=1, unidirectional=1);",
         "1x2x1",
         {3, 5}},
        {"keys and values of the present",
         PROJECTED F32(
             "p", "[2, 1, 1, 1, 1]",
             "[7, 10]") "ms_Attention(input=x, weights=w, past=p | output=o, present=y | num_heads=1);",
         "2x1x1x3x1",
         {7, 0, 0, 10, 2, 6}},
        {"values wider than keys",
         F32("x", "[1, 1, 1]", "[1]") F32(
             "w", "[1, 4]",
             "[0, 0, 2, 3]") "ms_Attention(input=x, weights=w | output=y | num_heads=1, qkv_hidden_sizes=[1, 1, 2]);",
         "1x1x2",
         {2, 3}},
    };
    CHECK_OUTPUTS(cases);
}

// ---- GroupQueryAttention ----

#define PROMPT                                                                                     \
    F32("q", "[1, 3, 2]", "[0, 0, 0, 0, 0, 0]")                                                    \
    F32("k", "[1, 3, 1]", "[1, 2, 3]")                                                             \
    F32("v", "[1, 3, 1]", "[1, 3, 8]") I32("n", "[1]", "[2]") I32("t", "[]", "[3]")
#define NEXT                                                                                       \
    F32("q", "[1, 1, 1]", "[0]")                                                                   \
    F32("k", "[1, 1, 1]", "[9]")                                                                   \
    F32("v", "[1, 1, 1]", "[6]")                                                                   \
    F32("pk", "[1, 1, 4, 1]", "[1, 2, 55, 55]")                                                    \
    F32("pv", "[1, 1, 4, 1]", "[1, 2, 55, 55]") I32("n", "[1]", "[2]") I32("t", "[]", "[3]")
#define GQA(inputs, outputs, params)                                                               \
    "ms_GroupQueryAttention(query=q, key=k, value=v, seqlens_k=n, total_sequence_length=t" inputs  \
    " | " outputs " | " params ");"

TEST(a_prompt_fills_the_state_and_tokens_follow)
{
    static const onnx_output cases[] = {
        {"a prompt, two heads of queries for one of keys",
         PROMPT GQA("", "output=y", "num_heads=2, kv_num_heads=1"),
         "1x3x2",
         {1, 1, 2, 2, 4, 4}},
        {"its state",
         PROMPT GQA("", "output=o, present_key=y", "num_heads=2, kv_num_heads=1"),
         "1x1x3x1",
         {1, 2, 3}},
        {"two keys for each query",
         PROMPT GQA("", "output=y", "num_heads=2, kv_num_heads=1, local_window_size=2"),
         "1x3x2",
         {1, 1, 2, 2, 5.5, 5.5}},
        {"a further score of 0 takes its share",
         PROMPT GQA("", "output=y", "num_heads=2, kv_num_heads=1, smooth_softmax=1"),
         "1x3x2",
         {0.5, 0.5, 4.0 / 3, 4.0 / 3, 3, 3}},
        {"a token goes behind the two that are used",
         NEXT GQA(", past_key=pk, past_value=pv", "output=y", "num_heads=1, kv_num_heads=1"),
         "1x1x1",
         {3}},
        {"the state keeps its room",
         NEXT GQA(", past_key=pk, past_value=pv", "output=o, present_key=y",
                  "num_heads=1, kv_num_heads=1"),
         "1x1x4x1",
         {1, 2, 9, 0}},
        {"all packed in the query",
         F32("q", "[1, 1, 3]", "[0, 2, 5]") I32("n", "[1]", "[0]") I32(
             "t", "[]",
             "[1]") "ms_GroupQueryAttention(query=q, seqlens_k=n, total_sequence_length=t | output=y | "
                    "num_heads=1, kv_num_heads=1);",
         "1x1x1",
         {5}},
        {"keys turn before they are kept",
         F32("q", "[1, 1, 2]", "[0, 0]") F32("k", "[1, 1, 2]", "[3, 4]")
             F32("v", "[1, 1, 2]", "[1, 2]") I32("n", "[1]", "[0]") I32("t", "[]", "[1]")
                 F32("c", "[1, 1]", "[0]") F32("s", "[1, 1]", "[1]")
                     GQA(", cos_cache=c, sin_cache=s", "output=o, present_key=y",
                         "num_heads=1, kv_num_heads=1, do_rotary=1"),
         "1x1x1x2",
         {-4, 3}},
    };
    CHECK_OUTPUTS(cases);
}

TEST(what_does_not_fit_is_told)
{
    static const onnx_refusal cases[] = {
        {"a mask of another shape",
         ZEROS I32("m", "[3, 1]", "[1, 1, 1]") MHA(", key_padding_mask=m", ""), "mask"},
        {"no heads",
         ZEROS "ms_MultiHeadAttention(query=q, key=k, value=v | output=y | num_heads=0);",
         "num_heads 0"},
        {"a key without value",
         ZEROS "ms_MultiHeadAttention(query=q, key=k | output=y | num_heads=1);", "needs a value"},
        {"a value without key",
         F32("q", "[1, 2, 1, 3, 1]", "[0]")
             F32("v", "[1, 1, 1]",
                 "[1]") "ms_MultiHeadAttention(query=q, value=v | output=y | num_heads=1);",
         "value without key"},
        {"a cache that moves", ZEROS I32("p", "[1]", "[1]") MHA(", past_sequence_length=p", ""),
         "past_sequence_length"},
        {"columns that do not split",
         F32("x", "[1, 1, 1]", "[1]")
             F32("w", "[1, 4]", "[0]") "ms_Attention(input=x, weights=w | output=y | num_heads=1);",
         "cannot split 4 columns"},
        {"a length beyond the state",
         PROMPT I32(
             "m", "[1]",
             "[3]") "ms_GroupQueryAttention(query=q, key=k, value=v, seqlens_k=m, total_sequence_length=t | "
                    "output=y | num_heads=2, kv_num_heads=1);",
         "seqlens_k 3 for 3 keys"},
        {"a negative length",
         PROMPT I32(
             "m", "[1]",
             "[-1]") "ms_GroupQueryAttention(query=q, key=k, value=v, seqlens_k=m, total_sequence_length=t | "
                     "output=y | num_heads=2, kv_num_heads=1);",
         "seqlens_k -1"},
        {"a total below the queries",
         PROMPT I32(
             "u", "[]",
             "[2]") "ms_GroupQueryAttention(query=q, key=k, value=v, seqlens_k=n, total_sequence_length=u | "
                    "output=y | num_heads=2, kv_num_heads=1);",
         "total_sequence_length"},
        {"a quantized state",
         PROMPT GQA("", "output=y", "num_heads=2, kv_num_heads=1, k_quant_type=PER_TENSOR"),
         "quantized"},
        {"no angle for a position",
         NEXT F32("c", "[2, 0]", "[0]") F32("s", "[2, 0]", "[0]")
             GQA(", past_key=pk, past_value=pv, cos_cache=c, sin_cache=s", "output=y",
                 "num_heads=1, kv_num_heads=1, do_rotary=1"),
         "position 2, but angles for 2"},
    };
    CHECK_REFUSALS(cases);
}

TEST_LIST(masks_come_in_several_shapes, inputs_are_packed_in_several_ways,
          projections_come_before_attention, a_prompt_fills_the_state_and_tokens_follow,
          what_does_not_fit_is_told)
