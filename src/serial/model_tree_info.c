// SPDX-License-Identifier: Apache-2.0
// Metadata in a tree: an object of texts, of which those that are empty are left out, and
// properties in their order. The version is a text, as a double does not hold all of them.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/model_info.h>

#include "base/value.h"
#include "serial/model_tree.h"

static const ln_place nowhere = {.file = ""};

// ---- Making ----

static ln_status add_text(ln_document *doc, ln_value *parent, const char *key, const char *text)
{
    if ((key && !*text) || !ln_value_is_utf8(text))
        return LN_OK;
    return ln_value_append(doc, parent, key, ln_value_new_string(doc, text, nowhere));
}

static ln_status add_array(ln_document *doc, ln_value *parent, const char *key,
                           ln_value **out_array)
{
    *out_array = ln_value_new(doc, LN_VALUE_ARRAY, nowhere);
    return ln_value_append(doc, parent, key, *out_array);
}

// Each is an array of key and value, so that an empty key, or one that comes twice, stays.
static ln_status add_properties(ln_document *doc, ln_value *parent, const ln_model_info *info)
{
    ln_value *rows, *row;
    if (info->property_count == 0)
        return LN_OK;
    LN_TRY(add_array(doc, parent, "properties", &rows));
    for (size_t i = 0; i < info->property_count; i++) {
        const ln_model_property *property = &info->properties[i];
        if (!ln_value_is_utf8(property->key) || !ln_value_is_utf8(property->value))
            continue;
        LN_TRY(add_array(doc, rows, NULL, &row));
        LN_TRY(add_text(doc, row, NULL, property->key));
        LN_TRY(add_text(doc, row, NULL, property->value));
    }
    return LN_OK;
}

// Inputs with a value of their own are constants once the model is compiled.
static ln_status add_defaults(const ln_context *ctx, ln_document *doc, ln_value *parent,
                              const ln_model_info *info)
{
    ln_value *names;
    if (info->default_count == 0 || ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED)
        return LN_OK;
    LN_TRY(add_array(doc, parent, "defaults", &names));
    for (size_t i = 0; i < info->default_count; i++)
        LN_TRY(add_text(doc, names, NULL, info->defaults[i]));
    return LN_OK;
}

static bool is_empty(const ln_model_info *info)
{
    return !*info->producer && !*info->producer_version && !*info->domain && !*info->doc &&
           !*info->graph && !*info->graph_doc && info->version == 0 && info->property_count == 0 &&
           info->default_count == 0;
}

ln_status ln_model_tree_make_info(const ln_context *ctx, ln_document *document, ln_value *root)
{
    const ln_model_info *info = ln_context_info(ctx);
    char version[32] = "";
    if (is_empty(info))
        return LN_OK;
    ln_value *value = ln_value_new(document, LN_VALUE_OBJECT, nowhere);
    LN_TRY(ln_value_append(document, root, "info", value));
    if (info->version != 0)
        snprintf(version, sizeof version, "%" PRId64, info->version);
    LN_TRY(add_text(document, value, "producer", info->producer));
    LN_TRY(add_text(document, value, "producer_version", info->producer_version));
    LN_TRY(add_text(document, value, "domain", info->domain));
    LN_TRY(add_text(document, value, "version", version));
    LN_TRY(add_text(document, value, "doc", info->doc));
    LN_TRY(add_text(document, value, "graph", info->graph));
    LN_TRY(add_text(document, value, "graph_doc", info->graph_doc));
    LN_TRY(add_properties(document, value, info));
    return add_defaults(ctx, document, value, info);
}

// ---- Reading ----

static ln_status need(const ln_value *value, ln_value_kind kind, const char *what)
{
    if (value->kind == kind)
        return LN_OK;
    return ln_fail_at(value->place, LN_SYNTAX, "%s of \"info\" must be %s, found %s", what,
                      kind == LN_VALUE_STRING ? "a string" : "an array",
                      ln_value_kind_text(value->kind));
}

static ln_status read_text(const ln_value *object, const char *key, const char **out_text)
{
    const ln_value *value = ln_value_get(object, key);
    if (!value)
        return LN_OK;
    LN_TRY(need(value, LN_VALUE_STRING, key));
    *out_text = value->text;
    return LN_OK;
}

static ln_status read_version(const ln_value *object, int64_t *out_version)
{
    const char *text = NULL;
    char *end;
    LN_TRY(read_text(object, "version", &text));
    if (!text)
        return LN_OK;
    errno = 0;
    long long version = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return ln_fail_at(ln_value_get(object, "version")->place, LN_SYNTAX,
                          "version of \"info\" must be an integer of 64 bits, found '%s'", text);
    *out_version = version;
    return LN_OK;
}

static ln_status read_property(const ln_value *row, ln_model_property *out_property)
{
    LN_TRY(need(row, LN_VALUE_ARRAY, "an element of properties"));
    if (row->count != 2)
        return ln_fail_at(row->place, LN_SYNTAX,
                          "a property of \"info\" has a key and a value, found %zu elements",
                          row->count);
    LN_TRY(need(row->first, LN_VALUE_STRING, "a key of properties"));
    LN_TRY(need(row->last, LN_VALUE_STRING, "a value of properties"));
    *out_property = (ln_model_property){row->first->text, row->last->text};
    return LN_OK;
}

static ln_status read_lists(const ln_value *properties, const ln_value *names,
                            ln_model_property *out_properties, const char **out_names)
{
    for (const ln_value *row = properties ? properties->first : NULL; row; row = row->next)
        LN_TRY(read_property(row, out_properties++));
    for (const ln_value *name = names ? names->first : NULL; name; name = name->next) {
        LN_TRY(need(name, LN_VALUE_STRING, "an element of defaults"));
        *out_names++ = name->text;
    }
    return LN_OK;
}

ln_status ln_model_tree_read_info(ln_context *ctx, const ln_value *root)
{
    const ln_value *object = ln_value_get(root, "info");
    if (!object)
        return LN_OK;
    if (object->kind != LN_VALUE_OBJECT)
        return ln_fail_at(object->place, LN_SYNTAX, "\"info\" must be an object, found %s",
                          ln_value_kind_text(object->kind));
    ln_model_info info = {0};
    LN_TRY(read_text(object, "producer", &info.producer));
    LN_TRY(read_text(object, "producer_version", &info.producer_version));
    LN_TRY(read_text(object, "domain", &info.domain));
    LN_TRY(read_text(object, "doc", &info.doc));
    LN_TRY(read_text(object, "graph", &info.graph));
    LN_TRY(read_text(object, "graph_doc", &info.graph_doc));
    LN_TRY(read_version(object, &info.version));
    const ln_value *properties = ln_value_get(object, "properties");
    const ln_value *names = ln_value_get(object, "defaults");
    if (properties)
        LN_TRY(need(properties, LN_VALUE_ARRAY, "properties"));
    if (names)
        LN_TRY(need(names, LN_VALUE_ARRAY, "defaults"));
    info.property_count = properties ? properties->count : 0;
    info.default_count = names ? names->count : 0;
    ln_model_property *rows = ln_alloc_array(info.property_count + 1, sizeof *rows);
    const char **texts = ln_alloc_array(info.default_count + 1, sizeof *texts);
    info.properties = rows;
    info.defaults = texts;
    ln_status status = rows && texts ? read_lists(properties, names, rows, texts) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_set_info(ctx, &info);
    ln_free(rows);
    ln_free(texts);
    return status;
}
