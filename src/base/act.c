// SPDX-License-Identifier: Apache-2.0
// Names of activations.

#include <lightnet/act.h>

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define LN_ACT_NAME(constant, name, doc) name,
    LN_ACT_LIST(LN_ACT_NAME)
#undef LN_ACT_NAME
};

int ln_act_from_str(const char *name)
{
    for (int i = 0; name && i < LN_ACT_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

const char *ln_act_name(ln_act act)
{
    return (unsigned)act < LN_ACT_COUNT ? names[act] : "unknown";
}
