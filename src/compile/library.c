// SPDX-License-Identifier: Apache-2.0
// Start and end of the library: the built-in archs and serializers.

#include <pthread.h>

#include "base/error_state.h"
#include "compile/builtin.h"
#include "compile/plugin.h"
#include "op/call.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t init_count;

static void release_all(void)
{
    ln_error_state reason; // of a failed start, which outlives the clearing up
    ln_error_save(&reason);
    ln_plugins_take_back();
    ln_serializer_release();
    ln_arch_release();
    ln_plugins_close();
    ln_error_restore(&reason);
}

static ln_status register_all(void)
{
    for (ln_arch *const *arch = ln_builtin_archs; *arch; arch++)
        LN_TRY(ln_arch_register(*arch));
    for (ln_serializer *const *serializer = ln_builtin_serializers; *serializer; serializer++)
        LN_TRY(ln_serializer_register(*serializer));
    return LN_OK;
}

ln_status ln_arch_init(void)
{
    ln_status status = LN_OK;
    pthread_mutex_lock(&lock);
    if (init_count == 0) {
        ln_call_find_reference = ln_op_find_reference;
        status = register_all();
        if (status != LN_OK)
            release_all();
    }
    if (status == LN_OK)
        init_count++;
    pthread_mutex_unlock(&lock);
    return status;
}

void ln_arch_cleanup(void)
{
    pthread_mutex_lock(&lock);
    if (init_count > 0 && --init_count == 0)
        release_all();
    pthread_mutex_unlock(&lock);
}
