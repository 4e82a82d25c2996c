// SPDX-License-Identifier: Apache-2.0
// An entry of `core_ops`: a type, and in parentheses the parameters that a device knows of it.
//
//     "reshape(*)"    "softmax(axis)"    "forward"

#ifndef LN_ARCH_CORE_ROW_H
#define LN_ARCH_CORE_ROW_H

#include <lightnet/arch.h>

// Writes the type's name. LN_INVALID if the row is written in another way.
ln_status ln_core_row_type(const ln_arch *arch, const char *row, char type[LN_MAX_NAME_LEN]);

// LN_INVALID, with what there is, if the row names what `base`, the operator of the type, does not
// have, or leaves out what every operator of the type has.
ln_status ln_core_row_check(const ln_arch *arch, const char *row, const ln_op *base);

// LN_UNSUPPORTED, with the parameter, if `op`, of a type that the arch lists or that is derived
// from one, has a parameter that the row does not name and that is not at its default.
ln_status ln_core_row_check_op(const ln_arch *arch, const ln_op *op);

#endif
