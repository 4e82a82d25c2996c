// SPDX-License-Identifier: Apache-2.0
// How a compiled model with dynamic inputs is compiled when it is read: an array of the names of
// options that are on.

#include <stddef.h>

#include <lightnet/util.h>

#include "base/value.h"
#include "serial/model_tree.h"

static const struct option {
    const char *name;
    size_t offset; // of an int
} options_known[] = {
#define OPTION(name) {#name, offsetof(ln_file_options, name)},
    LN_FILE_OPTIONS(OPTION)
#undef OPTION
};

#define OPTION_COUNT (sizeof options_known / sizeof *options_known)

static int *place_of(ln_file_options *options, size_t i)
{
    return (int *)(void *)((char *)options + options_known[i].offset);
}

ln_status ln_model_tree_make_dynamic(const ln_file_options *options, ln_document *document,
                                     ln_value *root)
{
    const ln_place nowhere = {.file = ""};
    ln_file_options known = *options;
    ln_value *names = ln_value_new(document, LN_VALUE_ARRAY, nowhere);
    LN_TRY(ln_value_append(document, root, "dynamic", names));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (*place_of(&known, i))
            LN_TRY(ln_value_append(document, names, NULL,
                                   ln_value_new_string(document, options_known[i].name, nowhere)));
    return LN_OK;
}

ln_status ln_model_tree_read_dynamic(const ln_value *dynamic, ln_file_options *out_options)
{
    *out_options = (ln_file_options){0};
    if (dynamic->kind != LN_VALUE_ARRAY)
        return ln_fail_at(dynamic->place, LN_SYNTAX, "\"dynamic\" must be an array, found %s",
                          ln_value_kind_text(dynamic->kind));
    for (const ln_value *name = dynamic->first; name; name = name->next) {
        size_t i = 0;
        while (i < OPTION_COUNT &&
               !(name->kind == LN_VALUE_STRING && ln_streq(name->text, options_known[i].name)))
            i++;
        if (i == OPTION_COUNT)
            return ln_fail_at(name->place, LN_UNSUPPORTED,
                              "\"dynamic\" has an option that is not known here; compile the model "
                              "again");
        *place_of(out_options, i) = 1;
    }
    return LN_OK;
}
