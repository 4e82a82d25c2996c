// SPDX-License-Identifier: Apache-2.0
// The table of functions by number (slots.inc), and the function that returns it.

#include "compat/ort/ort.h"

#include <string.h>

#define ORT_API_VERSION  30
#define ORT_VERSION_TEXT "1.30.0"
#define ORT_SLOT_COUNT   426

// Functions of other execution providers say which one there is, as programs choose among several.
static ort_status *fail_absent(const char *name)
{
    bool is_of_provider =
        strstr(name, "AppendExecutionProvider") || strstr(name, "ProviderOptions");
    return ort_fail(ORT_NOT_IMPLEMENTED, "liblightnet-ort: %s is not implemented%s", name,
                    is_of_provider ? "; the only execution provider is CPUExecutionProvider" : "");
}

// What a slot without a function does: a status that names it, else nothing.
#define R(number, name)
#define V(number, name)
#define S(number, name)                                                                            \
    static ort_status *absent_##number(void)                                                       \
    {                                                                                              \
        return fail_absent(#name);                                                                 \
    }
#include "compat/ort/slots.inc"
#undef S
#undef R
#undef V

static void *absent_value(void)
{
    return NULL;
}

#define S(number, name) [number] = (ort_slot)absent_##number,
#define R(number, name) [number] = (ort_slot)absent_value,
#define V(number, name) [number] = (ort_slot)absent_value,
static ort_slot table[ORT_SLOT_COUNT] = {
#include "compat/ort/slots.inc"
};

static void fill(void)
{
    static const ort_row *const lists[] = {
        ort_status_slots,        ort_memory_slots,        ort_env_slots,
        ort_pair_slots,          ort_type_slots,          ort_value_slots,
        ort_string_slots,        ort_container_slots,     ort_initializer_slots,
        ort_session_slots,       ort_metadata_slots,      ort_session_option_slots,
        ort_run_option_slots,    ort_run_slots,           ort_async_slots,
        ort_binding_slots,       ort_device_slots,        ort_other_api_slots,
        ort_custom_slots,        ort_custom_kernel_slots, ort_custom_context_slots,
        ort_custom_invoke_slots, ort_log_slots,           ort_profile_slots,
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const ort_row *row = lists[i]; row->function; row++)
            table[row->number] = row->function;
}

static const ort_slot *get_api(uint32_t version)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (version < 1 || version > ORT_API_VERSION || pthread_once(&once, fill) != 0)
        return NULL;
    return table;
}

static const char *get_version_string(void)
{
    return ORT_VERSION_TEXT;
}

const ort_base *ort_own_base(void)
{
    static const ort_base base = {get_api, get_version_string};
    return &base;
}

const ort_base *OrtGetApiBase(void)
{
    return ort_own_base();
}
