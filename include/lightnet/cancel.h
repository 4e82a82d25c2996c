/* SPDX-License-Identifier: Apache-2.0 */
/* A wish, from any thread, that what a context does should end.
 *
 *     ln_cancel *cancel = ln_cancel_create();            // one for each request that is served
 *     ln_context_set_cancel(ctx, cancel);
 *     ...
 *     ln_cancel_request(cancel);                         // in another thread, or a signal handler
 *     ...
 *     if (ln_context_run(ctx) == LN_CANCELLED)           // the context is LOADED and runs again
 *         ...
 *     ln_context_set_cancel(ctx, NULL);
 *     ln_cancel_release(cancel);
 *
 * A request is never taken back: so none is lost, whether it comes before the work, in it or after
 * it. The next piece of work gets another object.
 */

#ifndef LIGHTNET_CANCEL_H
#define LIGHTNET_CANCEL_H

#include <lightnet/export.h>

LN_CPPSTART

/* Counted, like objects: it is freed with the last release. All functions here may be called from
 * several threads at once; NULL is fine. */
typedef struct ln_cancel ln_cancel;

/* One that is not requested, held once. NULL when memory is gone. */
LN_API ln_cancel *ln_cancel_create(void);

LN_API ln_cancel *ln_cancel_retain(ln_cancel *cancel); /* returns it */
LN_API void ln_cancel_release(ln_cancel *cancel);

/* Says that all that looks at it should end. Only sets a flag, so a signal handler may call it. */
LN_API void ln_cancel_request(ln_cancel *cancel);

LN_API int ln_cancel_is_requested(const ln_cancel *cancel);

LN_CPPEND

#endif
