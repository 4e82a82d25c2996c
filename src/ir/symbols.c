// SPDX-License-Identifier: Apache-2.0
// One walk over the dimensions of all inputs, with a table of the first size of each symbol.

#include "ir/symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/hash.h>
#include <lightnet/msg.h>

#include "base/error_state.h"
#include "base/name_hash.h"
#include "ir/context.h"

// A dimension of an input.
typedef struct sized {
    const char *tname, *symbol;
    int axis, size;
} sized;

typedef struct walk {
    const ln_context *ctx;
    ln_hash *firsts; // symbol to sized, which it frees
    sized first, second;
    bool has_clash;
} walk;

// "?" and "-1" are how files write that a size may be any: exporters of text detectors give height
// and width the first.
static bool is_name(const char *symbol)
{
    for (; *symbol; symbol++)
        if ((*symbol >= 'a' && *symbol <= 'z') || (*symbol >= 'A' && *symbol <= 'Z') ||
            *symbol == '_' || (unsigned char)*symbol >= 0x80)
            return true;
    return false;
}

static ln_status walk_dimension(walk *w, const char *tname, int axis, int size)
{
    const char *symbol = ln_context_tensor_symbol(w->ctx, tname, axis);
    if (!symbol || !is_name(symbol) || size < 0)
        return LN_OK;
    const sized now = {tname, symbol, axis, size};
    sized *first = ln_hash_find(w->firsts, symbol);
    if (first) {
        w->has_clash = first->size != size;
        w->first = *first;
        w->second = now;
        return LN_OK;
    }
    first = ln_alloc(sizeof *first);
    if (!first)
        return LN_NO_MEMORY;
    *first = now;
    if (ln_hash_insert(w->firsts, symbol, first) >= 0)
        return LN_OK;
    ln_free(first);
    return LN_NO_MEMORY;
}

static ln_status walk_shape(walk *w, const char *tname, int ndim, const int *dims)
{
    for (int d = 0; d < ndim && !w->has_clash; d++)
        LN_TRY(walk_dimension(w, tname, d, dims[d]));
    return LN_OK;
}

// The shape of an input's value, or the one that it is bound to. Inputs after an operator that has
// refused its own have no entry then.
static ln_status walk_input(walk *w, const ln_tensor_entry *entry)
{
    if (!entry)
        return LN_OK;
    tl_dtype dtype;
    int dims[TL_MAXDIM];
    const tl_tensor *value = entry->held ? ln_object_tensor(entry->held) : NULL;
    if (value)
        return walk_shape(w, entry->name, value->ndim, value->dims);
    int ndim = ln_context_stated_type(w->ctx, entry->name, &dtype, dims);
    return walk_shape(w, entry->name, ndim, dims);
}

// Of `shapes`; NULL: of the inputs as they are. `text` is "" if no symbol has two sizes.
static ln_status print_clash(const ln_context *ctx, size_t count, const ln_input_shape *shapes,
                             char *text, size_t size)
{
    walk w = {.ctx = ctx, .firsts = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, ln_free)};
    ln_status status = w.firsts ? LN_OK : LN_NO_MEMORY;
    count = shapes ? count : ln_context_input_count(ctx);
    for (size_t i = 0; i < count && status == LN_OK && !w.has_clash; i++)
        status = shapes ? walk_shape(&w, shapes[i].tname, shapes[i].ndim, shapes[i].dims)
                        : walk_input(&w, ln_context_input(ctx, i));
    const sized *a = &w.first, *b = &w.second;
    *text = '\0';
    if (w.has_clash && strcmp(a->tname, b->tname) == 0)
        snprintf(text, size, "'%s' is %d in dimension %d of input '%s' and %d in dimension %d",
                 a->symbol, a->size, a->axis, a->tname, b->size, b->axis);
    else if (w.has_clash)
        snprintf(text, size, "'%s' is %d in input '%s' and %d in input '%s'", a->symbol, a->size,
                 a->tname, b->size, b->tname);
    ln_hash_free(w.firsts);
    return status;
}

ln_status ln_symbols_explain(const ln_context *ctx, ln_status status, size_t count,
                             const ln_input_shape *shapes)
{
    char text[3 * LN_MAX_NAME_LEN + 128];
    if (status != LN_INVALID)
        return status;
    ln_error_state reason;
    ln_error_save(&reason);
    bool is_known = print_clash(ctx, count, shapes, text, sizeof text) == LN_OK && *text;
    ln_error_restore(&reason);
    if (!is_known)
        return status;
    return LN_FAIL(status, "%.3000s; %s: give all dimensions with that symbol one size, at once",
                   reason.message, text);
}

ln_status ln_symbols_check(const ln_context *ctx)
{
    char text[3 * LN_MAX_NAME_LEN + 128];
    LN_TRY(print_clash(ctx, 0, NULL, text, sizeof text));
    if (*text && ctx->is_strict)
        return LN_FAIL(LN_INVALID, "symbol %s", text);
    if (*text)
        ln_msg_warn(
            "symbol %s; a model states one size for a symbol, and its operators take both here",
            text);
    return LN_OK;
}
