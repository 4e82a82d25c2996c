// SPDX-License-Identifier: Apache-2.0
// The metadata of a model: the structure, its properties and their texts in one block.
//
//     | ln_held_info | ln_model_property ... | names of defaults ... | texts, each with its 0 ... |

#include "ir/model_info.h"

#include <stdatomic.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "ir/context.h"

struct ln_held_info {
    atomic_size_t holder_count;
    ln_model_info info;
};

static const ln_model_info no_info = {
    .producer = "", .producer_version = "", .domain = "", .doc = "", .graph = "", .graph_doc = ""};

// ---- Copying ----

#define TEXT_COUNT 6

static void list_texts(const ln_model_info *info, const char *texts[TEXT_COUNT])
{
    const char *all[TEXT_COUNT] = {info->producer, info->producer_version, info->domain, info->doc,
                                   info->graph,    info->graph_doc};
    memcpy(texts, all, sizeof all);
}

static bool add_text(size_t *size, const char *text)
{
    return ln_size_add(*size, text ? strlen(text) : 0, size) && ln_size_add(*size, 1, size);
}

static ln_status find_size(const ln_model_info *info, size_t *out_size)
{
    const char *texts[TEXT_COUNT];
    list_texts(info, texts);
    size_t size;
    bool fits = ln_size_mul(info->property_count, sizeof *info->properties, &size) &&
                ln_size_add(size, sizeof(ln_held_info), &size);
    for (size_t i = 0; i < TEXT_COUNT && fits; i++)
        fits = add_text(&size, texts[i]);
    for (size_t i = 0; i < info->property_count && fits; i++) {
        if (!info->properties[i].key)
            return LN_FAIL(LN_INVALID, "property %zu of the model has no key", i);
        fits =
            add_text(&size, info->properties[i].key) && add_text(&size, info->properties[i].value);
    }
    size_t pointers;
    fits = fits && ln_size_mul(info->default_count, sizeof *info->defaults, &pointers) &&
           ln_size_add(size, pointers, &size);
    for (size_t i = 0; i < info->default_count && fits; i++)
        fits = add_text(&size, info->defaults[i]);
    *out_size = size;
    return fits ? LN_OK : LN_FAIL(LN_LIMIT, "the metadata of the model are too long");
}

// A copy at `*at`, which moves on.
static const char *put_text(char **at, const char *text)
{
    char *copy = *at;
    size_t len = text ? strlen(text) : 0;
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    *at += len + 1;
    return copy;
}

ln_status ln_held_info_create(const ln_model_info *info, ln_held_info **out_held)
{
    *out_held = NULL;
    size_t size;
    LN_TRY(find_size(info, &size));
    ln_held_info *held = ln_alloc(size);
    if (!held)
        return LN_NO_MEMORY;
    atomic_init(&held->holder_count, 1);
    ln_model_property *properties = (ln_model_property *)(held + 1);
    const char **defaults = (const char **)(properties + info->property_count);
    char *at = (char *)(defaults + info->default_count);
    held->info = (ln_model_info){.producer = put_text(&at, info->producer),
                                 .producer_version = put_text(&at, info->producer_version),
                                 .domain = put_text(&at, info->domain),
                                 .doc = put_text(&at, info->doc),
                                 .graph = put_text(&at, info->graph),
                                 .graph_doc = put_text(&at, info->graph_doc),
                                 .version = info->version,
                                 .properties = properties,
                                 .property_count = info->property_count,
                                 .defaults = defaults,
                                 .default_count = info->default_count};
    for (size_t i = 0; i < info->default_count; i++)
        defaults[i] = put_text(&at, info->defaults[i]);
    for (size_t i = 0; i < info->property_count; i++) {
        properties[i].key = put_text(&at, info->properties[i].key);
        properties[i].value = put_text(&at, info->properties[i].value);
    }
    *out_held = held;
    return LN_OK;
}

// ---- Holding ----

ln_held_info *ln_held_info_retain(ln_held_info *held)
{
    if (held)
        atomic_fetch_add_explicit(&held->holder_count, 1, memory_order_relaxed);
    return held;
}

void ln_held_info_release(ln_held_info *held)
{
    if (held && atomic_fetch_sub_explicit(&held->holder_count, 1, memory_order_acq_rel) == 1)
        ln_free(held);
}

const ln_model_info *ln_held_info_of(const ln_held_info *held)
{
    return held ? &held->info : &no_info;
}

// ---- Of contexts ----

const ln_model_info *ln_context_info(const ln_context *ctx)
{
    return ln_held_info_of(ctx ? ctx->info : NULL);
}

const char *ln_model_info_find(const ln_model_info *info, const char *key)
{
    for (size_t i = 0; info && key && i < info->property_count; i++)
        if (strcmp(info->properties[i].key, key) == 0)
            return info->properties[i].value;
    return NULL;
}

ln_status ln_context_set_info(ln_context *ctx, const ln_model_info *info)
{
    if (!ctx || !info)
        return LN_FAIL(LN_INVALID, "no context, or no metadata");
    ln_held_info *held;
    LN_TRY(ln_held_info_create(info, &held));
    ln_held_info_release(ctx->info);
    ctx->info = held;
    return LN_OK;
}
