/* SPDX-License-Identifier: Apache-2.0 */
/* DLTensor under the names that CVM programs use.
 *
 * The records are those of <lightnet/dlpack.h>, with the device as `ctx` (also `device`). Two
 * device kinds had other names, and FORMAL a value that today stands for pinned memory: as an
 * argument of CVMArrayAlloc all four mean what they meant.
 */

#ifndef CVM_DLPACK_H
#define CVM_DLPACK_H

#include <lightnet/dlpack.h>

#define kDLGPU    kDLCUDA
#define kDLFORMAL kDLCUDAHost

typedef DLDevice DLContext;

#endif
