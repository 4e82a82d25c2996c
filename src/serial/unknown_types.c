// SPDX-License-Identifier: Apache-2.0
// Counting the operators of a model that nothing here can make.

#include "serial/unknown_types.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/util.h>

#define MAX_TYPES 12 // that are told by name

typedef struct type_count {
    const char *optype;
    size_t count;
} type_count;

static void count_type(type_count counts[MAX_TYPES], const char *optype)
{
    for (size_t i = 0; i < MAX_TYPES; i++) {
        if (counts[i].optype && !ln_streq(counts[i].optype, optype))
            continue;
        counts[i].optype = optype;
        counts[i].count++;
        return;
    }
}

// The name of the type if nothing here can make it, else NULL.
static const char *unknown_type(ln_serializer *serializer, const ln_value *op,
                                ln_type_reader read_type)
{
    char buffer[LN_MAX_NAME_LEN];
    const ln_value *optype = op->kind == LN_VALUE_OBJECT ? ln_value_get(op, "optype") : NULL;
    if (!optype || optype->kind != LN_VALUE_STRING)
        return NULL;
    if (!read_type)
        return ln_serializer_knows(serializer, optype->text) ? NULL : optype->text;
    read_type(optype->text, buffer, sizeof buffer);
    return ln_serializer_knows(serializer, buffer) ? NULL : optype->text;
}

ln_status ln_tell_unknown_types(ln_serializer *serializer, const ln_value *ops,
                                ln_type_reader read_type)
{
    type_count counts[MAX_TYPES] = {0};
    size_t op_count = 0, told_count = 0;
    for (const ln_value *op = ops->first; op; op = op->next) {
        const char *optype = unknown_type(serializer, op, read_type);
        op_count += optype != NULL;
        if (optype)
            count_type(counts, optype);
    }
    if (op_count < 2)
        return ln_error_status();

    char text[512] = "";
    for (size_t i = 0; i < MAX_TYPES && counts[i].optype; i++) {
        size_t used = strlen(text);
        int len = snprintf(text + used, sizeof text - used, "%s%.64s (%zu)", i ? ", " : "",
                           counts[i].optype, counts[i].count);
        if (len < 0 || (size_t)len >= sizeof text - used) {
            text[used] = '\0';
            break;
        }
        told_count += counts[i].count;
    }
    return ln_fail_prefix("%zu operators have types that nothing here can run, %s%s; the first",
                          op_count, text, told_count < op_count ? " and others" : "");
}
