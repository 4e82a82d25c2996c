// SPDX-License-Identifier: Apache-2.0
// Custom operators in ONNX Runtime's C ABI: the structure of one, and the functions that kernels
// call, as pointers that ort_custom_load sets from the table.

#ifndef LN_TESTS_COMPAT_ORT_CUSTOM_H
#define LN_TESTS_COMPAT_ORT_CUSTOM_H

#include "tests/compat/ort_client.h"

// By its members, in the order of the versions of the API in which they came.
typedef struct custom_op {
    uint32_t version;
    void *(*create)(const struct custom_op *, const void *api, const void *info);
    const char *(*name)(const struct custom_op *);
    const char *(*provider)(const struct custom_op *);
    int (*input_type)(const struct custom_op *, size_t);
    size_t (*input_count)(const struct custom_op *);
    int (*output_type)(const struct custom_op *, size_t);
    size_t (*output_count)(const struct custom_op *);
    void (*compute)(void *kernel, void *context);
    void (*destroy)(void *kernel);
    int (*input_characteristic)(const struct custom_op *, size_t);  // 8
    int (*output_characteristic)(const struct custom_op *, size_t); // 8
    int (*input_memory)(const struct custom_op *, size_t);          // 13
    int (*input_min_arity)(const struct custom_op *);               // 14
    int (*input_homogeneity)(const struct custom_op *);
    int (*output_min_arity)(const struct custom_op *);
    int (*output_homogeneity)(const struct custom_op *);
    void *(*create_v2)(const struct custom_op *, const void *api, const void *info, void **); // 16
    void *(*compute_v2)(void *kernel, void *context);
    void *(*infer)(const struct custom_op *, void *context); // 17
    int (*start_version)(const struct custom_op *);
    int (*end_version)(const struct custom_op *);
    void *later[4]; // 18: places of outputs
} custom_op;

// clang-format off
#define ORT_CUSTOM_FUNCTIONS(F)                                                                    \
    F(void *, CreateCustomOpDomain, (const char *, void **))                                       \
    F(void *, CustomOpDomain_Add, (void *, const custom_op *))                                     \
    F(void *, AddCustomOpDomain, (void *, void *))                                                 \
    F(void, ReleaseCustomOpDomain, (void *))                                                       \
    F(void *, RegisterCustomOpsLibrary, (void *, const char *, void **))                           \
    F(void *, RegisterCustomOpsLibrary_V2, (void *, const char *))                                 \
    F(void *, RegisterCustomOpsUsingFunction, (void *, const char *))                              \
    F(void *, KernelInfoGetAttribute_float, (const void *, const char *, float *))                 \
    F(void *, KernelInfoGetAttribute_int64, (const void *, const char *, int64_t *))               \
    F(void *, KernelInfoGetAttribute_string, (const void *, const char *, char *, size_t *))       \
    F(void *, KernelInfoGetAttribute_tensor, (const void *, const char *, void *, void **))        \
    F(void *, KernelInfoGetAttributeArray_float, (const void *, const char *, float *, size_t *))  \
    F(void *, KernelInfoGetAttributeArray_int64, (const void *, const char *, int64_t *, size_t *)) \
    F(void *, KernelInfoGetAttributeArray_string, (const void *, const char *, void *, char ***,   \
        size_t *))                                                                                 \
    F(void *, KernelInfo_GetInputCount, (const void *, size_t *))                                  \
    F(void *, KernelInfo_GetOutputCount, (const void *, size_t *))                                 \
    F(void *, KernelInfo_GetInputName, (const void *, size_t, char *, size_t *))                   \
    F(void *, KernelInfo_GetOutputName, (const void *, size_t, char *, size_t *))                  \
    F(void *, KernelInfo_GetInputTypeInfo, (const void *, size_t, void **))                        \
    F(void *, KernelInfo_GetOutputTypeInfo, (const void *, size_t, void **))                       \
    F(void *, KernelInfoGetConstantInput_tensor, (const void *, size_t, int *, const void **))     \
    F(void *, KernelInfo_GetNodeName, (const void *, char *, size_t *))                            \
    F(void *, KernelInfo_GetOperatorDomain, (const void *, char *, size_t *))                      \
    F(void *, KernelInfo_GetOperatorType, (const void *, char *, size_t *))                        \
    F(void *, KernelInfo_GetOperatorSinceVersion, (const void *, int *))                           \
    F(void *, KernelInfo_GetLogger, (const void *, const void **))                                 \
    F(void *, Logger_LogMessage, (const void *, int, const char *, const char *, int, const char *)) \
    F(void *, CopyKernelInfo, (const void *, void **))                                             \
    F(void, ReleaseKernelInfo, (void *))                                                           \
    F(void *, KernelContext_GetInputCount, (const void *, size_t *))                               \
    F(void *, KernelContext_GetOutputCount, (const void *, size_t *))                              \
    F(void *, KernelContext_GetInput, (const void *, size_t, const void **))                       \
    F(void *, KernelContext_GetOutput, (void *, size_t, const int64_t *, size_t, void **))         \
    F(void *, KernelContext_GetAllocator, (const void *, const void *, void **))                   \
    F(void *, KernelContext_GetScratchBuffer, (const void *, const void *, size_t, void **))       \
    F(void *, KernelContext_ParallelFor, (const void *, void (*)(void *, size_t), size_t, size_t,  \
        void *))                                                                                   \
    F(void *, ShapeInferContext_GetInputCount, (const void *, size_t *))                           \
    F(void *, ShapeInferContext_GetInputTypeShape, (const void *, size_t, void **))                \
    F(void *, ShapeInferContext_GetAttribute, (const void *, const char *, const void **))         \
    F(void *, ShapeInferContext_SetOutputTypeShape, (const void *, size_t, const void *))          \
    F(void *, ReadOpAttr, (const void *, int, void *, size_t, size_t *))                           \
    F(void *, OpAttr_GetName, (const void *, const char **))                                       \
    F(void *, OpAttr_GetType, (const void *, int *))                                               \
    F(void *, OpAttr_GetTensorAttributeAsOrtValue, (const void *, void **))                        \
    F(void *, CreateOpAttr, (const char *, const void *, int, int, void **))                       \
    F(void, ReleaseOpAttr, (void *))                                                               \
    F(void *, CreateOp, (const void *, const char *, const char *, int, const char **,             \
        const int *, int, const void *const *, int, int, int, void **))                            \
    F(void *, InvokeOp, (const void *, const void *, const void *const *, int, void *const *, int)) \
    F(void, ReleaseOp, (void *))                                                                   \
    F(void *, KernelContext_GetResource, (const void *, int, int, void **))                        \
    F(void *, CreateTensorTypeAndShapeInfo, (void **))                                             \
    F(void *, SetTensorElementType, (void *, int))                                                 \
    F(void *, SetDimensions, (void *, const int64_t *, size_t))
// clang-format on

#define ORT_CUSTOM_POINTER(result, name, args) static result(*name) args __attribute__((unused));
ORT_CUSTOM_FUNCTIONS(ORT_CUSTOM_POINTER)
#undef ORT_CUSTOM_POINTER

static inline void ort_custom_load(const ort_client_slot *table)
{
    ort_client_load_from(table);
#define ORT_CUSTOM_SET(result, name, args) name = (result(*) args)table[ORT_CLIENT_##name];
    ORT_CUSTOM_FUNCTIONS(ORT_CUSTOM_SET)
#undef ORT_CUSTOM_SET
}

// Set by the library: how many kernels there have been, and are no more; calls of Ends.
typedef struct custom_counts {
    int created, destroyed, done;
} custom_counts;

#endif
