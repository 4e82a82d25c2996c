// SPDX-License-Identifier: Apache-2.0
// A plug-in that has one of everything: an arch with rules, an operator, a memory type with copies,
// a format, and a reader of an operator. VARIANT spoils it in one way.

#include <string.h>

#include <lightnet/plugin.h>

#define GOOD          0
#define NO_SYMBOL     1
#define OTHER_VERSION 2
#define SHORT         3 // the table says that it ends before `open`
#define LONGER        4 // it goes on, and says something there
#define TOO_LONG      5 // it says that it is longer than the symbol
#define NO_NAME       6
#define NO_OPEN       7
#define NEWER_HOST    8
#define FUNCTION      9  // the symbol is one
#define FAILS         10 // at the end of `open`
#define FAILS_MUTE    11 // without a message
#define TINY          12 // the symbol is a number
#define BAD_RULES     13
#define OTHER_FILE    14 // the same name in another file
#define LONGER_OF_0   15 // it goes on, and says nothing there

static const ln_plugin_host *host;

// ---- The arch: groups of act and elew ----

static const char *const core_ops[] = {"act(act)", "elew(elew_op, act)", NULL};

static ln_status prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    *out_group = NULL;
    int count = host->list_length(ops);
    const ln_op **group = host->alloc((size_t)(count + 1) * sizeof *group);
    if (!group)
        return LN_NO_MEMORY;
    int i = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops)
        group[i++] = op;
    group[i] = NULL;
    *out_group = group;
    return LN_OK;
}

static void release(void *priv, void *group)
{
    (void)priv;
    host->free(group);
}

static ln_status run(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    for (const ln_op **op = group; *op; op++) {
        int in_count = host->list_length((*op)->op_arg->tensors_in);
        const ln_param_entry *act = host->param_list_find((*op)->op_arg->params, "act");
        int is_relu = act && strcmp(act->value_string, "relu") == 0;
        tl_tensor *dst = addresses[in_count];
        for (int k = 0; k < dst->len; k++) {
            float sum = 0;
            for (int i = 0; i < in_count; i++)
                sum += addresses[i] ? ((const float *)addresses[i]->data)[k] : 0;
            ((float *)dst->data)[k] = is_relu && sum < 0 ? 0 : sum;
        }
        addresses += in_count + host->list_length((*op)->op_arg->tensors_out);
    }
    return LN_OK;
}

static ln_arch slot = {.arch_name = "slot",
                       .doc = "groups of act and elew, of a plug-in",
                       .fallbacks = "ref",
                       .prepare = prepare,
                       .run = run,
                       .release = release,
                       .core_ops = core_ops};

// ---- An operator of its own, in call form ----

static ln_status infer_twice(ln_call *call)
{
    return host->call_out_like(call, 0, 0);
}

static ln_status compute_twice(ln_call *call)
{
    const tl_tensor *src = host->call_in(call, 0);
    tl_tensor *dst = host->call_dst(call, 0);
    if (src->dtype != TL_FLOAT)
        return host->call_fail(call, LN_UNSUPPORTED, "takes floats");
    for (int i = 0; i < src->len; i++)
        ((float *)dst->data)[i] = 2 * ((const float *)src->data)[i];
    return LN_OK;
}

static const ln_arg_info twice_ins[] = {{.arg_name = "src"}, {.arg_name = NULL}};
static const ln_arg_info twice_outs[] = {{.arg_name = "dst"}, {.arg_name = NULL}};
static const ln_param_info no_params[] = {{.arg_name = NULL}};
static const char *twice_in_names[] = {"src", NULL};
static const char *twice_out_names[] = {"dst", NULL};
static const char *no_names[] = {NULL};

static const ln_op_info twice_info = {.byte_count = sizeof(ln_op_info),
                                      .doc = "Each element times 2.",
                                      .ins = twice_ins,
                                      .outs = twice_outs,
                                      .params = no_params,
                                      .infer = infer_twice};
static const ln_op_info twice_ref_info = {.byte_count = sizeof(ln_op_info),
                                          .ins = twice_ins,
                                          .outs = twice_outs,
                                          .params = no_params,
                                          .infer = infer_twice,
                                          .compute = compute_twice};
static ln_op_arg twice_arg = {.optype = "twice",
                              .arch = "none",
                              .in_arg_names = twice_in_names,
                              .out_arg_names = twice_out_names,
                              .param_arg_names = no_names,
                              .info = &twice_info};
static ln_op_arg twice_ref_arg = {.optype = "twice_ref",
                                  .arch = "ref",
                                  .in_arg_names = twice_in_names,
                                  .out_arg_names = twice_out_names,
                                  .param_arg_names = no_names,
                                  .info = &twice_ref_info};
static ln_op twice = {.op_arg = &twice_arg}, twice_ref = {.op_arg = &twice_ref_arg};

static ln_status register_ops(void)
{
    twice.pre_run = twice_ref.pre_run = host->call_pre_run;
    twice.post_run = twice_ref.post_run = host->call_post_run;
    twice_ref.run = host->call_run;
    ln_status status = host->op_register(&twice);
    return status == LN_OK ? host->op_register(&twice_ref) : status;
}

// ---- Memory ----

static void *slot_alloc(size_t n)
{
    return host->alloc_aligned(n, LN_MEM_ALIGN);
}

static void slot_free(void *p)
{
    host->free_aligned(p);
}

static ln_mem_type slot_mem;

static ln_status register_memory(void)
{
    static const ln_mem_info info = {.alloc_func = slot_alloc,
                                     .free_func = slot_free,
                                     .memset_func = memset,
                                     .max_size = 1 << 20,
                                     .align_size = LN_MEM_ALIGN};
    ln_status status = host->mem_type_add("LN_MEM_SLOT", "memory of slots", &info, &slot_mem);
    if (status == LN_OK)
        status = host->mem_type_register_copy(slot_mem, LN_MEM_CPU, memmove);
    return status == LN_OK ? host->mem_type_register_copy(LN_MEM_CPU, slot_mem, memmove) : status;
}

// ---- Formats ----

static int probe(const ln_serializer *serializer, const char *path, const char *bytes,
                 size_t byte_count)
{
    (void)serializer;
    (void)path;
    return byte_count >= 4 && memcmp(bytes, "SLOT", 4) == 0 ? 100 : 0;
}

static ln_status load_mem(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                          size_t byte_count, const char *name)
{
    (void)serializer;
    (void)ctx;
    (void)bytes;
    (void)byte_count;
    host->fail(LN_UNSUPPORTED, "%s: slots are empty", name);
    return LN_UNSUPPORTED;
}

static ln_serializer slots = {
    .name = "slots", .doc = "a format without models", .probe = probe, .load_mem = load_mem};

static ln_status load_thrice(ln_serializer *serializer, ln_context *ctx, const ln_op_source *source,
                             void *user)
{
    (void)user;
    ln_op_source other = *source;
    other.optype = "twice";
    return host->serializer_add_op_sized(serializer, ctx, &other, sizeof other);
}

// ---- The plug-in ----

// An arch in the memory that came before it, which therefore goes after it.
static ln_arch far = {.arch_name = "slot_far", .doc = "an arch without operators"};

static ln_status register_far(void)
{
    far.mem_type = slot_mem;
    return host->arch_register_sized(&far, sizeof far);
}

static ln_status open_slot(const ln_plugin_host *given)
{
    host = given;
    ln_status status = register_memory();
    if (status == LN_OK)
        status = register_far();
    if (status == LN_OK)
        status = host->arch_register_sized(&slot, sizeof slot);
    if (status == LN_OK)
        status = host->rules_register(
            "slot", VARIANT == BAD_RULES ? "lower * => *_slot\nrule r [exact]\n  y = nothing(x\n"
                                         : "lower * => *_slot\n");
    if (status == LN_OK)
        status = register_ops();
    if (status == LN_OK)
        status = host->serializer_register_sized(&slots, sizeof slots);
    if (status == LN_OK)
        status = host->serializer_register_op_loader(host->serializer_find("il"), "thrice", 0,
                                                     load_thrice, NULL);
    if (status != LN_OK)
        return status;
#if VARIANT == FAILS
    host->fail(LN_IO, "the cable of slot %d is loose", 7);
#endif
    return VARIANT == FAILS || VARIANT == FAILS_MUTE ? LN_IO : LN_OK;
}

static void close_slot(void)
{
    host = NULL;
}

#if VARIANT == NO_SYMBOL
LN_PLUGIN_EXPORT const int another_symbol = 1;
#elif VARIANT == FUNCTION
LN_PLUGIN_EXPORT int lightnet_plugin(void)
{
    return 0;
}
#elif VARIANT == TINY
LN_PLUGIN_EXPORT const int lightnet_plugin = LN_PLUGIN_VERSION;
#elif VARIANT == LONGER || VARIANT == LONGER_OF_0
LN_PLUGIN_EXPORT const struct {
    ln_plugin table;
    size_t more;
} lightnet_plugin = {{.byte_count = sizeof(ln_plugin) + sizeof(size_t),
                      .version = LN_PLUGIN_VERSION,
                      .host_byte_count = sizeof(ln_plugin_host),
                      .name = "slot",
                      .open = open_slot,
                      .close = close_slot},
                     VARIANT == LONGER};
#else
LN_PLUGIN_EXPORT const ln_plugin lightnet_plugin = {
    .byte_count = VARIANT == SHORT      ? offsetof(ln_plugin, open)
                  : VARIANT == TOO_LONG ? 2 * sizeof(ln_plugin)
                                        : sizeof(ln_plugin),
    .version = LN_PLUGIN_VERSION + (VARIANT == OTHER_VERSION),
    .host_byte_count = sizeof(ln_plugin_host) + (VARIANT == NEWER_HOST ? sizeof(void *) : 0),
    .name = VARIANT == NO_NAME ? "" : "slot",
    .doc = "one of everything",
    .open = VARIANT == NO_OPEN ? NULL : open_slot,
    .close = close_slot};
#endif
