// SPDX-License-Identifier: Apache-2.0
// Reading files of rules. They are checked as a whole before the first rule is tried, so that a
// mistake in one is found whatever the model is.

#include "pass/rule_file.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/optimize.h>
#include <lightnet/util.h>

#include "arch/registry.h"
#include "pass/rewrite.h"

static ln_status read_file(const char *path, ln_rule_set **out_set)
{
    if (!path)
        return LN_FAIL(LN_INVALID, "the name of a file of rules is NULL");
    LN_TRY(ln_rule_set_read(path, out_set));
    return ln_rule_set_check(*out_set);
}

ln_status ln_rule_files_read(const char *const *paths, size_t count, ln_rule_set ***out_sets)
{
    *out_sets = NULL;
    ln_rule_set **sets = ln_alloc_array(count + 1, sizeof *sets);
    if (!sets)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        ln_status status = read_file(paths[i], &sets[i]);
        if (status != LN_OK) {
            ln_rule_files_destroy(sets);
            return status;
        }
    }
    *out_sets = sets;
    return LN_OK;
}

void ln_rule_files_destroy(ln_rule_set **sets)
{
    for (ln_rule_set **set = sets; set && *set; set++)
        ln_rule_set_destroy(*set);
    ln_free(sets);
}

ln_status ln_rules_register(const char *arch_name, const char *text)
{
    if (!arch_name || !text)
        return LN_FAIL(LN_INVALID, "rules are registered for an arch, from a text");
    if (!ln_arch_find(arch_name))
        return LN_FAIL(LN_NOT_FOUND, "there is no arch '%s' to register rules for", arch_name);
    char file[LN_MAX_NAME_LEN + 16];
    snprintf(file, sizeof file, "<rules of %.*s>", LN_MAX_NAME_LEN - 1, arch_name);
    ln_rule_set *set;
    LN_TRY(ln_rule_set_parse(text, strlen(text), file, &set));
    ln_status status = ln_rule_set_check(set);
    if (status == LN_OK)
        status = ln_arch_take_rules(arch_name, set);
    if (status != LN_OK)
        ln_rule_set_destroy(set);
    return status;
}
