// SPDX-License-Identifier: Apache-2.0
// Descriptions for the command and the build: files in, one text out.

#include "desc/opdesc_api.h"

#include <string.h>

#include "desc/cident.h"
#include "desc/opdesc.h"
#include "desc/opdesc_gen.h"

static ln_status read_set(const char *const *paths, size_t path_count, size_t base_count,
                          ln_opdesc_set *set)
{
    if (!paths || path_count == 0 || base_count >= path_count)
        return LN_FAIL(LN_INVALID, "%zu description files, of which %zu are bases: nothing to do",
                       paths ? path_count : 0, base_count);
    for (size_t i = 0; i < path_count; i++)
        LN_TRY(ln_opdesc_read_file(set, paths[i], i < base_count));
    return LN_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_code(const ln_opdesc_set *set, const char *title, ln_text *text)
{
    ln_opdesc_print_code(set, title, text);
}

static void print_docs(const ln_opdesc_set *set, const char *title, ln_text *text)
{
    (void)title;
    ln_opdesc_print_docs(set, text);
}

static ln_status generate(const char *const *paths, size_t path_count, size_t base_count,
                          void (*print)(const ln_opdesc_set *, const char *, ln_text *),
                          const char *title, char **out_text)
{
    *out_text = NULL;
    ln_opdesc_set set = {0};
    ln_text text = {0};
    ln_status status = read_set(paths, path_count, base_count, &set);
    if (status == LN_OK) {
        print(&set, title ? title : base_name(paths[base_count]), &text);
        status = ln_text_take(&text, out_text, NULL);
    }
    ln_opdesc_set_deinit(&set);
    return status;
}

ln_status ln_opdesc_generate(const char *const *paths, size_t path_count, size_t base_count,
                             char **out_text)
{
    return generate(paths, path_count, base_count, print_code, NULL, out_text);
}

ln_status ln_opdesc_generate_table(const char *arch, const char *const *paths, size_t path_count,
                                   size_t base_count, char **out_text)
{
    *out_text = NULL;
    if (!arch || !ln_is_identifier(arch))
        return LN_FAIL(LN_INVALID, "'%s' is no name of an arch", arch ? arch : "NULL");
    return generate(paths, path_count, base_count, ln_opdesc_print_table, arch, out_text);
}

ln_status ln_opdesc_generate_docs(const char *const *paths, size_t path_count, size_t base_count,
                                  char **out_text)
{
    return generate(paths, path_count, base_count, print_docs, NULL, out_text);
}
