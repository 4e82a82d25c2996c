// SPDX-License-Identifier: Apache-2.0
// Reading files of rules. They are checked as a whole before the first rule is tried, so that a
// mistake in one is found whatever the model is.

#include "pass/rule_file.h"

#include <lightnet/allocator.h>

#include "desc/rule_parse.h"
#include "pass/rewrite.h"

static ln_status read_file(const char *path, ln_rule_file *file)
{
    if (!path)
        return LN_FAIL(LN_INVALID, "the name of a file of rules is NULL");
    LN_TRY(ln_rule_set_read(path, &file->arena, &file->set));
    return ln_rule_set_check(file->set);
}

ln_status ln_rule_files_read(const char *const *paths, size_t count, ln_rule_file **out_files)
{
    *out_files = NULL;
    ln_rule_file *files = ln_alloc_array(count + 1, sizeof *files);
    if (!files)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        ln_status status = read_file(paths[i], &files[i]);
        if (status != LN_OK) {
            ln_rule_files_destroy(files);
            return status;
        }
    }
    *out_files = files;
    return LN_OK;
}

void ln_rule_files_destroy(ln_rule_file *files)
{
    for (ln_rule_file *file = files; file && file->set; file++)
        ln_document_destroy(file->arena);
    ln_free(files);
}
