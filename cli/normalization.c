// SPDX-License-Identifier: Apache-2.0
// The property "normalization NAME" is "mean=A,B,C std=X,Y,Z": an element is (pixel - mean) / std.

#include "normalization.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/model_info.h>

// The numbers of "KEY=1,2,3 ..." as they are, or one over them; 0: it is not such a text.
static int print_numbers(const char *text, const char *key, int is_inverse, char *buf, size_t size)
{
    size_t used = 0;
    const char *at = strstr(text, key);
    if (!at)
        return 0;
    at += strlen(key);
    for (int i = 0; i < 3; i++) {
        char *end;
        double x = strtod(at, &end);
        if (end == at || (is_inverse && x == 0) || used >= size)
            return 0;
        used += (size_t)snprintf(buf + used, size - used, "%s%.9g", i ? "," : "",
                                 is_inverse ? 1 / x : x);
        if (*end != ',')
            return used < size && (*end == '\0' || *end == ' ');
        at = end + 1;
    }
    return 0;
}

int normalization_options(const ln_context *ctx, char *buf, size_t size)
{
    static const char prefix[] = "normalization ";
    const ln_model_info *info = ln_context_info(ctx);
    for (size_t i = 0; i < info->property_count; i++) {
        const ln_model_property *p = &info->properties[i];
        char means[64], scales[64];
        if (strncmp(p->key, prefix, sizeof prefix - 1) != 0 ||
            !ln_tensor_table_find(ctx->tensor_table, p->key + sizeof prefix - 1) ||
            ln_context_tensor_dtype(ctx, p->key + sizeof prefix - 1) != TL_FLOAT ||
            !print_numbers(p->value, "mean=", 0, means, sizeof means) ||
            !print_numbers(p->value, "std=", 1, scales, sizeof scales))
            continue;
        snprintf(buf, size, "--mean=%s --scale=%s", means, scales);
        return 1;
    }
    return 0;
}
