// SPDX-License-Identifier: Apache-2.0
// A library that looks like ONNX Runtime to `bench/peers`, for tests without it: every model has an
// input "x" and an output "y", both [1, 4], and is a relu. With OFFSET it is wrong by so much.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef OFFSET
#define OFFSET 0.0f
#endif

#define COUNT 4

typedef void *status; // NULL: all is well

typedef struct value {
    float *data;
    float own[COUNT];
} value;

static int anything;

static const char *message(status s)
{
    return s;
}

static status create_env(int level, const char *id, void **out)
{
    (void)level;
    (void)id;
    *out = &anything;
    return NULL;
}

static status create(void **out)
{
    *out = &anything;
    return NULL;
}

static status create_session(void *env, const char *path, void *options, void **out)
{
    (void)env;
    (void)options;
    *out = &anything;
    return *path ? NULL : "no path";
}

static status set(void *options, int number)
{
    (void)options;
    (void)number;
    return NULL;
}

static status count_one(void *session, size_t *out)
{
    (void)session;
    *out = 1;
    return NULL;
}

static status input_name(void *session, size_t index, void *allocator, const char **out)
{
    (void)session;
    (void)index;
    (void)allocator;
    *out = "x";
    return NULL;
}

static status output_name(void *session, size_t index, void *allocator, const char **out)
{
    input_name(session, index, allocator, out);
    *out = "y";
    return NULL;
}

static status input_type(void *session, size_t index, void **out)
{
    (void)session;
    (void)index;
    return create(out);
}

static status info(void *of, void **out)
{
    (void)of;
    return create(out);
}

static status element_type(void *of, int *out)
{
    (void)of;
    *out = 1;
    return NULL;
}

static status dim_count(void *of, size_t *out)
{
    (void)of;
    *out = 2;
    return NULL;
}

static status dims(void *of, int64_t *out, size_t count)
{
    (void)of;
    out[0] = -1; // open
    out[1] = COUNT;
    return count == 2 ? NULL : "wrong rank";
}

static status element_count(void *of, size_t *out)
{
    (void)of;
    *out = COUNT;
    return NULL;
}

static status cpu_memory(int allocator, int type, void **out)
{
    (void)allocator;
    (void)type;
    return create(out);
}

static status create_tensor(void *memory, void *data, size_t bytes, const int64_t *shape,
                            size_t rank, int type, void **out)
{
    (void)memory;
    if (bytes != sizeof(float) * COUNT || rank != 2 || shape[0] != 1 || type != 1)
        return "wrong tensor";
    value *v = calloc(1, sizeof *v);
    v->data = data;
    *out = v;
    return NULL;
}

static status tensor_data(void *tensor, void **out)
{
    *out = ((value *)tensor)->data;
    return NULL;
}

static status run(void *session, void *options, const char *const *names, void *const *inputs,
                  size_t input_count, const char *const *output_names, size_t output_count,
                  void **outputs)
{
    (void)session;
    (void)options;
    (void)output_names;
    if (input_count != 1 || output_count != 1 || strcmp(names[0], "x") != 0)
        return "wrong inputs or outputs";
    value *y = calloc(1, sizeof *y);
    const float *x = ((const value *)inputs[0])->data;
    for (size_t i = 0; i < COUNT; i++)
        y->own[i] = (x[i] > 0 ? x[i] : 0) + OFFSET;
    y->data = y->own;
    outputs[0] = y;
    return NULL;
}

static void release(void *tensor)
{
    free(tensor);
}

typedef void function(void);

static function *const table[128] = {
    [2] = (function *)message,        [3] = (function *)create_env,
    [7] = (function *)create_session, [9] = (function *)run,
    [10] = (function *)create,        [23] = (function *)set,
    [24] = (function *)set,           [25] = (function *)set,
    [30] = (function *)count_one,     [31] = (function *)count_one,
    [33] = (function *)input_type,    [36] = (function *)input_name,
    [37] = (function *)output_name,   [49] = (function *)create_tensor,
    [51] = (function *)tensor_data,   [55] = (function *)info,
    [60] = (function *)element_type,  [61] = (function *)dim_count,
    [62] = (function *)dims,          [64] = (function *)element_count,
    [65] = (function *)info,          [69] = (function *)cpu_memory,
    [78] = (function *)create,        [96] = (function *)release,
};

static const void *get_api(uint32_t version)
{
    return version > 0 ? table : NULL;
}

static const char *get_version(void)
{
    return "fake";
}

static function *const base[] = {(function *)get_api, (function *)get_version};

const void *OrtGetApiBase(void);
const void *OrtGetApiBase(void)
{
    return base;
}
