// SPDX-License-Identifier: Apache-2.0
// The model: operator sets of which every operator has the form it is meant in, and its graphs,
// the inner ones first.

#include "serial/onnx/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/model_info.h>
#include <lightnet/param.h>
#include <lightnet/util.h>
#include <lightnet/version.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "serial/onnx/builder.h"

// What most readers know.
#define COMMON_OPSET 21

// A message has at most so many bytes.
#define MAX_MESSAGE ((size_t)INT32_MAX)

// ---- Operator sets ----

typedef struct range {
    int from, to;
    const char *from_op, *to_op; // who says so
} range;

static ln_status narrow(range *r, int from, int to, const char *op)
{
    if (from > r->from) {
        r->from = from;
        r->from_op = op;
    }
    if (to < r->to) {
        r->to = to;
        r->to_op = op;
    }
    if (r->from <= r->to)
        return LN_OK;
    return LN_FAIL(LN_UNSUPPORTED,
                   "operator '%.100s' is of opset %d or newer, '%.100s' of %d or older: no opset "
                   "has both",
                   r->from_op ? r->from_op : "?", r->from, r->to_op ? r->to_op : "?", r->to);
}

static ln_status narrow_for(const ln_op *op, bool is_lenient, range *ranges)
{
    int from, to;
    if (!ln_onnx_is_onnx_op(op))
        return LN_OK;
    LN_TRY(ln_onnx_versions(op, is_lenient, &from, &to));
    return narrow(&ranges[ln_onnx_domain_of(op->op_arg->info)], from, to, op->op_arg->name);
}

// The newest version that operators of a domain have.
static int newest_of(ln_onnx_domain domain)
{
#define D(constant, name, prefix, newest) newest,
    static const int newest[] = {
#include "desc/onnx_domains.inc"
    };
#undef D
    return newest[domain];
}

// Of the versions in question the newest, but for ai.onnx no newer than most readers know.
static int choose(const range *r, ln_onnx_domain domain)
{
    int limit = domain == LN_DOMAIN_ONNX ? COMMON_OPSET : newest_of(domain);
    int wanted = r->from > limit ? r->from : limit;
    return wanted < r->to ? wanted : r->to;
}

static ln_status find_ranges(const ln_onnx_writer *w, bool is_lenient, range *ranges)
{
    for (int d = 0; d < LN_DOMAIN_COUNT; d++)
        ranges[d] = (range){.from = 0, .to = INT_MAX};
    for (size_t i = 0; i < w->graph_count; i++) {
        for (const ln_list *l = w->graphs[i].ctx->ops; l; l = l->next)
            LN_TRY(narrow_for(l->data, is_lenient, ranges));
    }
    return LN_OK;
}

// The very forms that were read, if one operator set has them all; else newer ones that mean the
// same.
static ln_status choose_opsets(ln_onnx_writer *w)
{
    range ranges[LN_DOMAIN_COUNT];
    if (find_ranges(w, false, ranges) != LN_OK)
        LN_TRY(find_ranges(w, true, ranges));
    for (int d = 0; d < LN_DOMAIN_COUNT; d++) {
        if (ranges[d].from > 0 || d == LN_DOMAIN_ONNX)
            w->opsets[d] = choose(&ranges[d], (ln_onnx_domain)d);
    }
    return LN_OK;
}

// The first version of the format that has such an operator set.
static int ir_version_of(int opset)
{
    static const struct {
        int opset, ir_version;
    } rows[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {0, 7}};
    size_t i = 0;
    while (opset < rows[i].opset)
        i++;
    return rows[i].ir_version;
}

// ---- Graphs ----

static ln_status list_graphs(ln_onnx_writer *w)
{
    size_t count = w->root->graphs ? (size_t)ln_hash_size(w->root->graphs) : 0;
    w->graphs = ln_alloc_array(count + 1, sizeof *w->graphs);
    w->by_name = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!w->graphs || !w->by_name)
        return LN_NO_MEMORY;
    size_t cursor = 0;
    const void *name;
    void *graph;
    while (count && ln_hash_next(w->root->graphs, &cursor, &name, &graph)) {
        ln_onnx_graph_out *out = &w->graphs[w->graph_count++];
        *out = (ln_onnx_graph_out){.name = name, .ctx = graph};
        if (ln_hash_insert(w->by_name, name, out) < 0)
            return ln_error_status();
    }
    w->graphs[w->graph_count++] = (ln_onnx_graph_out){.ctx = w->root};
    return LN_OK;
}

// One that is nowhere counts as done; it is told when it is written.
static int is_done(const ln_onnx_writer *w, const char *name)
{
    const ln_onnx_graph_out *graph = ln_hash_find(w->by_name, name);
    return !graph || graph->is_done;
}

// All graphs that its operators run are written.
static int is_ready(const ln_onnx_writer *w, const ln_onnx_graph_out *graph)
{
    for (const ln_list *l = graph->ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        for (const ln_list *k = op->op_arg->params; k; k = k->next) {
            const char *body = ln_onnx_graph_param(op, k->data);
            if (body && !is_done(w, body))
                return 0;
        }
    }
    return 1;
}

// Graphs that are used several times are there several times: small models must not become huge.
static ln_status check_text(const ln_onnx_writer *w, const ln_onnx_graph_out *graph)
{
    size_t limit = w->root->limits.source_byte_count;
    if (graph->message.text.len > limit)
        return LN_FAIL(LN_LIMIT, "graph '%s' is of more than %zu bytes in ONNX",
                       graph->name ? graph->name : "model", limit);
    return LN_OK;
}

static ln_status write_graphs(ln_onnx_writer *w)
{
    size_t left = w->graph_count;
    for (int depth = 0; left > 0; depth++) {
        size_t before = left;
        if (depth == LN_ONNX_MAX_FRAMES)
            return LN_FAIL(LN_LIMIT, "more than %d graphs inside each other", LN_ONNX_MAX_FRAMES);
        for (size_t i = 0; i < w->graph_count; i++) {
            ln_onnx_graph_out *graph = &w->graphs[i];
            if (graph->is_done || !is_ready(w, graph))
                continue;
            LN_TRY(ln_onnx_write_graph(w, graph));
            LN_TRY(check_text(w, graph));
            left--;
        }
        if (left == before)
            return LN_FAIL(LN_INVALID, "the graphs of the model run each other in a circle");
    }
    return LN_OK;
}

// ---- The model ----

static void put_opsets(const ln_onnx_writer *w, ln_onnx_out *model)
{
    ln_onnx_out opset = {0};
    for (int d = 0; d < LN_DOMAIN_COUNT; d++) {
        if (!w->opsets[d])
            continue;
        ln_onnx_out_reset(&opset);
        ln_onnx_put_text(&opset, LN_ONNX_opset_domain, ln_onnx_domain_name((ln_onnx_domain)d));
        ln_onnx_put_int(&opset, LN_ONNX_opset_version, w->opsets[d]);
        ln_onnx_put_message(model, LN_ONNX_model_opset_import, &opset);
    }
    ln_onnx_out_deinit(&opset);
}

static void put_stated(ln_onnx_out *out, uint32_t field, const char *text)
{
    if (*text)
        ln_onnx_put_text(out, field, text);
}

// The metadata that the model was read with; who wrote this file is LightNet.
static void put_info(const ln_model_info *info, ln_onnx_out *model)
{
    put_stated(model, LN_ONNX_model_domain, info->domain);
    if (info->version != 0)
        ln_onnx_put_int(model, LN_ONNX_model_model_version, info->version);
    put_stated(model, LN_ONNX_model_doc_string, info->doc);
    ln_onnx_out entry = {0};
    for (size_t i = 0; i < info->property_count; i++) {
        ln_onnx_out_reset(&entry);
        ln_onnx_put_text(&entry, LN_ONNX_entry_key, info->properties[i].key);
        ln_onnx_put_text(&entry, LN_ONNX_entry_value, info->properties[i].value);
        ln_onnx_put_message(model, LN_ONNX_model_metadata_props, &entry);
    }
    if (entry.text.status != LN_OK && model->text.status == LN_OK)
        model->text.status = entry.text.status;
    ln_onnx_out_deinit(&entry);
}

static ln_status write_model(ln_onnx_writer *w, ln_onnx_out *model)
{
    LN_TRY(list_graphs(w));
    LN_TRY(choose_opsets(w));
    LN_TRY(write_graphs(w));
    ln_onnx_put_int(model, LN_ONNX_model_ir_version, ir_version_of(w->opsets[LN_DOMAIN_ONNX]));
    ln_onnx_put_text(model, LN_ONNX_model_producer_name, "LightNet");
    ln_onnx_put_text(model, LN_ONNX_model_producer_version, ln_version());
    put_info(ln_context_info(w->root), model);
    put_opsets(w, model);
    ln_onnx_put_message(model, LN_ONNX_model_graph, &w->graphs[w->graph_count - 1].message);
    return model->text.status;
}

// `location` NULL: all is in the model. The caller releases both messages, also after a failure.
static ln_status make(const ln_context *ctx, const char *location, ln_onnx_out *model,
                      ln_onnx_out *external)
{
    ln_onnx_writer *w = ln_alloc(sizeof *w);
    if (!w)
        return LN_NO_MEMORY;
    w->root = ctx;
    w->location = location;
    w->external = location ? external : NULL;
    ln_status status = write_model(w, model);
    for (size_t i = 0; i < w->graph_count; i++)
        ln_onnx_out_deinit(&w->graphs[i].message);
    ln_free(w->graphs);
    ln_hash_free(w->by_name);
    ln_onnx_out_deinit(&w->node);
    ln_onnx_out_deinit(&w->attribute);
    ln_onnx_out_deinit(&w->tensor);
    ln_onnx_out_deinit(&w->type);
    ln_free(w);
    return status != LN_OK ? status : external->text.status;
}

ln_status ln_onnx_write_mem(const ln_context *ctx, char **out_bytes, size_t *out_byte_count)
{
    ln_onnx_out model = {0}, external = {0};
    ln_status status = make(ctx, NULL, &model, &external);
    if (status == LN_OK && ln_onnx_out_len(&model) > MAX_MESSAGE)
        status = LN_FAIL(LN_LIMIT,
                         "a model of %zu bytes; with more than 2 GiB, its constants have to go to "
                         "a file beside it",
                         ln_onnx_out_len(&model));
    if (status == LN_OK)
        status = ln_onnx_out_to_memory(&model, out_bytes, out_byte_count);
    ln_onnx_out_deinit(&model);
    return status;
}

// ---- Files ----

// To what is no regular file, and is not to be replaced.
static ln_status save_at_once(const ln_onnx_out *out, const char *path)
{
    char *bytes;
    size_t byte_count;
    LN_TRY(ln_onnx_out_to_memory(out, &bytes, &byte_count));
    ln_status status = ln_text_write_file(path, bytes, byte_count);
    ln_free(bytes);
    return status;
}

// Writes a file that appears, or is replaced, only when it is complete.
static ln_status save(const ln_onnx_out *out, const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode)))
        return save_at_once(out, path);
    char *temporary = ln_strdup_printf("%s.%ld.tmp", path, (long)getpid());
    if (!temporary)
        return LN_NO_MEMORY;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *fp = fd < 0 ? NULL : fdopen(fd, "wb");
    ln_status status = fp ? ln_onnx_out_to_file(out, fp, path)
                          : LN_FAIL(LN_IO, "cannot create '%s': %s", path, strerror(errno));
    if (fp && fclose(fp) != 0 && status == LN_OK)
        status = LN_FAIL(LN_IO, "cannot write '%s': %s", path, strerror(errno));
    if (status == LN_OK && rename(temporary, path) != 0)
        status = LN_FAIL(LN_IO, "cannot write '%s': %s", path, strerror(errno));
    if (status != LN_OK && fd >= 0)
        unlink(temporary);
    ln_free(temporary);
    return status;
}

static ln_status save_both(const ln_context *ctx, const char *path)
{
    if (strcmp(path, "-") == 0)
        return LN_FAIL(LN_INVALID, "constants beside a model need a file to be beside");
    char *data_path = ln_strdup_printf("%s.data", path);
    if (!data_path)
        return LN_NO_MEMORY;
    const char *slash = strrchr(data_path, '/');
    ln_onnx_out model = {0}, external = {0};
    ln_status status = make(ctx, slash ? slash + 1 : data_path, &model, &external);
    if (status == LN_OK)
        status = save(&external, data_path);
    if (status == LN_OK)
        status = save(&model, path);
    ln_onnx_out_deinit(&model);
    ln_onnx_out_deinit(&external);
    ln_free(data_path);
    return status;
}

ln_status ln_onnx_write_file(const ln_context *ctx, const char *path, int is_external)
{
    if (is_external)
        return save_both(ctx, path);
    ln_onnx_out model = {0}, external = {0};
    ln_status status = make(ctx, NULL, &model, &external);
    int is_too_large = status == LN_OK && ln_onnx_out_len(&model) > MAX_MESSAGE;
    if (status == LN_OK && !is_too_large)
        status = save(&model, path);
    ln_onnx_out_deinit(&model);
    return is_too_large ? save_both(ctx, path) : status;
}
