// SPDX-License-Identifier: Apache-2.0
// What the snippets of snippets.op call.

#ifndef LN_TESTS_API_SNIPPETS_H
#define LN_TESTS_API_SNIPPETS_H

#include <lightnet/status.h>
#include <lightnet/tensor.h>

// Fails at the third run.
ln_status snip_rows(const tl_tensor *src, const tl_tensor *scale, tl_tensor *dst, tl_tensor *ws,
                    int first, tl_elew_op op, int run_count);

void snip_table(tl_tensor *const *src, int count, tl_tensor *dst, const double added[2]);

void snip_pairs(const tl_tensor *src, tl_tensor *dst);
void snip_turned(const tl_tensor *src, const tl_tensor *turned, tl_tensor *dst);

extern int snip_table_ends;

#endif
