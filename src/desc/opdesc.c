// SPDX-License-Identifier: Apache-2.0
// Reads description files and resolves inheritance.
//
// An object is merged with its base when it is read, and a base is merged before anything can name
// it, so chains of any length need no recursion; nesting is bounded by the reader of values.

#include "desc/opdesc.h"

#include <string.h>

#include <lightnet/allocator.h>

// ---- Inheritance ----

static ln_status merge(ln_document *arena, const ln_value *base, const ln_value *over,
                       ln_value **out_merged);
static ln_status merge_child(ln_document *arena, ln_value *parent, const char *key,
                             const ln_value *base, const ln_value *over);

// The headers of `base` and then those of `over`; each is a string or an array.
static ln_status merge_headers(ln_document *arena, const ln_value *base, const ln_value *over,
                               ln_value **out_merged)
{
    ln_value *merged = ln_value_new(arena, LN_VALUE_ARRAY, over->place);
    if (!merged)
        return ln_error_status();
    const ln_value *both[] = {base, over};
    for (size_t i = 0; i < 2; i++) {
        bool is_list = both[i]->kind == LN_VALUE_ARRAY;
        for (const ln_value *item = is_list ? both[i]->first : both[i]; item;
             item = is_list ? item->next : NULL)
            LN_TRY(merge_child(arena, merged, NULL, NULL, item));
    }
    *out_merged = merged;
    return LN_OK;
}

// Appends `over` merged with `base` to `parent`; nothing when `over` deletes `base`.
static ln_status merge_child(ln_document *arena, ln_value *parent, const char *key,
                             const ln_value *base, const ln_value *over)
{
    ln_value *merged = NULL;
    if (over && over->kind == LN_VALUE_DELETE) {
        if (base)
            return LN_OK;
        return ln_fail_at(over->place, LN_INVALID, "'-' has no inherited entry to delete here");
    }
    if (key && !over && strcmp(key, "base") == 0) // of one object alone
        return LN_OK;
    // Versions belong together: those of a base say nothing about the operator that inherits.
    bool is_replaced = key && strcmp(key, "since") == 0;
    if (key && base && over && strcmp(key, "include") == 0)
        LN_TRY(merge_headers(arena, base, over, &merged));
    else
        LN_TRY(merge(arena, over && !is_replaced ? base : NULL, over ? over : base, &merged));
    merged->key_place = over ? over->key_place : base->key_place;
    return ln_value_append(arena, parent, key, merged);
}

// The members of `base` with the changes of `over`, then what only `over` has.
static ln_status merge_objects(ln_document *arena, const ln_value *base, const ln_value *over,
                               ln_value *merged)
{
    for (const ln_value *member = base ? base->first : NULL; member; member = member->next)
        LN_TRY(merge_child(arena, merged, member->key, member, ln_value_get(over, member->key)));
    for (const ln_value *member = over->first; member; member = member->next)
        if (!ln_value_get(base, member->key))
            LN_TRY(merge_child(arena, merged, member->key, NULL, member));
    return LN_OK;
}

static ln_status merge_arrays(ln_document *arena, const ln_value *base, const ln_value *over,
                              ln_value *merged)
{
    const ln_value *base_item = base ? base->first : NULL;
    const ln_value *over_item = over->first;
    while (base_item || over_item) {
        LN_TRY(merge_child(arena, merged, NULL, base_item, over_item));
        base_item = base_item ? base_item->next : NULL;
        over_item = over_item ? over_item->next : NULL;
    }
    return LN_OK;
}

static ln_status merge(ln_document *arena, const ln_value *base, const ln_value *over,
                       ln_value **out_merged)
{
    if (over->count > LN_OPDESC_MAX_MEMBERS)
        return ln_fail_at(over->place, LN_LIMIT, "%zu entries, a description has at most %d",
                          over->count, LN_OPDESC_MAX_MEMBERS);
    ln_value *merged = ln_value_new(arena, over->kind, over->place);
    if (!merged)
        return ln_error_status();
    merged->boolean = over->boolean;
    merged->number = over->number;
    merged->text = over->text;
    merged->text_len = over->text_len;
    *out_merged = merged;
    if (base && base->kind != over->kind)
        base = NULL;
    if (over->kind == LN_VALUE_OBJECT)
        return merge_objects(arena, base, over, merged);
    if (over->kind == LN_VALUE_ARRAY)
        return merge_arrays(arena, base, over, merged);
    return LN_OK;
}

// ---- Names that say more ----

// `KEY: "name"` says what a parameter is called and of what type it is.
static const struct {
    const char *key, *ptype, *realtype;
} param_keys[] = {
    {"number", "LN_PARAM_NUMBER", NULL},     {"numbers", "LN_PARAM_ARRAY_NUMBER", NULL},
    {"int", "LN_PARAM_NUMBER", "int"},       {"ints", "LN_PARAM_ARRAY_NUMBER", "int"},
    {"int64", "LN_PARAM_NUMBER", "int64"},   {"int64s", "LN_PARAM_ARRAY_NUMBER", "int64"},
    {"float", "LN_PARAM_NUMBER", "float"},   {"floats", "LN_PARAM_ARRAY_NUMBER", "float"},
    {"double", "LN_PARAM_NUMBER", "double"}, {"doubles", "LN_PARAM_ARRAY_NUMBER", "double"},
    {"string", "LN_PARAM_STRING", NULL},     {"strings", "LN_PARAM_ARRAY_STRING", NULL},
    {"bool", "LN_PARAM_BOOL", NULL},         {"bools", "LN_PARAM_ARRAY_BOOL", NULL},
};

static ln_status spell_out_param(ln_document *document, ln_value *param, ln_value *name, size_t key)
{
    const struct {
        const char *key, *text;
    } parts[] = {{"ptype", param_keys[key].ptype}, {"realtype", param_keys[key].realtype}};
    if (ln_value_get(param, "arg_name"))
        return ln_fail_at(name->key_place, LN_INVALID, "'%s' says the arg_name already", name->key);
    for (size_t i = 0; i < 2 && parts[i].text; i++) {
        if (ln_value_get(param, parts[i].key))
            return ln_fail_at(name->key_place, LN_INVALID, "'%s' says the %s already", name->key,
                              parts[i].key);
        LN_TRY(ln_value_append_literal(
            param, parts[i].key, ln_value_new_string(document, parts[i].text, name->key_place)));
    }
    name->key = "arg_name";
    return LN_OK;
}

// `optional: "name"` and `variadic: "name"` say what a tensor is called and that it is so.
static ln_status spell_out_tensors(ln_document *document, const ln_value *tensors)
{
    for (ln_value *tensor = tensors ? tensors->first : NULL; tensor; tensor = tensor->next)
        for (ln_value *flag = tensor->first; flag; flag = flag->next) {
            if (!flag->key || flag->kind != LN_VALUE_STRING ||
                (strcmp(flag->key, "optional") != 0 && strcmp(flag->key, "variadic") != 0))
                continue;
            if (ln_value_get(tensor, "arg_name"))
                return ln_fail_at(flag->key_place, LN_INVALID, "'%s' says the arg_name already",
                                  flag->key);
            LN_TRY(ln_value_append_literal(tensor, "arg_name",
                                           ln_value_new_string(document, flag->text, flag->place)));
            flag->kind = LN_VALUE_BOOL;
            flag->boolean = true;
        }
    return LN_OK;
}

static ln_status spell_out(ln_document *document, const ln_value *op)
{
    const ln_value *params = ln_value_get(op, "params");
    LN_TRY(spell_out_tensors(document, ln_value_get(op, "tensors_in")));
    LN_TRY(spell_out_tensors(document, ln_value_get(op, "tensors_out")));
    for (ln_value *param = params ? params->first : NULL; param; param = param->next)
        for (ln_value *member = param->first; member; member = member->next)
            for (size_t i = 0; i < sizeof param_keys / sizeof param_keys[0]; i++)
                if (member->key && strcmp(member->key, param_keys[i].key) == 0)
                    LN_TRY(spell_out_param(document, param, member, i));
    return LN_OK;
}

// ---- The set ----

static const ln_opdesc_name *find_name(const ln_opdesc_set *set, const char *name)
{
    for (size_t i = 0; i < set->name_count; i++)
        if (strcmp(set->names[i].name, name) == 0)
            return &set->names[i];
    return NULL;
}

static ln_status add_name(ln_opdesc_set *set, const char *name, const ln_value *object,
                          bool is_base)
{
    const ln_opdesc_name *old = find_name(set, name);
    if (old)
        return ln_fail_at(
            object->place, LN_INVALID, "'%s' is described a second time, the first is at %s:%d:%d",
            name, old->object->place.file, old->object->place.line, old->object->place.column);
    if (set->name_count == LN_OPDESC_MAX_OPS)
        return ln_fail_at(object->place, LN_LIMIT, "more than %d descriptions in one run",
                          LN_OPDESC_MAX_OPS);
    ln_opdesc_name *names = ln_realloc(set->names, (set->name_count + 1) * sizeof *names);
    if (!names)
        return LN_NO_MEMORY;
    set->names = names;
    set->names[set->name_count++] = (ln_opdesc_name){name, object, is_base};
    return LN_OK;
}

static ln_status check_optype_is_new(const ln_opdesc_set *set, const ln_opdesc *op)
{
    for (const ln_opdesc *old = set->first; old; old = old->next)
        if (strcmp(old->optype, op->optype) == 0)
            return ln_fail_at(op->source->place, LN_INVALID,
                              "optype '%s' is described a second time, the first is at %s:%d:%d",
                              op->optype, old->source->place.file, old->source->place.line,
                              old->source->place.column);
    return LN_OK;
}

static ln_status add_op(ln_opdesc_set *set, const ln_value *object, const ln_value *file_include)
{
    ln_opdesc *op;
    LN_TRY(ln_opdesc_from_value(set->arena, object, set->mtype, &op));
    LN_TRY(check_optype_is_new(set, op));
    op->file_include = file_include;
    if (set->last)
        set->last->next = op;
    else
        set->first = op;
    set->last = op;
    return LN_OK;
}

// ---- What a name says ----

static bool is_word(const ln_value *object, const char *key, const char *word)
{
    const ln_value *value = ln_value_get(object, key);
    return value && value->kind == LN_VALUE_STRING && strcmp(value->text, word) == 0;
}

// Whether it computes; what is only checked does not.
static bool runs(const ln_value *object)
{
    static const char *const keys[] = {"run", "static_run", "compute"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const ln_value *value = ln_value_get(object, keys[i]);
        if (value && value->kind != LN_VALUE_DELETE)
            return true;
    }
    return false;
}

// Of NAME_ARCH, the operator NAME of arch `none`, the longest that is described; *out_arch is then
// ARCH.
static const ln_opdesc_name *find_abstract(const ln_opdesc_set *set, const char *name,
                                           const char **out_arch)
{
    const ln_opdesc_name *found = NULL;
    size_t found_len = 0;
    for (size_t i = 0; i < set->name_count; i++) {
        size_t len = strlen(set->names[i].name);
        if (len > found_len && strncmp(name, set->names[i].name, len) == 0 && name[len] == '_' &&
            name[len + 1] && is_word(set->names[i].object, "arch", "none")) {
            found = &set->names[i];
            found_len = len;
        }
    }
    *out_arch = found ? name + found_len + 1 : NULL;
    return found;
}

// Gives `merged` the member `key`, a word, in the place of one that it has.
static ln_status set_word(ln_opdesc_set *set, ln_value *merged, const char *key, const char *word)
{
    for (ln_value *member = merged->first; member; member = member->next)
        if (strcmp(member->key, key) == 0) {
            member->kind = LN_VALUE_STRING;
            member->text = word;
            member->text_len = strlen(word);
            return LN_OK;
        }
    return ln_value_append_literal(merged, key,
                                   ln_value_new_string(set->arena, word, merged->place));
}

// Whether `name` ends in `_` and the arch that `object` says.
static bool ends_in_arch(const char *name, const ln_value *object)
{
    const ln_value *arch = ln_value_get(object, "arch");
    size_t len = strlen(name);
    return arch && arch->kind == LN_VALUE_STRING && len > arch->text_len &&
           name[len - arch->text_len - 1] == '_' &&
           strcmp(name + len - arch->text_len, arch->text) == 0;
}

// NAME_ARCH is NAME on ARCH, and what does not run is of arch `none`; unless the object says its
// arch, or what it inherits does: `x_y_cpu : z_cpu` is of arch `cpu` even where there is an `x`.
static ln_status derive_arch(ln_opdesc_set *set, const ln_value *object, ln_value *merged)
{
    const char *arch;
    bool is_free =
        !object->text || (!ln_value_get(object, "optype") && !ends_in_arch(object->key, merged));
    if (ln_value_get(object, "arch"))
        return LN_OK;
    if (runs(merged) && is_free && find_abstract(set, object->key, &arch))
        return set_word(set, merged, "arch", arch);
    if (ln_value_get(merged, "arch"))
        return LN_OK;
    if (runs(merged))
        return ln_fail_at(object->place, LN_INVALID,
                          "an operator that runs needs 'arch', or a name NAME_ARCH of which NAME "
                          "is an operator of arch 'none' described before it");
    return set_word(set, merged, "arch", "none");
}

// The optype is the name of the object, but in descriptions from before it was: what inherits from
// a file of bases may mean the optype there.
static ln_status derive_optype(ln_opdesc_set *set, const ln_value *object,
                               const ln_opdesc_name *base, bool is_base, ln_value *merged)
{
    const char *arch;
    if (ln_value_get(object, "optype"))
        return LN_OK;
    bool is_inherited = base && base->is_base && !is_base && ln_value_get(base->object, "optype");
    if (is_inherited &&
        !(find_abstract(set, object->key, &arch) && ends_in_arch(object->key, merged)))
        return LN_OK;
    return set_word(set, merged, "optype", object->key);
}

// NAME { ... } NAME : BASE { ... }
static ln_status read_named(ln_opdesc_set *set, const ln_value *root, bool is_base)
{
    for (const ln_value *object = root->first; object; object = object->next) {
        const ln_opdesc_name *base = NULL;
        const char *arch;
        if (object->text) {
            base = find_name(set, object->text);
            if (!base)
                return ln_fail_at(object->key_place, LN_NOT_FOUND,
                                  "the base '%s' of '%s' is not described before it; add its file "
                                  "with --base",
                                  object->text, object->key);
        } else if (runs(object) && !ln_value_get(object, "arch")) {
            base = find_abstract(set, object->key, &arch);
        }
        ln_value *merged;
        LN_TRY(spell_out(set->documents[set->document_count - 1], object));
        LN_TRY(merge(set->arena, base ? base->object : NULL, object, &merged));
        merged->key = object->key;
        if (!ln_opdesc_is_only_base(merged)) {
            LN_TRY(derive_arch(set, object, merged));
            LN_TRY(derive_optype(set, object, base, is_base, merged));
        }
        LN_TRY(add_name(set, object->key, merged, is_base));
        if (!is_base)
            LN_TRY(add_op(set, merged, NULL));
    }
    return LN_OK;
}

// {"ops": [ ... ], "include": [ ... ]}
static ln_status read_ops(ln_opdesc_set *set, const ln_value *root, bool is_base)
{
    const ln_value *ops = ln_value_get(root, "ops");
    if (!ops || ops->kind != LN_VALUE_ARRAY)
        return ln_fail_at(ops ? ops->place : root->place, LN_SYNTAX,
                          "expected {\"ops\": [...]} or NAME {...}");
    for (const ln_value *member = root->first; member; member = member->next)
        if (member != ops && strcmp(member->key, "include") != 0)
            return ln_fail_at(member->key_place, LN_INVALID,
                              "unknown key '%s' beside \"ops\"; known keys: ops, include",
                              member->key);
    for (const ln_value *object = ops->first; object; object = object->next) {
        ln_value *merged;
        LN_TRY(spell_out(set->documents[set->document_count - 1], object));
        LN_TRY(merge(set->arena, NULL, object, &merged));
        const ln_value *optype = ln_value_get(merged, "optype");
        if (optype && optype->kind == LN_VALUE_STRING)
            LN_TRY(add_name(set, optype->text, merged, is_base));
        if (!is_base)
            LN_TRY(add_op(set, merged, ln_value_get(root, "include")));
    }
    return LN_OK;
}

static ln_status keep_document(ln_opdesc_set *set, ln_document *document)
{
    ln_document **documents =
        ln_realloc(set->documents, (set->document_count + 1) * sizeof *documents);
    if (!documents)
        return LN_NO_MEMORY;
    set->documents = documents;
    set->documents[set->document_count++] = document;
    return LN_OK;
}

ln_status ln_opdesc_read_text(ln_opdesc_set *set, const char *text, size_t len, const char *file,
                              bool is_base)
{
    if (len > LN_OPDESC_MAX_BYTES)
        return LN_FAIL(LN_LIMIT, "%s: %zu bytes of description, at most %d are read",
                       file ? file : "<text>", len, LN_OPDESC_MAX_BYTES);
    if (!set->arena)
        LN_TRY(ln_document_create("merged", &set->arena));
    ln_document *document;
    LN_TRY(ln_document_parse(text, len, file, LN_DIALECT_OP, &document));
    ln_status status = keep_document(set, document);
    if (status != LN_OK) {
        ln_document_destroy(document);
        return status;
    }
    const ln_value *root = ln_document_root(document);
    if (root->kind != LN_VALUE_OBJECT)
        return ln_fail_at(root->place, LN_SYNTAX,
                          "expected {\"ops\": [...]} or NAME {...}, found %s",
                          ln_value_kind_text(root->kind));
    return root->text ? read_named(set, root, is_base) : read_ops(set, root, is_base);
}

ln_status ln_opdesc_read_file(ln_opdesc_set *set, const char *path, bool is_base)
{
    char *text;
    size_t len;
    LN_TRY(ln_text_read_file(path, LN_OPDESC_MAX_BYTES, &text, &len));
    ln_status status = ln_opdesc_read_text(set, text, len, path, is_base);
    ln_free(text);
    return status;
}

void ln_opdesc_set_deinit(ln_opdesc_set *set)
{
    for (size_t i = 0; i < set->document_count; i++)
        ln_document_destroy(set->documents[i]);
    ln_free(set->documents);
    ln_free(set->names);
    ln_document_destroy(set->arena);
    *set = (ln_opdesc_set){0};
}

bool ln_opdesc_is_only_base(const ln_value *object)
{
    const ln_value *autogen = ln_value_get(object, "autogen"), *base = ln_value_get(object, "base");
    return (autogen && !autogen->boolean && autogen->number == 0) ||
           (base && (base->boolean || base->number != 0));
}

bool ln_opdesc_is_generated(const ln_opdesc *op)
{
    return op->autogen != LN_DESC_FALSE && op->is_base != LN_DESC_TRUE;
}

const char *ln_opdesc_check_text(const ln_value *check)
{
    if (check->kind == LN_VALUE_OBJECT)
        check = ln_value_get(check, "check");
    return check ? check->text : NULL;
}
