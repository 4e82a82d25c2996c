// SPDX-License-Identifier: Apache-2.0
// Rules in few bytes (base/pack.h): the writing side. ln_rule_set_unpack of rule.h reads them.

#ifndef LN_DESC_RULE_PACK_H
#define LN_DESC_RULE_PACK_H

#include "base/text.h"
#include "desc/rule.h"

LN_CPPSTART

// Appends the rules of all sets in order, without their `lower` statements. Failures go to
// `raw->status`.
void ln_rule_pack(const ln_rule_set *const *sets, size_t set_count, ln_text *raw);

LN_CPPEND

#endif
