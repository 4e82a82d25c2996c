// SPDX-License-Identifier: Apache-2.0
// Layout of convolutions of volumes: what the table of convolutions calls for three axes.

#ifndef LN_PASS_LAYOUT_CONV3D_H
#define LN_PASS_LAYOUT_CONV3D_H

#include "pass/layout_build.h"

bool ln_layout_fits_conv3d(const ln_layout_build *build);
ln_status ln_layout_rewrite_conv3d(ln_layout_build *build);

#endif
