// SPDX-License-Identifier: Apache-2.0
// Prototypes of the functions that descriptions name. Their signatures are fixed by the key, so
// nobody has to repeat them in a header.

#include "desc/opdesc_gen.h"

#include <stdio.h>
#include <string.h>

static const struct {
    size_t offset; // of the name in ln_opdesc
    bool is_call;  // a function of an operator in call form only; elsewhere an expression
    const char *before, *after;
} functions[] = {
    {offsetof(ln_opdesc, infer), true, "ln_status ", "(ln_call *call);\n"},
    {offsetof(ln_opdesc, accepts), true, "ln_status ", "(ln_call *call);\n"},
    {offsetof(ln_opdesc, prepare), true, "ln_status ", "(ln_call *call);\n"},
    {offsetof(ln_opdesc, compute), true, "ln_status ", "(ln_call *call);\n"},
    {offsetof(ln_opdesc, workspace), true, "ln_status ", "(ln_call *call);\n"},
    {offsetof(ln_opdesc, calc_offset), true, "size_t ",
     "(ln_op_arg *op_arg, ln_tensor_entry *te);\n"},
    {offsetof(ln_opdesc, macs), true, "double ", "(const ln_call *call);\n"},
    {offsetof(ln_opdesc, cost), true, "double ", "(const ln_call *call);\n"},
    {offsetof(ln_opdesc, commutes), true, "int ", "(ln_op_arg *op_arg);\n"},
    {offsetof(ln_opdesc, is_random), false, "int ", "(const ln_op_arg *op_arg);\n"},
};

static const char *function_of(const ln_opdesc *op, size_t i)
{
    if (functions[i].is_call && !ln_opdesc_is_call(op))
        return NULL;
    return *(const char *const *)((const char *)op + functions[i].offset);
}

// Those that are not in `known`, which may be NULL.
static void put_prototypes_of(const ln_opdesc *op, const ln_text *known, ln_text *text)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const char *name = function_of(op, i);
        char line[512];
        if (!name)
            continue;
        snprintf(line, sizeof line, "%s%s%s", functions[i].before, name, functions[i].after);
        bool is_known = known && known->bytes && strstr(known->bytes, line);
        if (!is_known && !(text->bytes && strstr(text->bytes, line)))
            ln_text_puts(text, line);
    }
}

static void put_prototypes(const ln_opdesc_set *set, const char *arch, const ln_text *known,
                           ln_text *text)
{
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op) && (!arch || strcmp(op->arch, arch) == 0))
            put_prototypes_of(op, known, text);
}

void ln_opdesc_put_prototypes(const ln_opdesc_set *set, const char *arch, ln_text *text)
{
    size_t len = text->len;
    put_prototypes(set, arch, NULL, text);
    if (text->len > len)
        ln_text_puts(text, "\n");
}

void ln_opdesc_print_header(const ln_opdesc_set *set, const char *arch, ln_text *text)
{
    ln_text_printf(text,
                   "// The functions that descriptions of arch '%s' name. Made by lightnet-gen: "
                   "change those, not this file.\n\n"
                   "#ifndef LN_FUNCTIONS_OF_%s\n#define LN_FUNCTIONS_OF_%s\n\n"
                   "#include <lightnet/call.h>\n\n"
                   "LN_CPPSTART\n\n",
                   arch, arch, arch);
    ln_text abstract = {0};
    if (strcmp(arch, "none") != 0)
        put_prototypes(set, "none", NULL, &abstract);
    put_prototypes(set, arch, &abstract, text);
    if (abstract.status != LN_OK)
        text->status = abstract.status;
    ln_text_deinit(&abstract);
    ln_text_puts(text, "\nLN_CPPEND\n\n#endif\n");
}
