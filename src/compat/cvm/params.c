// SPDX-License-Identifier: Apache-2.0
// Params dictionaries. The old calls lend their results until the thread's next call, so each
// thread has a place for them, which goes with the thread.

#include <cvm/runtime/c_runtime_api.h>

#include <pthread.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/params.h>

#include "compat/cvm/error.h"
#include "compat/cvm/handle.h"

// ---- Results of a thread ----

typedef struct results {
    char *saved;   // of CVMSaveParamsDict
    void **loaded; // of CVMLoadParamsDict: names, values; then the characters of the names
} results;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_error;

static void results_destroy(void *user)
{
    results *r = user;
    ln_free(r->saved);
    ln_free(r->loaded);
    ln_free(r);
}

static void create_key(void)
{
    key_error = pthread_key_create(&key, results_destroy);
}

// NULL with a recorded failure.
static results *results_of_thread(void)
{
    pthread_once(&once, create_key);
    if (key_error) {
        ln_fail(LN_NO_MEMORY, "no place for results of threads: error %d", key_error);
        return NULL;
    }
    results *r = pthread_getspecific(key);
    if (r)
        return r;
    r = ln_alloc(sizeof *r);
    int error = r ? pthread_setspecific(key, r) : 0;
    if (error) {
        ln_free(r);
        ln_fail(LN_NO_MEMORY, "no place for the thread's results: error %d", error);
        return NULL;
    }
    return r;
}

// ---- Saving ----

int CVMSaveParamsDict(const void **params, int params_size, CVMByteArray *ret)
{
    if (!ret)
        return CVM_FAIL(ERROR_RUNTIME, "no place for the bytes");
    *ret = (CVMByteArray){0};
    if (params_size < 0 || params_size % 2 != 0 || (params_size > 0 && !params))
        return CVM_FAIL(ERROR_RUNTIME, "%d are no names and arrays in turn", params_size);
    results *r = results_of_thread();
    if (!r)
        return ERROR_RUNTIME;
    size_t count = (size_t)params_size / 2, byte_count;
    ln_named_array *arrays = ln_alloc_array(count, sizeof *arrays);
    if (!arrays)
        return ERROR_RUNTIME;
    for (size_t i = 0; i < count; i++)
        arrays[i] = (ln_named_array){params[2 * i], params[2 * i + 1]};
    char *bytes;
    ln_status status = ln_params_save(arrays, count, &bytes, &byte_count);
    ln_free(arrays);
    CVM_TRY(status);
    ln_free(r->saved);
    r->saved = bytes;
    *ret = (CVMByteArray){bytes, byte_count};
    return SUCCEED;
}

// ---- Whose fault a bad dictionary is ----

typedef struct cursor {
    const char *next;
    size_t left;
} cursor;

static int take(cursor *c, void *out, size_t byte_count)
{
    if (byte_count > c->left)
        return 0;
    if (out)
        memcpy(out, c->next, byte_count);
    c->next += byte_count;
    c->left -= byte_count;
    return 1;
}

static int skip_names(cursor *c, uint64_t *out_count)
{
    uint64_t head[3], length, array_count;
    *out_count = 0;
    if (!take(c, head, sizeof head) || head[0] != 0xF7E58D4F05049CB7u)
        return 0;
    for (uint64_t i = 0; i < head[2]; i++)
        if (!take(c, &length, sizeof length) || length > c->left || !take(c, NULL, (size_t)length))
            return 0;
    *out_count = head[2];
    return take(c, &array_count, sizeof array_count) && array_count == head[2];
}

// Layout: magic, reserved, device; dimension count, type; shape; byte count, data.
static int skip_array(cursor *c, int *out_is_negative)
{
    int32_t ndim;
    int64_t byte_count;
    *out_is_negative = 0;
    if (!take(c, NULL, 24) || !take(c, &ndim, sizeof ndim))
        return 0;
    *out_is_negative = ndim < 0;
    return ndim >= 0 && take(c, NULL, 4) && take(c, NULL, 8 * (size_t)ndim) &&
           take(c, &byte_count, sizeof byte_count) && byte_count >= 0 &&
           take(c, NULL, (size_t)byte_count);
}

// For a dictionary that was refused, in the order in which the old library looked at it.
static int code_of_bad(const char *data, size_t byte_count)
{
    cursor c = {data, byte_count};
    uint64_t count;
    if (!skip_names(&c, &count))
        return ERROR_LOGIC;
    int is_negative = 0;
    for (uint64_t i = 0; i < count; i++)
        if (!skip_array(&c, &is_negative))
            break;
    return is_negative ? ERROR_LOGIC : ERROR_RUNTIME;
}

// ---- Loading ----

static size_t measure_names(const ln_params *params)
{
    size_t byte_count = 0; // less than the bytes they were read from
    for (size_t i = 0; i < ln_params_count(params); i++)
        byte_count += strlen(ln_params_name(params, i)) + 1;
    return byte_count;
}

// One block: | names: char * ... | values: handles ... | characters ... |
static void **make_lists(const ln_params *params)
{
    size_t count = ln_params_count(params);
    void **lists = ln_alloc(2 * count * sizeof *lists + measure_names(params));
    if (!lists)
        return NULL;
    char *text = (char *)(lists + 2 * count);
    for (size_t i = 0; i < count; i++) {
        const char *name = ln_params_name(params, i);
        size_t byte_count = strlen(name) + 1;
        memcpy(text, name, byte_count);
        lists[i] = text;
        lists[count + i] = cvm_handle(ln_ndarray_retain(ln_params_array(params, i)));
        text += byte_count;
    }
    return lists;
}

int CVMLoadParamsDict(const char *data, int datalen, int *num, void ***names, void ***values)
{
    if (!num || !names || !values)
        return CVM_FAIL(ERROR_RUNTIME, "no place for the arrays");
    *num = 0;
    *names = *values = NULL;
    if (datalen < 0 || !data)
        return CVM_FAIL(ERROR_RUNTIME, "%d bytes at %s are no dictionary", datalen,
                        data ? "their address" : "NULL");
    results *r = results_of_thread();
    if (!r)
        return ERROR_RUNTIME;
    ln_params *params;
    ln_status status = ln_params_load(data, (size_t)datalen, NULL, &params);
    if (status != LN_OK)
        return status == LN_NO_MEMORY ? ERROR_RUNTIME : code_of_bad(data, (size_t)datalen);
    int count = (int)ln_params_count(params); // each takes bytes, of which there are int many
    void **lists = make_lists(params);
    ln_params_free(params);
    if (!lists)
        return ERROR_RUNTIME;
    ln_free(r->loaded);
    r->loaded = lists;
    *num = count;
    *names = lists;
    *values = lists + count;
    return SUCCEED;
}
