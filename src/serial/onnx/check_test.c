// SPDX-License-Identifier: Apache-2.0
// What is not a message of ONNX is refused with the byte and the path of fields; what is opens.

#include <stdio.h>

#include "serial/onnx/message.h"
#include "serial/onnx/onnx_testing.h"
#include "tests/oom.h"
#include "tests/test.h"

static ln_status check(const pb *p)
{
    ln_onnx_findings findings;
    return ln_onnx_check(LN_ONNX_MODEL, (ln_onnx_bytes){p->bytes, p->len}, "m", &findings);
}

// A model of two nodes; the second has an attribute with a tensor.
static void write_model(pb *p)
{
    pb_model(p, 13);
    pb_node(p, "Relu", "x", "y");
    pb_begin_node(p, "Foo", "y", "z");
    pb_begin(p, 5);
    pb_str(p, 1, "value");
    pb_begin_tensor(p, 5, NULL, PB_FLOAT, DIMS(2));
    pb_bytes(p, 9, "12345678", 8);
    pb_end(p);
    pb_end(p);
    pb_end(p);
    pb_value(p, 11, "x", PB_FLOAT, DIMS(1, 2));
    pb_end(p);
}

TEST(a_whole_model_passes_and_opens)
{
    pb p = {0};
    write_model(&p);
    CHECK_OK(check(&p));
    ln_onnx_arena arena = {0};
    ln_onnx_model model;
    CHECK_OK(ln_onnx_decode(LN_ONNX_MODEL, (ln_onnx_bytes){p.bytes, p.len}, &arena, &model));
    CHECK_EQ(model.ir_version.bits, 8);
    CHECK_EQ(model.opset_import.count, 1);
    ln_onnx_graph graph;
    CHECK_OK(ln_onnx_decode(LN_ONNX_GRAPH, model.graph, &arena, &graph));
    CHECK_EQ(graph.node.count, 2);
    ln_onnx_node node;
    CHECK_OK(ln_onnx_decode(LN_ONNX_NODE, graph.node.items[1], &arena, &node));
    CHECK_EQ(node.op_type.len, 3);
    CHECK_MEM_EQ(node.input.items[0].at, "y", 1);
    ln_onnx_arena_deinit(&arena);
    pb_free(&p);
}

TEST(each_cut_of_a_model_gives_a_status_and_a_byte)
{
    pb p = {0};
    write_model(&p);
    for (size_t len = 0; len < p.len; len++) {
        uint8_t *exact = malloc(len + 1); // so that a read beyond is seen
        memcpy(exact, p.bytes, len);
        ln_onnx_findings findings;
        ln_status status =
            ln_onnx_check(LN_ONNX_MODEL, (ln_onnx_bytes){exact, len}, "m", &findings);
        CHECK(status == LN_OK || status == LN_SYNTAX);
        if (status != LN_OK)
            CHECK_MESSAGE("m: byte ");
        free(exact);
    }
    pb_free(&p);
}

TEST(each_changed_byte_gives_a_status)
{
    pb p = {0};
    write_model(&p);
    for (size_t i = 0; i < p.len; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            p.bytes[i] ^= (uint8_t)(1u << bit);
            ln_status status = check(&p);
            CHECK(status == LN_OK || status == LN_SYNTAX);
            p.bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
    pb_free(&p);
}

TEST(a_fault_is_told_with_its_path)
{
    pb p = {0};
    pb_model(&p, 13);
    pb_node(&p, "Relu", "x", "y");
    pb_begin_node(&p, "Foo", "y", "z");
    pb_begin(&p, 5);
    pb_str(&p, 1, "value");
    pb_begin(&p, 5);
    pb_bytes(&p, 4, "12345", 5); // float_data
    pb_end(&p);
    pb_end(&p);
    pb_end(&p);
    pb_end(&p);
    CHECK_FAILS(check(&p), LN_SYNTAX);
    CHECK_MESSAGE("graph.node[1].attribute[0].t.float_data[0]: packed floats end within a float");
    pb_free(&p);
}

TEST(faults_of_the_format_are_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *message;
    } cases[] = {
        {"\x0b", 1, "a group"},
        {"\x0c", 1, "a group"},
        {"\x0e", 1, "an unknown wire type"},
        {"\x00", 1, "without a field number"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "64 bits"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "64 bits"},
        {"\x08", 1, "does not end"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "field number"},
        {"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "graph: a length goes beyond the end"},
        {"\x3a\x05\x0a", 3, "beyond the end"},
        {"\x0a\x00", 2, "ir_version: not an integer"},
        {"\x38\x00", 2, "graph: not a message"},
        {"\x10\x00", 2, "producer_name: not a string"},
        {"\x08\x01\x08\x02", 4, "ir_version: the field is there twice"},
        {"\x3a\x00\x3a\x00", 4, "graph: the field is there twice"},
        {"\xa2\x06\x05\x00", 4, "beyond the end"}, // field 100
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_onnx_bytes bytes = {(const uint8_t *)cases[i].bytes, cases[i].len};
        ln_onnx_findings findings;
        CHECK_FAILS(ln_onnx_check(LN_ONNX_MODEL, bytes, "m", &findings), LN_SYNTAX);
        CHECK_MESSAGE(cases[i].message);
    }
}

TEST(fields_that_are_not_known_are_passed_over)
{
    pb p = {0};
    write_model(&p);
    pb_int(&p, 100, -1);
    pb_float(&p, 101, 1);
    pb_bytes(&p, 536870911, "abc", 3);
    CHECK_OK(check(&p));
    pb_free(&p);
}

// A hundred thousand messages inside each other: types of sequences of sequences ...
TEST(messages_are_at_most_128_deep)
{
    enum { DEPTH = 100000 };
    // From the inside out, so that lengths are known.
    size_t capacity = DEPTH * 12, len = 0;
    uint8_t *bytes = malloc(capacity);
    for (size_t i = 0; i < DEPTH; i++) {
        uint8_t text[10];
        size_t text_len = pb_print_varint(len, text);
        memcpy(bytes + capacity - len - text_len, text, text_len);
        len += text_len;
        static const uint8_t tags[] = {0x0a, 0x22}; // elem_type of a sequence, sequence of a type
        bytes[capacity - ++len] = tags[i % 2];
    }
    ln_onnx_bytes deep = {bytes + capacity - len, len};
    ln_onnx_findings findings;
    CHECK_FAILS(ln_onnx_check(LN_ONNX_TYPE, deep, "m", &findings), LN_LIMIT);
    CHECK_MESSAGE("more than 128 messages inside each other");
    free(bytes);
}

TEST(numbers_are_read_packed_and_one_by_one)
{
    pb p = {0};
    pb_int(&p, 8, 5);
    pb_bytes(&p, 8, "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    pb_int(&p, 3, 77); // another field in between
    pb_int(&p, 8, 6);
    ln_onnx_bytes bytes = {p.bytes, p.len};
    ln_onnx_findings findings;
    CHECK_OK(ln_onnx_check(LN_ONNX_ATTRIBUTE, bytes, "a", &findings));
    ln_onnx_attribute attribute;
    CHECK_OK(ln_onnx_decode(LN_ONNX_ATTRIBUTE, bytes, NULL, &attribute));
    CHECK_EQ(attribute.ints.count, 4);
    static const int64_t expected[] = {5, 1, -1, 6};
    ln_onnx_number_cursor cursor = {0};
    uint64_t bits;
    for (int i = 0; i < 4; i++) {
        CHECK(ln_onnx_number_next(&attribute.ints, &cursor, &bits));
        CHECK_EQ((int64_t)bits, expected[i]);
    }
    CHECK(!ln_onnx_number_next(&attribute.ints, &cursor, &bits));
    pb_free(&p);
}

TEST(opening_survives_every_failed_allocation)
{
    pb p = {0};
    write_model(&p);
    OOM_SWEEP(n)
    {
        ln_onnx_arena arena = {0};
        ln_onnx_model model;
        ln_onnx_graph graph;
        ln_status status =
            ln_onnx_decode(LN_ONNX_MODEL, (ln_onnx_bytes){p.bytes, p.len}, &arena, &model);
        if (status == LN_OK)
            status = ln_onnx_decode(LN_ONNX_GRAPH, model.graph, &arena, &graph);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_onnx_arena_deinit(&arena);
    }
    pb_free(&p);
}

TEST(an_arena_gives_back_what_it_charged)
{
    ln_onnx_budget budget = {.left = 5000, .limit = 5000};
    ln_onnx_arena arena = {.budget = &budget};
    CHECK_NOT_NULL(ln_onnx_arena_take(&arena, 10, 10));
    CHECK(budget.left < 5000);
    CHECK_NULL(ln_onnx_arena_take(&arena, 6000, 1));
    CHECK_MESSAGE("over the limit of 5000");
    CHECK_NULL(ln_onnx_arena_take(&arena, SIZE_MAX, 2));
    ln_onnx_arena_deinit(&arena);
    CHECK_EQ(budget.left, 5000);
}

TEST_LIST(a_whole_model_passes_and_opens, each_cut_of_a_model_gives_a_status_and_a_byte,
          each_changed_byte_gives_a_status, a_fault_is_told_with_its_path,
          faults_of_the_format_are_refused, fields_that_are_not_known_are_passed_over,
          messages_are_at_most_128_deep, numbers_are_read_packed_and_one_by_one,
          opening_survives_every_failed_allocation, an_arena_gives_back_what_it_charged)
