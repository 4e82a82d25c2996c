// SPDX-License-Identifier: Apache-2.0
// The metadata of a model in one counted block, which clones share.

#ifndef LN_IR_MODEL_INFO_H
#define LN_IR_MODEL_INFO_H

#include <lightnet/model_info.h>

typedef struct ln_held_info ln_held_info;

// A copy of `*info`. Fails: LN_INVALID if a property has no key, LN_NO_MEMORY.
ln_status ln_held_info_create(const ln_model_info *info, ln_held_info **out_held);

ln_held_info *ln_held_info_retain(ln_held_info *held); // returns `held`; NULL is fine
void ln_held_info_release(ln_held_info *held);         // NULL is fine

// What it holds; of NULL, empty texts.
const ln_model_info *ln_held_info_of(const ln_held_info *held);

#endif
