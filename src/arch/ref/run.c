// SPDX-License-Identifier: Apache-2.0
// Arguments as operators have them become arguments as kernels want them.

#include "arch/ref/run.h"

ln_status ln_ref_run_create(tl_tensor *dst, const char *name, const double *ran, const double *data,
                            int data_len, bool from_file)
{
    return from_file ? LN_OK : ln_ref_create(dst, name, ran, data, data_len);
}
