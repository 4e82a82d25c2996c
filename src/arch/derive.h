// SPDX-License-Identifier: Apache-2.0
// Operators of a device, derived from those of arch `none`: `<type>_<arch>` for each type that the
// arch lists in `core_ops`.

#ifndef LN_ARCH_DERIVE_H
#define LN_ARCH_DERIVE_H

#include <lightnet/arch.h>

#include "base/value.h"

// The prototypes, in memory of *out_document. *out_ops ends with NULL; NULL if the arch lists none.
// LN_NOT_FOUND for a type that arch `none` does not have, LN_INVALID for one without call form and
// for an arch that runs no groups. On failure both are NULL.
ln_status ln_arch_derive_ops(const ln_arch *arch, ln_document **out_document, ln_op ***out_ops);

#endif
