// SPDX-License-Identifier: Apache-2.0
// Calls of the public functions in any order, with NULLs and odd arguments.
//
// The bytes are a program: one byte chooses a call, the following ones its arguments. What a caller
// must not do, by the headers, is not done: freed objects are not used again.

#include "tests/fuzz/fuzz.h"

#include <math.h>

#define SLOTS 3

typedef struct program {
    const uint8_t *at;
    const uint8_t *end;
} program;

static unsigned next_byte(program *p)
{
    return p->at < p->end ? *p->at++ : 0;
}

static int next_int(program *p)
{
    static const int odd[] = {0, 1,  -1,  2,         3,         7,     8,
                              9, 64, -64, INT32_MAX, INT32_MIN, 65536, 1 << 30};
    return odd[next_byte(p) % (sizeof odd / sizeof odd[0])];
}

static double next_double(program *p)
{
    static const double odd[] = {0, 1, -1, 0.5, 2, 3, 1e10, -1e10, 1e300, INFINITY, -INFINITY, NAN};
    return odd[next_byte(p) % (sizeof odd / sizeof odd[0])];
}

static const char *next_string(program *p)
{
    static const char *const strings[] = {
        NULL,       "",
        "x",        "w",
        "y",        "z",
        "lrelu0",   "conv2d0",
        "create0",  "dtype",
        "dims",     "data",
        "ran",      "negslope",
        "axis",     "start",
        "len",      "padding",
        "stride",   "autopad",
        "cpu",      "ref",
        "cpu,ref",  "none",
        ",",        "null",
        "ir",       "il",
        "fold",     "fold,expand",
        "TL_FLOAT", "SAME_UPPER",
        "input",    "/nonexistent/x",
        "/",        "\xff\xfe",
        "%s%n",     "group",
        "size",     "elew0",
        "elew_op",  "reshape0",
        "concat0",  "slice0",
    };
    return strings[next_byte(p) % (sizeof strings / sizeof strings[0])];
}

static const char *next_model(program *p)
{
    static const char *const models[] = {
        "input(| dst=x | dtype=TL_FLOAT, dims=[2, 4]); lrelu(src=x | dst=y | negslope=0.5);",
        "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 6, 6]);"
        "create(| dst=w | dtype=TL_FLOAT, dims=[4, 2, 3, 3], ran=[0, 0], data=[1], "
        "from_file=false);"
        "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[1], from_file=false);"
        "conv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[3, 3], stride=[1, 1], "
        "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET); relu(src=y | dst=z |);",
        "input(| dst=x | dtype=TL_INT32, dims=[2, 4]); reshape(src=x | dst=y | dims=[8]);"
        "slice(src=y | dst=z | axis=0, start=1, len=3); concat(src1=z, src2=y | dst=w | axis=0);"
        "elew(src1=w, src2=w | dst=e | elew_op=TL_MUL);",
        "{\"ops\": []}",
        "",
        "{",
    };
    return models[next_byte(p) % (sizeof models / sizeof models[0])];
}

// ---- Contexts ----

static ln_status set_param(ln_context *ctx, program *p)
{
    const char *op = next_string(p), *name = next_string(p);
    // The argument must have the parameter's type, which the caller has to know.
    const ln_op *found = ctx && op && ctx->op_table ? ln_op_table_find(ctx->op_table, op) : NULL;
    const ln_param_entry *param = found ? ln_param_list_find(found->op_arg->params, name) : NULL;
    const double numbers[] = {next_int(p), next_double(p), next_int(p), next_int(p)};
    const char *strings[] = {next_string(p), next_string(p)};
    const ln_bool bools[] = {1, 0};
    int len = (int)(next_byte(p) % 6) - 1;
    switch (param ? param->type : LN_PARAM_NULL) {
    case LN_PARAM_NUMBER: return ln_context_set_param(ctx, op, name, numbers[len & 3]);
    case LN_PARAM_STRING: return ln_context_set_param(ctx, op, name, strings[0]);
    case LN_PARAM_BOOL: return ln_context_set_param(ctx, op, name, len);
    case LN_PARAM_ARRAY_NUMBER:
        return ln_context_set_param(ctx, op, name, numbers, len > 4 ? 4 : len);
    case LN_PARAM_ARRAY_STRING:
        return ln_context_set_param(ctx, op, name, strings, len > 2 ? 2 : len);
    case LN_PARAM_ARRAY_BOOL: return ln_context_set_param(ctx, op, name, bools, len > 2 ? 2 : len);
    default: return ln_context_set_param(ctx, op, name, numbers[0]);
    }
}

// The tensor's values go out as an array, and come back by a copy, or as the array itself.
static void use_array(ln_context *ctx, const char *name)
{
    ln_ndarray *seen, *copy;
    if (ln_context_get_array(ctx, name, &seen) != LN_OK) {
        FUZZ_CHECK(!seen);
        FUZZ_CHECK(ln_context_set_array(ctx, name, NULL) != LN_OK);
        return;
    }
    FUZZ_CHECK(ln_ndarray_clone(seen, &copy) == LN_OK);
    size_t size = ln_ndarray_byte_count(copy);
    FUZZ_CHECK(size == ln_context_data_size(ctx, name));
    FUZZ_CHECK(ln_context_set_array(ctx, name, copy) == LN_OK);
    int is_bound;
    FUZZ_CHECK(ln_context_bind_array(ctx, name, copy, &is_bound) == LN_OK);
    const void *data = ln_context_get_data(ctx, name, NULL);
    FUZZ_CHECK(!is_bound || data == ln_ndarray_data(copy));
    FUZZ_CHECK(size == 0 || memcmp(data, ln_ndarray_data(copy), size) == 0);
    ln_ndarray_release(copy); // the context holds it if it is bound
    ln_ndarray_release(seen);
}

static void set_and_get_data(ln_context *ctx, program *p)
{
    const char *name = next_string(p);
    size_t size = ln_context_data_size(ctx, name);
    char *bytes = next_byte(p) % 4 ? calloc(1, size + 1) : NULL;
    ln_status status = ln_context_set_data(ctx, name, bytes);
    const void *got = ln_context_get_data(ctx, name, bytes);
    if (status == LN_OK)
        FUZZ_CHECK(got);
    use_array(ctx, name);
    free(bytes);
}

static void write_out(const ln_context *ctx, program *p)
{
    char *text = NULL;
    size_t len;
    const char *format = next_string(p);
    if (ln_context_write(ctx, format, next_byte(p) % 8 ? &text : NULL, &len) == LN_OK)
        ln_free(text);
}

static void plan_and_check(const ln_context *ctx)
{
    ln_plan *plan;
    if (ln_context_plan_create(ctx, &plan) == LN_OK)
        FUZZ_CHECK(ln_plan_check(plan) == LN_OK);
    ln_context_plan_free(plan);
}

// The clone takes the context's place, and shares with one that is gone.
static void become_clone(ln_context **slot)
{
    ln_context *clone;
    if (ln_context_clone(*slot, &clone) != LN_OK) {
        FUZZ_CHECK(!clone);
        return;
    }
    FUZZ_CHECK(clone->state == (*slot)->state);
    if (clone->state == LN_CONTEXT_LOADED) {
        ln_context_run(clone);
        ln_context_run(*slot);
    }
    ln_context_free(*slot);
    *slot = clone;
}

static void call_context(ln_context **slot, program *p)
{
    ln_context *ctx = *slot;
    switch (next_byte(p) % 24) {
    case 0:
    case 1:
        if (!ctx)
            *slot = fuzz_context();
        break;
    case 2:
        ln_context_free(ctx);
        *slot = NULL;
        break;
    case 3:
    case 4:
    case 5: {
        const char *model = next_model(p);
        ln_context_init_mem(ctx, model, strlen(model), next_string(p));
        break;
    }
    case 6: ln_context_init(ctx, next_string(p)); break;
    case 7:
    case 8: ln_context_compile(ctx, next_byte(p) % 4 ? "cpu" : next_string(p)); break;
    case 9: ln_context_optimize(ctx, "cpu", next_string(p)); break;
    case 10:
    case 11: ln_context_load(ctx, next_byte(p) % 8 ? NULL : "/nonexistent/x"); break;
    case 12: ln_context_run(ctx); break;
    case 13: ln_context_unload(ctx); break;
    case 14: ln_context_cleanup(ctx); break;
    case 15: set_and_get_data(ctx, p); break;
    case 16:
    case 17:
    case 18: set_param(ctx, p); break;
    case 19: write_out(ctx, p); break;
    case 20: plan_and_check(ctx); break;
    case 21:
        ln_context_input(ctx, next_byte(p));
        ln_context_output(ctx, next_byte(p));
        ln_context_input_count(ctx);
        ln_context_output_count(ctx);
        ln_context_macs(ctx);
        break;
    case 22: ln_context_check(ctx); break;
    default:
        switch (next_byte(p) % 4) {
        case 0: ln_context_set_limits(ctx, NULL); break;
        case 2: become_clone(slot); break;
        default: ln_context_rerun_ops(ctx); break;
        }
        break;
    }
    if (*slot && (*slot)->state >= LN_CONTEXT_READY)
        FUZZ_CHECK(ln_context_check(*slot));
}

// ---- Registries ----

static void call_registry(program *p)
{
    static ln_op_arg arg = {.optype = "fuzz", .arch = "none"};
    static ln_op op = {.op_arg = &arg};
    const char *name = next_string(p);
    switch (next_byte(p) % 10) {
    case 0: ln_op_find(name); break;
    case 1: ln_op_find_at((size_t)next_int(p)); break;
    case 2: ln_arch_find(name); break;
    case 3: ln_arch_find_at((size_t)next_int(p)); break;
    case 4: ln_serializer_find(name); break;
    case 5: ln_serializer_for_path(name); break;
    case 6: ln_serializer_probe(name, name ? name : "", name ? strlen(name) : 0); break;
    case 7:
        if (ln_op_register(&op) == LN_OK)
            FUZZ_CHECK(ln_op_register(&op) == LN_EXISTS);
        FUZZ_CHECK(ln_op_unregister("fuzz") == LN_OK);
        break;
    case 8:
        ln_op_register(NULL);
        ln_op_unregister(NULL);
        ln_arch_register(NULL);
        ln_arch_unregister(NULL);
        ln_serializer_register(NULL);
        ln_serializer_unregister(NULL);
        ln_serializer_register_op_loader(NULL, NULL, 0, NULL, NULL);
        break;
    default: FUZZ_CHECK(ln_arch_init() == LN_OK); ln_arch_cleanup();
    }
}

// ---- Containers ----

static void call_list(ln_list **list, program *p)
{
    void *data = (void *)(uintptr_t)next_byte(p);
    int n = next_int(p);
    switch (next_byte(p) % 14) {
    case 0: *list = ln_list_prepend(*list, data); break;
    case 1: *list = ln_list_append(*list, data); break;
    case 2: *list = ln_list_insert_nth(*list, data, n); break;
    case 3: *list = ln_list_insert_before(*list, data, ln_list_nth(*list, n)); break;
    case 4: *list = ln_list_remove(*list, data); break;
    case 5: *list = ln_list_remove_nth(*list, n); break;
    case 6: *list = ln_list_remove_all_custom_deep(*list, data, ln_direct_cmp, NULL); break;
    case 7: ln_list_nth_data(*list, n); break;
    case 8: ln_list_index(*list, data); break;
    case 9: *list = ln_list_reverse(*list); break;
    case 10: ln_list_free(ln_list_copy(*list)); break;
    case 11: ln_list_free(ln_list_find_all_custom(*list, data, NULL)); break;
    case 12: ln_list_position(*list, ln_list_nth(*list, n)); break;
    default:
        ln_list_free(*list);
        *list = NULL;
        break;
    }
}

static void call_hash(ln_hash **hash, program *p)
{
    const char *key = next_string(p);
    switch (next_byte(p) % 8) {
    case 0:
        if (!*hash)
            *hash = ln_hash_create_full(ln_str_hash, ln_str_cmp, NULL, NULL, next_int(p) % 4096,
                                        (float)next_double(p));
        break;
    case 1:
        if (!*hash)
            *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
        break;
    case 2:
    case 3: ln_hash_insert(*hash, key, p); break;
    case 4: ln_hash_remove(*hash, key); break;
    case 5: ln_hash_find(*hash, key); break;
    case 6: {
        size_t cursor = next_byte(p), count = 0;
        while (ln_hash_next(*hash, &cursor, NULL, NULL))
            count++;
        FUZZ_CHECK(count <= (size_t)ln_hash_size(*hash));
        break;
    }
    default:
        ln_hash_free(*hash);
        *hash = NULL;
        break;
    }
}

static void call_graph(ln_graph **graph, program *p)
{
    void *a = (void *)(uintptr_t)(next_byte(p) % 8), *b = (void *)(uintptr_t)(next_byte(p) % 8);
    ln_list *layers = NULL;
    switch (next_byte(p) % 10) {
    case 0:
        if (!*graph)
            *graph = ln_graph_create(ln_direct_cmp, ln_direct_cmp);
        break;
    case 1:
    case 2: ln_graph_add(*graph, a); break;
    case 3:
    case 4: ln_graph_link(*graph, a, b, a); break;
    case 5: ln_graph_unlink(*graph, a, b, a); break;
    case 6: ln_graph_remove(*graph, a); break;
    case 7:
        ln_graph_topsort(*graph, &layers);
        ln_graph_free_topsortlist(layers);
        break;
    case 8:
        ln_graph_free(ln_graph_copy(*graph));
        ln_graph_num_outlier(*graph);
        break;
    default:
        ln_graph_free(*graph);
        *graph = NULL;
        break;
    }
}

static void call_pool(ln_mem_pool **pool, program *p)
{
    size_t n = (size_t)next_int(p);
    switch (next_byte(p) % 6) {
    case 0:
        if (!*pool)
            *pool = ln_mem_pool_create(n, (size_t)next_int(p));
        break;
    case 1:
    case 2: ln_mem_pool_alloc(*pool, n); break;
    case 3: ln_mem_pool_dealloc(*pool, n); break;
    case 4: ln_mem_pool_exist(*pool, n); break;
    default:
        ln_mem_pool_free(*pool);
        *pool = NULL;
        break;
    }
}

// ---- Tensors ----

static tl_tensor *next_tensor(program *p)
{
    int dims[LN_MAXDIM];
    int ndim = (int)(next_byte(p) % 5);
    for (int i = 0; i < ndim; i++)
        dims[i] = (int)(next_byte(p) % 5);
    return next_byte(p) % 16 ? tl_tensor_zeros(ndim, dims, (tl_dtype)(next_byte(p) % 12)) : NULL;
}

static void call_tensor(program *p)
{
    tl_tensor *a = next_tensor(p), *b = next_tensor(p), *made = NULL;
    int axis = next_int(p), n = next_int(p), dims[LN_MAXDIM];
    for (int i = 0; i < LN_MAXDIM; i++)
        dims[i] = (int)(next_byte(p) % 6) - 1;
    tl_tensor *dst = next_byte(p) % 2 ? b : NULL;
    switch (next_byte(p) % 16) {
    case 0: made = tl_tensor_slice(a, dst, axis, n, next_int(p)); break;
    case 1: made = tl_tensor_concat(a, b, NULL, axis); break;
    case 2: made = tl_tensor_clone(a); break;
    case 3: made = tl_tensor_repeat(a, n); break;
    case 4:
        made = tl_tensor_arange(next_double(p), next_double(p), next_double(p), TL_FLOAT);
        break;
    case 5: tl_tensor_reshape_src(a, n, dims); break;
    case 6: made = tl_tensor_transpose(a, dst, dims); break;
    case 7: made = tl_tensor_maxreduce(a, dst, NULL, axis); break;
    case 8: made = tl_tensor_elew(a, b, NULL, (tl_elew_op)(next_byte(p) % 10)); break;
    case 9: made = tl_tensor_elew_param(a, next_double(p), dst, (tl_elew_op)(n & 15)); break;
    case 10: made = tl_tensor_dot_product(a, b, NULL); break;
    case 11: made = tl_tensor_lrelu(a, dst, (float)next_double(p)); break;
    case 12: made = tl_tensor_convert(a, dst, (tl_dtype)(next_byte(p) % 13)); break;
    case 13: made = tl_tensor_resize(a, dst, dims, (tl_resize_type)(next_byte(p) % 4)); break;
    case 14: tl_tensor_sort1d(a, (tl_sort_dir)(next_byte(p) % 3)); break;
    default: tl_tensor_index(a, dims); break;
    }
    if (made != b)
        tl_tensor_free_data_too(made);
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
}

// ---- The program ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    program p = {data, data + (size < 512 ? size : 512)};
    ln_context *contexts[SLOTS] = {NULL};
    ln_list *list = NULL;
    ln_hash *hash = NULL;
    ln_graph *graph = NULL;
    ln_mem_pool *pool = NULL;
    while (p.at < p.end) {
        unsigned what = next_byte(&p);
        switch (what % 16) {
        case 0: call_registry(&p); break;
        case 1: call_list(&list, &p); break;
        case 2: call_hash(&hash, &p); break;
        case 3: call_graph(&graph, &p); break;
        case 4: call_pool(&pool, &p); break;
        case 5: call_tensor(&p); break;
        default: call_context(&contexts[what / 16 % SLOTS], &p); break;
        }
    }
    for (size_t i = 0; i < SLOTS; i++)
        ln_context_free(contexts[i]);
    ln_list_free(list);
    ln_hash_free(hash);
    ln_graph_free(graph);
    ln_mem_pool_free(pool);
    return 0;
}
