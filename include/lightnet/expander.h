/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizer descriptions of the first LightNet (protos/ep/ep_<name>.json) as rules.
 *
 * Such a file says, in easy JSON, what an expander does with each operator type of a model. What it
 * says and a `lower` statement can say becomes one; docs/migrate-lightnet.md has the table.
 * Functions may be called from any thread.
 */

#ifndef LIGHTNET_EXPANDER_H
#define LIGHTNET_EXPANDER_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* 1 if the text is an object, as descriptions are and files of rules are not. */
LN_API int ln_expander_probe(const char *text, size_t len);

/* Rules (docs/rules.md) that do what the description `text` says; messages call it `file`. What
 * rules cannot say is refused with its line and the reason: LN_UNSUPPORTED. LN_SYNTAX or LN_INVALID
 * for a description that is wrong. The caller gives *out_rules back with `ln_free`; NULL on
 * failure. */
LN_API ln_status ln_expander_to_rules(const char *text, size_t len, const char *file,
                                      char **out_rules);

LN_CPPEND

#endif
