// SPDX-License-Identifier: Apache-2.0
// The exported functions under the versions of all releases whose programs run on this library.

#include "compat/ort/ort.h"

ORT_EXPORT const ort_base *ort_base_of_versions(void);
const ort_base *ort_base_of_versions(void)
{
    return OrtGetApiBase();
}

ORT_EXPORT ort_status *ort_append_cpu_of_versions(ort_session_options *options, int use_arena);
ort_status *ort_append_cpu_of_versions(ort_session_options *options, int use_arena)
{
    return OrtSessionOptionsAppendExecutionProvider_CPU(options, use_arena);
}

#define V(version)                                                                                 \
    __asm__(".symver ort_base_of_versions, OrtGetApiBase@VERS_" #version "\n"                      \
            ".symver ort_append_cpu_of_versions, "                                                 \
            "OrtSessionOptionsAppendExecutionProvider_CPU@VERS_" #version);
#include "versions.inc"
