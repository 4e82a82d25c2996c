// SPDX-License-Identifier: Apache-2.0
// Values of ONNX become objects: tensors, sequences, optionals and maps, in each other.

#include "serial/onnx/value.h"

#include "serial/onnx/onnx_testing.h"
#include "tests/oom.h"
#include "tests/test.h"

static ln_status read_value(const pb *p, ln_object_kind kind, ln_object **out)
{
    return ln_onnx_value_read(p->bytes, p->len, "v.pb", kind, out);
}

// A tensor of one number in a field, or as the message itself (field 0).
static void write_tensor(pb *p, unsigned field, float number)
{
    if (field)
        pb_begin(p, field);
    pb_int(p, 2, PB_FLOAT);
    pb_float(p, 4, number);
    if (field)
        pb_end(p);
}

static float number_of(const ln_object *object)
{
    return *(const float *)ln_object_tensor(object)->data;
}

TEST(tensors_become_objects)
{
    pb p = {0};
    ln_object *object;
    write_tensor(&p, 0, 2.5f);
    CHECK_OK(read_value(&p, LN_OBJECT_TENSOR, &object));
    CHECK_EQ(ln_object_tensor(object)->ndim, 0);
    CHECK(number_of(object) == 2.5f);
    ln_object_release(object);
    pb_free(&p);
}

TEST(strings_are_copied)
{
    pb p = {0};
    ln_object *object;
    pb_int(&p, 1, 2);
    pb_int(&p, 2, PB_STRING);
    pb_str(&p, 6, "one");
    pb_str(&p, 6, "");
    CHECK_OK(read_value(&p, LN_OBJECT_TENSOR, &object));
    CHECK_STR_EQ(((const char *const *)ln_object_tensor(object)->data)[0], "one");
    ln_object_release(object);
    pb_free(&p);
}

TEST(sequences_and_optionals_lie_in_each_other)
{
    pb p = {0};
    ln_object *object;
    pb_begin(&p, 5); // a sequence in an optional
    write_tensor(&p, 3, 1);
    write_tensor(&p, 3, 2);
    pb_end(&p);
    CHECK_OK(read_value(&p, LN_OBJECT_OPTIONAL, &object));
    const ln_object *sequence = ln_object_item(object, 0);
    CHECK_EQ(ln_object_get_kind(sequence), LN_OBJECT_SEQUENCE);
    CHECK_EQ(ln_object_count(sequence), 2);
    CHECK(number_of(ln_object_item(sequence, 1)) == 2);
    ln_object_release(object);
    pb_free(&p);
}

TEST(empty_ones_are_empty)
{
    pb p = {0};
    ln_object *object;
    CHECK_OK(read_value(&p, LN_OBJECT_SEQUENCE, &object));
    CHECK_EQ(ln_object_count(object), 0);
    ln_object_release(object);
    CHECK_OK(read_value(&p, LN_OBJECT_OPTIONAL, &object));
    CHECK_NULL(ln_object_item(object, 0));
    ln_object_release(object);
    CHECK_OK(read_value(&p, LN_OBJECT_MAP, &object));
    CHECK_EQ(ln_object_tensor(ln_object_item(object, 0))->len, 0);
    ln_object_release(object);
}

static void write_map(pb *p, int is_text, int value_count)
{
    if (is_text) {
        pb_str(p, 4, "a");
        pb_str(p, 4, "b");
    } else {
        pb_int(p, 3, -7);
        pb_int(p, 3, 8);
    }
    pb_begin(p, 5);
    for (int i = 0; i < value_count; i++)
        write_tensor(p, 3, (float)i);
    pb_end(p);
}

TEST(maps_have_as_many_keys_as_values)
{
    for (int is_text = 0; is_text < 2; is_text++) {
        pb p = {0};
        ln_object *object;
        write_map(&p, is_text, 2);
        CHECK_OK(read_value(&p, LN_OBJECT_MAP, &object));
        const tl_tensor *keys = ln_object_tensor(ln_object_item(object, 0));
        const tl_tensor *values = ln_object_tensor(ln_object_item(object, 1));
        if (is_text)
            CHECK_STR_EQ(((const char *const *)keys->data)[1], "b");
        else
            CHECK_EQ(((const int64_t *)keys->data)[0], -7);
        CHECK(((const float *)values->data)[1] == 1);
        ln_object_release(object);
        pb_free(&p);
    }
    pb p = {0};
    ln_object *object;
    write_map(&p, 0, 3);
    CHECK_FAILS(read_value(&p, LN_OBJECT_MAP, &object), LN_INVALID);
    CHECK_MESSAGE("2 keys and 3 values");
    pb_free(&p);
}

TEST(what_does_not_fit_is_refused)
{
    pb p = {0};
    ln_object *object;
    write_tensor(&p, 3, 1);
    pb_begin(&p, 5);
    pb_end(&p);
    CHECK_FAILS(read_value(&p, LN_OBJECT_SEQUENCE, &object), LN_INVALID);
    CHECK_MESSAGE("two kinds of items");
    CHECK_NULL(object);
    pb_free(&p);
    CHECK_FAILS(ln_onnx_value_read("\x08", 1, NULL, LN_OBJECT_TENSOR, &object), LN_SYNTAX);
    CHECK_MESSAGE("<memory>: byte 0: dims");
    CHECK_FAILS(ln_onnx_value_read(NULL, 0, NULL, (ln_object_kind)9, &object), LN_INVALID);
}

TEST(reading_survives_every_failed_allocation)
{
    pb p = {0};
    pb_begin(&p, 5);
    pb_begin(&p, 6);
    write_map(&p, 1, 2);
    pb_end(&p);
    pb_end(&p);
    OOM_SWEEP(n)
    {
        ln_object *object;
        ln_status status = read_value(&p, LN_OBJECT_OPTIONAL, &object);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_object_release(object);
    }
    pb_free(&p);
}

TEST_LIST(tensors_become_objects, strings_are_copied, sequences_and_optionals_lie_in_each_other,
          empty_ones_are_empty, maps_have_as_many_keys_as_values, what_does_not_fit_is_refused,
          reading_survives_every_failed_allocation)
