// SPDX-License-Identifier: Apache-2.0
// Elements of tensors come out as ours whatever the way they are stored in; what does not fit its
// shape is refused.

#include <lightnet/call.h>

#include "serial/onnx/dtype.h"
#include "serial/onnx/onnx_testing.h"
#include "serial/onnx/tensor.h"
#include "tests/oom.h"
#include "tests/test.h"

static ln_status read_as(const pb *p, size_t limit, ln_onnx_kind kind, ln_onnx_value *out)
{
    ln_onnx_bytes bytes = {p->bytes, p->len};
    static ln_onnx_source source;
    source = (ln_onnx_source){.name = "m", .bytes = bytes, .budget = {limit, limit, limit}};
    ln_onnx_findings findings;
    LN_TRY(ln_onnx_check(kind, bytes, "m", &findings));
    return kind == LN_ONNX_SPARSE ? ln_onnx_sparse_read(&source, bytes, out)
                                  : ln_onnx_tensor_read(&source, bytes, out);
}

static ln_status read_tensor(const pb *p, ln_onnx_value *out)
{
    return read_as(p, 1 << 20, LN_ONNX_TENSOR, out);
}

static void begin(pb *p, int64_t dtype, const int64_t *dims)
{
    for (; *dims != -2; dims++)
        pb_int(p, 1, *dims);
    pb_int(p, 2, dtype);
    pb_str(p, 8, "t");
}

TEST(raw_floats_are_used_where_they_lie)
{
    float numbers[] = {1.5f, -2, 3, 4, 5, 6};
    pb p = {0};
    begin(&p, PB_FLOAT, DIMS(2, 3));
    pb_bytes(&p, 9, numbers, sizeof numbers);
    ln_onnx_value v;
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(v.dtype, TL_FLOAT);
    CHECK_EQ(v.ndim, 2);
    CHECK_EQ(v.dims[1], 3);
    CHECK_NULL(v.owned);
    CHECK((const uint8_t *)v.data > p.bytes && (const uint8_t *)v.data < p.bytes + p.len);
    CHECK_MEM_EQ(v.data, numbers, sizeof numbers);
    ln_onnx_value_deinit(&v);
    pb_free(&p);
}

TEST(every_type_reads_its_raw_bytes)
{
    for (uint64_t number = 1; number <= 26; number++) {
        const ln_onnx_dtype *dtype = ln_onnx_dtype_of(number);
        CHECK_NOT_NULL(dtype);
        CHECK_EQ(ln_onnx_dtype_to_number(dtype->dtype), number);
        if (dtype->dtype == TL_STRING)
            continue;
        pb p = {0};
        begin(&p, (int64_t)number, DIMS(5));
        uint8_t raw[81]; // one more than the largest, which is refused
        for (size_t i = 0; i < sizeof raw; i++)
            raw[i] = (uint8_t)(i * 37 + 1);
        size_t len = dtype->bits < 8 ? (5 * dtype->bits + 7) / 8 : 5 * dtype->bits / 8;
        pb_bytes(&p, 9, raw, len);
        ln_onnx_value v;
        CHECK_OK(read_tensor(&p, &v));
        CHECK_EQ(v.byte_count, 5 * tl_size_of(dtype->dtype));
        if (dtype->bits >= 8 && dtype->dtype != TL_BOOL)
            CHECK_MEM_EQ(v.data, raw, len);
        ln_onnx_value_deinit(&v);
        pb_free(&p);
        pb short_one = {0};
        begin(&short_one, (int64_t)number, DIMS(5));
        pb_bytes(&short_one, 9, raw, len + 1);
        CHECK_FAILS(read_tensor(&short_one, &v), LN_INVALID);
        CHECK_MESSAGE("tensor 't': raw_data: ");
        pb_free(&short_one);
    }
    CHECK_NULL(ln_onnx_dtype_of(0));
    CHECK_NULL(ln_onnx_dtype_of(27));
}

TEST(small_elements_unpack_from_the_low_bits)
{
    static const struct {
        int64_t dtype;
        const char *raw;
        size_t len;
        int8_t expected[3];
    } cases[] = {
        {21, "\xf1\x07", 2, {1, 15, 7}}, // UINT4
        {22, "\xf1\x07", 2, {1, -1, 7}}, // INT4
        {23, "\xf1\x07", 2, {1, 15, 7}}, // FLOAT4E2M1: bit patterns
        {25, "\x1e", 1, {2, 3, 1}},      // UINT2
        {26, "\x1e", 1, {-2, -1, 1}},    // INT2
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int is_typed = 0; is_typed < 2; is_typed++) {
            pb p = {0};
            begin(&p, cases[i].dtype, DIMS(3));
            if (is_typed) {
                for (size_t k = 0; k < cases[i].len; k++)
                    pb_int(&p, 5, (uint8_t)cases[i].raw[k]);
            } else {
                pb_bytes(&p, 9, cases[i].raw, cases[i].len);
            }
            ln_onnx_value v;
            CHECK_OK(read_tensor(&p, &v));
            CHECK_MEM_EQ(v.data, cases[i].expected, 3);
            ln_onnx_value_deinit(&v);
            pb_free(&p);
        }
    }
}

TEST(lists_of_numbers_become_elements)
{
    pb p = {0};
    ln_onnx_value v;
    begin(&p, 9, DIMS(3)); // BOOL
    pb_bytes(&p, 5, "\x00\x01\x02", 3);
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(((const int32_t *)v.data)[0], 0);
    CHECK_EQ(((const int32_t *)v.data)[2], 1);
    ln_onnx_value_deinit(&v);
    pb_free(&p);

    begin(&p, PB_INT8, DIMS(2));
    pb_int(&p, 5, -128);
    pb_int(&p, 5, 127);
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(((const int8_t *)v.data)[0], -128);
    ln_onnx_value_deinit(&v);
    pb_free(&p);

    begin(&p, 10, DIMS(1)); // FLOAT16
    pb_int(&p, 5, 0x3c00);
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(*(const uint16_t *)v.data, 0x3c00);
    ln_onnx_value_deinit(&v);
    pb_free(&p);

    begin(&p, 13, DIMS(1)); // UINT64
    pb_int(&p, 11, -1);
    CHECK_OK(read_tensor(&p, &v));
    CHECK(*(const uint64_t *)v.data == UINT64_MAX);
    ln_onnx_value_deinit(&v);
    pb_free(&p);

    begin(&p, 14, DIMS(1)); // COMPLEX64
    pb_float(&p, 4, 1);
    pb_float(&p, 4, -2);
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(v.byte_count, 8);
    CHECK(((const float *)v.data)[1] == -2);
    ln_onnx_value_deinit(&v);
    pb_free(&p);
}

TEST(strings_end_with_a_zero_byte)
{
    pb p = {0};
    ln_onnx_value v;
    begin(&p, PB_STRING, DIMS(2));
    pb_str(&p, 6, "abc");
    pb_str(&p, 6, "");
    CHECK_OK(read_tensor(&p, &v));
    CHECK_STR_EQ(((const char *const *)v.data)[0], "abc");
    CHECK_STR_EQ(((const char *const *)v.data)[1], "");
    ln_onnx_value_deinit(&v);
    pb_free(&p);
    begin(&p, PB_STRING, DIMS(1));
    pb_bytes(&p, 6, "a\0b", 3);
    CHECK_FAILS(read_tensor(&p, &v), LN_UNSUPPORTED);
    CHECK_MESSAGE("string_data[0]");
    pb_free(&p);
}

TEST(empty_tensors_and_scalars_are_whole)
{
    pb p = {0};
    ln_onnx_value v;
    begin(&p, PB_INT64, DIMS(0, 3));
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(v.elem_count, 0);
    CHECK_NOT_NULL(v.data);
    ln_onnx_value_deinit(&v);
    pb_free(&p);
    begin(&p, PB_INT64, SCALAR);
    pb_int(&p, 7, -5);
    CHECK_OK(read_tensor(&p, &v));
    CHECK_EQ(v.ndim, 0);
    CHECK_EQ(*(const int64_t *)v.data, -5);
    ln_onnx_value_deinit(&v);
    pb_free(&p);
}

TEST(shapes_that_do_not_fit_are_refused)
{
    static const struct {
        int64_t dims[10];
        const char *message;
    } cases[] = {
        {{-1, -2}, "dims[0] is -1"},
        {{INT64_C(1) << 31, -2}, "dims[0] is 2147483648"},
        {{65536, 65536, -2}, "more than 2147483647 elements"},
        {{2147483647, 2147483647, 2147483647, 4, -2}, "more than 2147483647 elements"},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, -2}, "9 dimensions"},
        {{INT64_MAX, -2}, "dims[0]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pb p = {0};
        begin(&p, PB_FLOAT, cases[i].dims);
        ln_onnx_value v;
        CHECK_FAILS(read_tensor(&p, &v), LN_LIMIT);
        CHECK_MESSAGE(cases[i].message);
        CHECK_MESSAGE("m: byte ");
        pb_free(&p);
    }
}

TEST(a_bomb_of_zeros_is_refused_before_memory_is_taken)
{
    pb p = {0};
    begin(&p, PB_FLOAT, DIMS(2000000000));
    ln_onnx_value v;
    CHECK_FAILS(read_tensor(&p, &v), LN_INVALID);
    CHECK_MESSAGE("float_data: 0 numbers where 2000000000 elements");
    pb_free(&p);

    pb_begin_tensor(&p, 1, "s", PB_FLOAT, DIMS(0)); // values
    pb_end(&p);
    pb_begin_tensor(&p, 2, NULL, PB_INT64, DIMS(0)); // indices
    pb_end(&p);
    pb_int(&p, 3, 1000000000);
    CHECK_FAILS(read_as(&p, 1 << 20, LN_ONNX_SPARSE, &v), LN_LIMIT);
    CHECK_MESSAGE("over the limit");
    pb_free(&p);
}

static void write_sparse(pb *p, int64_t first, int64_t second, int is_flat)
{
    float values[] = {1, 2};
    pb_begin_tensor(p, 1, "s", PB_FLOAT, DIMS(2));
    pb_bytes(p, 9, values, sizeof values);
    pb_end(p);
    int64_t indices[] = {first, second};
    int64_t coords[] = {first / 3, first % 3, second / 3, second % 3};
    if (is_flat)
        pb_begin_tensor(p, 2, NULL, PB_INT64, DIMS(2));
    else
        pb_begin_tensor(p, 2, NULL, PB_INT64, DIMS(2, 2));
    pb_bytes(p, 9, is_flat ? indices : coords, is_flat ? sizeof indices : sizeof coords);
    pb_end(p);
    pb_int(p, 3, 2);
    pb_int(p, 3, 3);
}

TEST(sparse_tensors_get_their_zeros)
{
    static const float expected[] = {0, 1, 0, 0, 0, 2};
    for (int is_flat = 0; is_flat < 2; is_flat++) {
        pb p = {0};
        write_sparse(&p, 1, 5, is_flat);
        ln_onnx_value v;
        CHECK_OK(read_as(&p, 1 << 20, LN_ONNX_SPARSE, &v));
        CHECK_MEM_EQ(v.data, expected, sizeof expected);
        ln_onnx_bytes bytes = {p.bytes, p.len};
        CHECK_EQ(ln_onnx_sparse_name(bytes).len, 1);
        ln_onnx_value_deinit(&v);
        pb_free(&p);
    }
}

TEST(sparse_indices_stay_inside_and_rise)
{
    static const int64_t bad[][2] = {{1, 6}, {5, 1}, {2, 2}, {-1, 3}, {0, INT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pb p = {0};
        write_sparse(&p, bad[i][0], bad[i][1], 1);
        ln_onnx_value v;
        CHECK_FAILS(read_as(&p, 1 << 20, LN_ONNX_SPARSE, &v), LN_INVALID);
        CHECK_MESSAGE("tensor 's': indices[");
        pb_free(&p);
    }
}

TEST(other_faults_of_tensors_are_told)
{
    pb p = {0};
    ln_onnx_value v;
    begin(&p, 99, DIMS(1));
    CHECK_FAILS(read_tensor(&p, &v), LN_UNSUPPORTED);
    CHECK_MESSAGE("data_type: 99");
    pb_free(&p);
    begin(&p, PB_STRING, DIMS(1));
    pb_bytes(&p, 9, "12345678", 8);
    CHECK_FAILS(read_tensor(&p, &v), LN_INVALID);
    CHECK_MESSAGE("strings have no raw bytes");
    pb_free(&p);
    begin(&p, PB_FLOAT, DIMS(1));
    pb_begin(&p, 3);
    pb_int(&p, 1, 0);
    pb_end(&p);
    CHECK_FAILS(read_tensor(&p, &v), LN_UNSUPPORTED);
    CHECK_MESSAGE("segment");
    pb_free(&p);
    begin(&p, PB_FLOAT, DIMS(1));
    pb_int(&p, 14, 7);
    CHECK_FAILS(read_tensor(&p, &v), LN_UNSUPPORTED);
    CHECK_MESSAGE("data_location");
    pb_free(&p);
    begin(&p, PB_FLOAT, DIMS(1));
    pb_int(&p, 14, 1);
    pb_entry(&p, 13, "location", "w.bin");
    CHECK_FAILS(read_tensor(&p, &v), LN_INVALID);
    CHECK_MESSAGE("read the model from its file");
    pb_free(&p);
}

TEST(reading_survives_every_failed_allocation)
{
    pb p = {0}, sparse = {0};
    begin(&p, PB_STRING, DIMS(2));
    pb_str(&p, 6, "abc");
    pb_str(&p, 6, "d");
    write_sparse(&sparse, 1, 5, 0);
    OOM_SWEEP(n)
    {
        ln_onnx_value v;
        ln_status status = read_tensor(&p, &v);
        if (status == LN_OK) {
            ln_onnx_value_deinit(&v);
            status = read_as(&sparse, 1 << 20, LN_ONNX_SPARSE, &v);
        }
        if (status == LN_OK)
            ln_onnx_value_deinit(&v);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
    pb_free(&p);
    pb_free(&sparse);
}

TEST_LIST(raw_floats_are_used_where_they_lie, every_type_reads_its_raw_bytes,
          small_elements_unpack_from_the_low_bits, lists_of_numbers_become_elements,
          strings_end_with_a_zero_byte, empty_tensors_and_scalars_are_whole,
          shapes_that_do_not_fit_are_refused, a_bomb_of_zeros_is_refused_before_memory_is_taken,
          sparse_tensors_get_their_zeros, sparse_indices_stay_inside_and_rise,
          other_faults_of_tensors_are_told, reading_survives_every_failed_allocation)
