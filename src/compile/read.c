// SPDX-License-Identifier: Apache-2.0
// Reading and printing a model: finds the serializer, checks limits, and leaves a context that is
// READY (or PLANNED, from a compiled file), or EMPTY with the reason.

#include <lightnet/context.h>

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/allocator.h>
#include <lightnet/model_info.h>
#include <lightnet/serializer.h>
#include <lightnet/util.h>

#include "base/sized.h"
#include "base/text.h"
#include "compile/beside.h"
#include "compile/clone.h"
#include "compile/context_plan.h"
#include "compile/failover.h"
#include "compile/limits.h"
#include "compile/reshape.h"
#include "desc/rule_weight.h"
#include "ir/attached.h"
#include "ir/compiled.h"
#include "ir/context.h"
#include "ir/phase.h"
#include "pass/rewrite.h"
#include "serial/choose.h"

static ln_status check_empty(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state != LN_CONTEXT_EMPTY || ctx->ops)
        return LN_FAIL(LN_STATE, "the context holds a model already; clean it up first");
    return LN_OK;
}

// A model, and how it is read.
typedef struct model_source {
    const char *path;  // the file the bytes came from; NULL: there is only `bytes`
    const char *bytes; // its start where the format maps it
    size_t byte_count;
    const char *name;
    const ln_read_options *options;
} model_source;

static ln_status load_as_chosen(ln_serializer *serializer, ln_context *ctx, const model_source *m)
{
    const ln_read_options *options = m->options;
    if (serializer->load_with)
        return serializer->load_with(serializer, ctx, m->path, m->path ? NULL : m->bytes,
                                     m->byte_count, m->name, options);
    if (options->signature)
        return LN_FAIL(LN_UNSUPPORTED, "%s: a model of format '%s' has no signature '%s'", m->name,
                       serializer->name, options->signature);
    if (options->is_resizable)
        return LN_FAIL(LN_UNSUPPORTED,
                       "%s: a model of format '%s' has the sizes that it states; leave out that it "
                       "is resizable, which is for TensorFlow Lite",
                       m->name, serializer->name);
    return LN_FAIL(LN_UNSUPPORTED,
                   "%s: a model of format '%s' has one rounding; leave '%s' out, which is for "
                   "TensorFlow Lite",
                   m->name, serializer->name, options->rounding);
}

static ln_status load_with(ln_context *ctx, const model_source *m)
{
    const char *path = m->path, *name = m->name;
    ln_serializer *serializer;
    LN_TRY(ln_serializer_choose(path, m->bytes, m->byte_count, name, &serializer));
    if (m->options->signature || m->options->rounding || m->options->is_resizable)
        return load_as_chosen(serializer, ctx, m);
    if (path && serializer->load_file)
        return serializer->load_file(serializer, ctx, path);
    if (!serializer->load_mem)
        return LN_FAIL(LN_UNSUPPORTED, "%s: format '%s' is read from files only", name,
                       serializer->name);
    return serializer->load_mem(serializer, ctx, m->bytes, m->byte_count, name);
}

static ln_status adopt_graph_plan(ln_context *graph, void *user)
{
    (void)user;
    if (!graph->compiled)
        return LN_OK;
    LN_TRY(ln_context_adopt_plan(graph));
    ln_compiled_destroy(graph->compiled);
    graph->compiled = NULL;
    return LN_OK;
}

// The operators are in ctx->ops; checks them, and the plan of a compiled file, which may have
// weights beside it at `path`.
static ln_status make_ready(ln_context *ctx, const char *path)
{
    if (ctx->weights)
        LN_TRY(ln_beside_attach(ctx, path, ctx->files));
    LN_TRY(ln_context_init_ops(ctx));
    ln_context_drop_known_outputs(ctx);
    if (!ctx->compiled)
        return LN_OK; // limits are checked by compiling
    if (ctx->compiled->is_dynamic)
        return ln_context_compile_as_read(ctx);
    LN_TRY(ln_context_check_limits(ctx));
    LN_TRY(ctx->compiled->is_old ? ln_context_compile(ctx, "cpu") : ln_context_adopt_plan(ctx));
    LN_TRY(ln_context_each_graph(ctx, adopt_graph_plan, NULL));
    ln_compiled_destroy(ctx->compiled);
    ctx->compiled = NULL;
    return LN_OK;
}

static ln_status init_from(ln_context *ctx, const model_source *m)
{
    ln_context_forget(ctx); // what failed reads left
    ctx->source = ln_strdup(m->name);
    ln_status status = ctx->source ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = load_with(ctx, m);
    if (status == LN_OK)
        status = make_ready(ctx, m->path);
    if (status != LN_OK)
        ln_context_cleanup(ctx);
    return status;
}

// Reads a file of a format that maps it, and so is not to be read here as a whole; *out_is_mapped
// is 0 for other formats.
static ln_status init_mapped(ln_context *ctx, const char *path, const ln_read_options *options,
                             int *out_is_mapped)
{
    char start[4096];
    size_t len;
    *out_is_mapped = 0;
    LN_TRY(ln_text_read_start(path, start, sizeof start, &len));
    const ln_serializer *serializer = ln_serializer_probe(path, start, len);
    *out_is_mapped = serializer && serializer->load_file && serializer->maps_files;
    const model_source m = {path, start, len, path, options};
    return *out_is_mapped ? init_from(ctx, &m) : LN_OK;
}

static ln_status init_file(ln_context *ctx, const char *source, const ln_read_options *options)
{
    LN_TRY(check_empty(ctx));
    if (!source)
        return LN_FAIL(LN_INVALID, "the source is NULL; name a file, or \"-\"");

    int is_stdin = ln_streq(source, "-"), is_mapped = 0;
    if (!is_stdin)
        LN_TRY(init_mapped(ctx, source, options, &is_mapped));
    if (is_mapped)
        return LN_OK;

    char *bytes;
    size_t byte_count;
    LN_TRY(ln_text_read_file(source, ctx->limits.source_byte_count, &bytes, &byte_count));
    const model_source m = {is_stdin ? NULL : source, bytes, byte_count,
                            is_stdin ? "<stdin>" : source, options};
    ln_status status = init_from(ctx, &m);
    ln_free(bytes);
    return status;
}

static ln_status init(ln_context *ctx, const char *source, const ln_read_options *options)
{
    ln_serializers_enter();
    ln_status status = init_file(ctx, source, options);
    ln_serializers_leave();
    return status;
}

static ln_status copy_options(const ln_read_options *options, size_t byte_count,
                              ln_read_options *out_options)
{
    *out_options = (ln_read_options){.signature = NULL};
    if (!options)
        return LN_OK;
    return ln_sized_read(out_options, sizeof *out_options, options, byte_count,
                         LN_SIZE_UP_TO(ln_read_options, signature), "ln_read_options");
}

ln_status ln_context_init_with_sized(ln_context *ctx, const char *source,
                                     const ln_read_options *options, size_t byte_count)
{
    ln_read_options whole;
    LN_TRY(copy_options(options, byte_count, &whole));
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, init(ctx, source, &whole));
}

ln_status ln_context_init_signature(ln_context *ctx, const char *source, const char *signature)
{
    return ln_context_init_with(ctx, source, &(ln_read_options){.signature = signature});
}

ln_status ln_context_init(ln_context *ctx, const char *source)
{
    return ln_context_init_signature(ctx, source, NULL);
}

static ln_status init_mem(ln_context *ctx, const void *bytes, size_t byte_count, const char *name,
                          const ln_read_options *options)
{
    LN_TRY(check_empty(ctx));
    if (!bytes && byte_count > 0)
        return LN_FAIL(LN_INVALID, "the model's bytes are NULL");
    if (byte_count > ctx->limits.source_byte_count)
        return LN_FAIL(LN_LIMIT, "a model of %zu bytes is over the limit of %zu", byte_count,
                       ctx->limits.source_byte_count);
    const model_source m = {NULL, bytes ? bytes : "", byte_count, name ? name : "<memory>",
                            options};
    ln_serializers_enter();
    ln_status status = init_from(ctx, &m);
    ln_serializers_leave();
    return status;
}

ln_status ln_context_init_mem_with_sized(ln_context *ctx, const void *bytes,
                                         size_t model_byte_count, const char *name,
                                         const ln_read_options *options, size_t byte_count)
{
    ln_read_options whole;
    LN_TRY(copy_options(options, byte_count, &whole));
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, init_mem(ctx, bytes, model_byte_count, name, &whole));
}

ln_status ln_context_init_signature_mem(ln_context *ctx, const void *bytes, size_t byte_count,
                                        const char *name, const char *signature)
{
    return ln_context_init_mem_with(ctx, bytes, byte_count, name,
                                    &(ln_read_options){.signature = signature});
}

ln_status ln_context_init_mem(ln_context *ctx, const void *bytes, size_t byte_count,
                              const char *name)
{
    return ln_context_init_signature_mem(ctx, bytes, byte_count, name, NULL);
}

void ln_context_cleanup(ln_context *ctx)
{
    if (!ctx)
        return;
    ln_context_drop_ops(ctx);
    ln_context_forget(ctx);
}

// ---- Writing ----

// Whether an operator of the model computes, and is none of ONNX.
static bool is_foreign(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op->op_arg->tensors_in && ln_rule_level(op->op_arg->optype) > 0 &&
            !ln_op_is_type(op->op_arg, "output"))
            return true;
    }
    return false;
}

static ln_status find_foreign(ln_context *graph, void *user)
{
    *(bool *)user = *(bool *)user || is_foreign(graph);
    return LN_OK;
}

static ln_status rewrite_graph(ln_context *graph, void *user)
{
    return ln_rewrite_to_onnx(graph, user);
}

// The model in the operators that the format has: *out_copy, or, NULL, the model itself. One that
// is compiled is past rewriting.
static ln_status rewrite_copy(const ln_serializer *serializer, const ln_context *ctx,
                              ln_context **out_copy)
{
    *out_copy = NULL;
    bool found = is_foreign(ctx);
    (void)ln_context_each_graph(ctx, find_foreign, &found);
    if (!serializer->rules || !found || ctx->state != LN_CONTEXT_READY || ctx->outer)
        return LN_OK;
    ln_context *copy;
    LN_TRY(ln_context_clone(ctx, &copy));
    void *rules = (void *)(uintptr_t)serializer->rules;
    ln_status status = ln_context_each_graph(copy, rewrite_graph, rules);
    if (status == LN_OK)
        status = rewrite_graph(copy, rules);
    if (status == LN_OK)
        *out_copy = copy;
    else
        ln_context_free(copy);
    return status;
}

static ln_status write_mem(ln_serializer *serializer, const ln_context *ctx, char **out_bytes,
                           size_t *out_byte_count)
{
    ln_context *copy;
    LN_TRY(rewrite_copy(serializer, ctx, &copy));
    ln_status status = serializer->write(serializer, copy ? copy : ctx, out_bytes, out_byte_count);
    ln_context_free(copy);
    return status;
}

static ln_status write_file(ln_serializer *serializer, const ln_context *ctx, const char *path,
                            unsigned flags)
{
    ln_context *copy;
    LN_TRY(rewrite_copy(serializer, ctx, &copy));
    ln_status status = serializer->write_file(serializer, copy ? copy : ctx, path, flags);
    ln_context_free(copy);
    return status;
}

// A model whose shapes depend on weights is refused: no reader of the text could compile it.
static ln_status copy_bare(const ln_context *ctx, ln_context **out_copy)
{
    ln_context *model;
    LN_TRY(ln_plans_copy_model(ctx, false, &model));
    if (!model)
        return ln_context_clone_bare(ctx, out_copy);
    ln_status status = ln_context_compile_as_read(model);
    if (status == LN_OK)
        status = ln_plans_copy_model(model, false, out_copy);
    ln_context_free(model);
    return status;
}

// Its text has no plan but says how to compile it, or there is none.
static ln_status copy_with_failover(const ln_context *ctx, ln_context **out_copy)
{
    LN_TRY(ln_plans_copy_model(ctx, true, out_copy));
    return *out_copy ? LN_OK : LN_FAIL(LN_UNSUPPORTED, LN_NOT_WRITTEN_WITH_FAILOVER);
}

// The compiled model as its text has it: *out_copy, or, NULL, as it is. The plan in the text is
// that of its reader, who has no memory for what is in the model's file.
static ln_status copy_for_reader(const ln_context *ctx, ln_context **out_copy)
{
    *out_copy = NULL;
    if (ctx->failover)
        return copy_with_failover(ctx, out_copy);
    if (ctx->weights || ln_attached_count(ctx->attached) == 0)
        return ln_plans_copy_model(ctx, true, out_copy);
    if (copy_bare(ctx, out_copy) == LN_OK)
        return LN_OK;
    return ln_fail_prefix("the model cannot be written in compiled form without its weights; "
                          "store them beside it (ln_context_store, or `lightnet -c` without "
                          "--no-weights)");
}

static ln_status write_named(const ln_context *ctx, const char *serializer_name, char **out_bytes,
                             size_t *out_byte_count)
{
    ln_serializer *serializer = ln_serializer_find(serializer_name);
    if (!serializer || !serializer->write)
        return LN_FAIL(LN_UNSUPPORTED, "no writer for format '%s'", serializer_name);
    if (!serializer->writes_plan || ctx->state < LN_CONTEXT_PLANNED || ctx->outer)
        return write_mem(serializer, ctx, out_bytes, out_byte_count);
    ln_context *copy;
    LN_TRY(copy_for_reader(ctx, &copy));
    ln_status status = serializer->write(serializer, copy ? copy : ctx, out_bytes, out_byte_count);
    ln_context_free(copy);
    return status;
}

ln_status ln_context_write(const ln_context *ctx, const char *serializer_name, char **out_bytes,
                           size_t *out_byte_count)
{
    if (out_bytes)
        *out_bytes = NULL;
    if (out_byte_count)
        *out_byte_count = 0;
    if (!ctx || !serializer_name || !out_bytes || !out_byte_count)
        return LN_FAIL(LN_INVALID, "writing a model needs a context, a format and two results");
    if (ctx->state == LN_CONTEXT_EMPTY)
        return LN_FAIL(LN_STATE, "the context holds no model to write");
    ln_serializers_enter();
    ln_status status = write_named(ctx, serializer_name, out_bytes, out_byte_count);
    ln_serializers_leave();
    return status;
}

ln_status ln_context_print(const ln_context *ctx, const char *outfile)
{
    return ln_context_print_with(ctx, outfile, 0);
}

static ln_status print(const ln_context *ctx, const char *outfile, unsigned flags)
{
    ln_serializer *serializer = ln_serializer_for_path(outfile);
    if (ctx && ctx->state != LN_CONTEXT_EMPTY && serializer && serializer->write_file)
        return write_file(serializer, ctx, outfile, flags);
    if (flags)
        return LN_FAIL(LN_UNSUPPORTED, "'%s' is of no format that takes flags", outfile);
    char *bytes;
    size_t byte_count;
    LN_TRY(ln_context_write(ctx, serializer ? serializer->name : "ir", &bytes, &byte_count));
    ln_status status = ln_text_write_file(outfile, bytes, byte_count);
    ln_free(bytes);
    return status;
}

ln_status ln_context_print_with(const ln_context *ctx, const char *outfile, unsigned flags)
{
    if (!outfile)
        return LN_FAIL(LN_INVALID, "the output file is NULL; name a file, or \"-\"");
    ln_serializers_enter();
    ln_status status = print(ctx, outfile, flags);
    ln_serializers_leave();
    return status;
}
