// SPDX-License-Identifier: Apache-2.0
// Functions of ONNX Runtime's C ABI by name, as pointers that ort_client_load sets from the table.

#ifndef LN_TESTS_COMPAT_ORT_CLIENT_H
#define LN_TESTS_COMPAT_ORT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*ort_client_slot)(void);
typedef void (*ort_client_log)(void *, int, const char *, const char *, const char *, const char *);
typedef void (*ort_client_done)(void *, void **, size_t, void *);

typedef struct ort_client_base {
    const ort_client_slot *(*get_api)(uint32_t version);
    const char *(*get_version_string)(void);
} ort_client_base;

// Of the library that is linked.
const ort_client_base *OrtGetApiBase(void);

enum {
#define S(number, name) ORT_CLIENT_##name = (number),
#define R               S
#define V               S
#include "compat/ort/slots.inc"
#undef S
#undef R
#undef V
};

#define ORT_CLIENT_RUN                                                                             \
    (void *, void *, const char *const *, const void *const *, size_t, const char *const *,        \
     size_t, void **)

// clang-format off
#define ORT_CLIENT_FUNCTIONS(F)                                                                    \
    F(void *, CreateStatus, (int, const char *))                                                   \
    F(int, GetErrorCode, (const void *))                                                           \
    F(const char *, GetErrorMessage, (const void *))                                               \
    F(void, ReleaseStatus, (void *))                                                               \
    F(void *, CreateEnv, (int, const char *, void **))                                             \
    F(void *, CreateEnvWithCustomLogger, (ort_client_log, void *, int, const char *, void **))     \
    F(void *, CreateEnvWithGlobalThreadPools, (int, const char *, const void *, void **))          \
    F(void *, UpdateEnvWithCustomLogLevel, (void *, int))                                          \
    F(void *, GetEpDevices, (const void *, const void *const **, size_t *))                        \
    F(const char *, EpDevice_EpName, (const void *))                                               \
    F(void, ReleaseEnv, (void *))                                                                  \
    F(void *, CreateThreadingOptions, (void **))                                                   \
    F(void *, SetGlobalIntraOpNumThreads, (void *, int))                                           \
    F(void *, SetGlobalSpinControl, (void *, int))                                                 \
    F(void, ReleaseThreadingOptions, (void *))                                                     \
    F(void *, CreateSessionOptions, (void **))                                                     \
    F(void *, CloneSessionOptions, (const void *, void **))                                        \
    F(void *, SetOptimizedModelFilePath, (void *, const char *))                                   \
    F(void *, EnableProfiling, (void *, const char *))                                             \
    F(void *, DisableProfiling, (void *))                                                          \
    F(void *, SessionEndProfiling, (void *, void *, char **))                                      \
    F(void *, SessionGetProfilingStartTimeNs, (const void *, uint64_t *))                          \
    F(void *, SetIntraOpNumThreads, (void *, int))                                                 \
    F(void *, DisablePerSessionThreads, (void *))                                                  \
    F(void *, SetSessionLogId, (void *, const char *))                                             \
    F(void *, SetUserLoggingFunction, (void *, ort_client_log, void *))                            \
    F(void *, AddSessionConfigEntry, (void *, const char *, const char *))                         \
    F(void *, GetSessionConfigEntry, (const void *, const char *, char *, size_t *))               \
    F(void *, AddFreeDimensionOverrideByName, (void *, const char *, int64_t))                     \
    F(void *, SessionOptionsSetLoadCancellationFlag, (void *, bool))                               \
    F(void *, SessionOptionsAppendExecutionProvider, (void *, const char *, const char *const *,   \
        const char *const *, size_t))                                                              \
    F(void *, SessionOptionsAppendExecutionProvider_V2, (void *, void *, const void *const *,      \
        size_t, const char *const *, const char *const *, size_t))                                 \
    F(void *, AddInitializer, (void *, const char *, const void *))                                \
    F(void *, AddExternalInitializers, (void *, const char *const *, const void *const *, size_t)) \
    F(void *, AddExternalInitializersFromFilesInMemory, (void *, const char *const *,              \
        char *const *, const size_t *, size_t))                                                    \
    F(void, ReleaseSessionOptions, (void *))                                                       \
    F(void *, CreateRunOptions, (void **))                                                         \
    F(void *, RunOptionsSetRunTag, (void *, const char *))                                         \
    F(void *, RunOptionsSetRunLogSeverityLevel, (void *, int))                                     \
    F(void *, RunOptionsSetTerminate, (void *))                                                    \
    F(void *, RunOptionsUnsetTerminate, (void *))                                                  \
    F(void, ReleaseRunOptions, (void *))                                                           \
    F(void *, CreateSession, (const void *, const char *, const void *, void **))                  \
    F(void *, CreateSessionFromArray, (const void *, const void *, size_t, const void *, void **)) \
    F(void *, SessionGetInputCount, (const void *, size_t *))                                      \
    F(void *, SessionGetInputName, (const void *, size_t, void *, char **))                        \
    F(void *, SessionGetInputTypeInfo, (const void *, size_t, void **))                            \
    F(void *, SessionGetOutputTypeInfo, (const void *, size_t, void **))                           \
    F(void *, SessionGetOutputCount, (const void *, size_t *))                                     \
    F(void *, SessionGetOutputName, (const void *, size_t, void *, char **))                       \
    F(void *, SessionGetOverridableInitializerCount, (const void *, size_t *))                     \
    F(void *, SessionGetOverridableInitializerName, (const void *, size_t, void *, char **))       \
    F(void *, SessionGetOverridableInitializerTypeInfo, (const void *, size_t, void **))           \
    F(void *, SessionGetModelMetadata, (const void *, void **))                                    \
    F(void, ReleaseSession, (void *))                                                              \
    F(void *, ModelMetadataGetProducerName, (const void *, void *, char **))                       \
    F(void *, ModelMetadataGetGraphName, (const void *, void *, char **))                          \
    F(void *, ModelMetadataLookupCustomMetadataMap, (const void *, void *, const char *, char **)) \
    F(void *, ModelMetadataGetCustomMetadataMapKeys, (const void *, void *, char ***, int64_t *))  \
    F(void *, ModelMetadataGetVersion, (const void *, int64_t *))                                  \
    F(void, ReleaseModelMetadata, (void *))                                                        \
    F(void *, Run, ORT_CLIENT_RUN)                                                                 \
    F(void *, RunAsync, (void *, void *, const char *const *, const void *const *, size_t,         \
        const char *const *, size_t, void **, ort_client_done, void *))                            \
    F(void *, CreateIoBinding, (void *, void **))                                                  \
    F(void *, BindInput, (void *, const char *, const void *))                                     \
    F(void *, BindOutput, (void *, const char *, const void *))                                    \
    F(void *, BindOutputToDevice, (void *, const char *, const void *))                            \
    F(void *, GetBoundOutputNames, (const void *, void *, char **, size_t **, size_t *))           \
    F(void *, GetBoundOutputValues, (const void *, void *, void ***, size_t *))                    \
    F(void *, SynchronizeBoundInputs, (void *))                                                    \
    F(void, ClearBoundInputs, (void *))                                                            \
    F(void, ClearBoundOutputs, (void *))                                                           \
    F(void *, RunWithBinding, (void *, const void *, const void *))                                \
    F(void, ReleaseIoBinding, (void *))                                                            \
    F(void *, CreateCpuMemoryInfo, (int, int, void **))                                            \
    F(void, ReleaseMemoryInfo, (void *))                                                           \
    F(void *, GetAllocatorWithDefaultOptions, (void **))                                           \
    F(void *, AllocatorFree, (void *, void *))                                                     \
    F(void *, CreateTensorAsOrtValue, (void *, const int64_t *, size_t, int, void **))             \
    F(void *, CreateTensorWithDataAsOrtValue, (const void *, void *, size_t, const int64_t *,      \
        size_t, int, void **))                                                                     \
    F(void *, GetTensorMutableData, (void *, void **))                                             \
    F(void *, GetTensorSizeInBytes, (const void *, size_t *))                                      \
    F(void *, TensorAt, (void *, const int64_t *, size_t, void **))                                \
    F(void *, CopyTensors, (const void *, const void *const *, void *const *, void *, size_t))     \
    F(void *, FillStringTensorElement, (void *, const char *, size_t))                             \
    F(void *, GetResizedStringTensorElementBuffer, (void *, size_t, size_t, char **))              \
    F(void *, GetStringTensorDataLength, (const void *, size_t *))                                 \
    F(void *, GetStringTensorElementLength, (const void *, size_t, size_t *))                      \
    F(void *, GetStringTensorElement, (const void *, size_t, size_t, void *))                      \
    F(void *, CreateValue, (const void *const *, size_t, int, void **))                            \
    F(void *, GetValue, (const void *, int, void *, void **))                                      \
    F(void *, GetValueCount, (const void *, size_t *))                                             \
    F(void *, GetValueType, (const void *, int *))                                                 \
    F(void *, GetTypeInfo, (const void *, void **))                                                \
    F(void, ReleaseValue, (void *))                                                                \
    F(void *, GetOnnxTypeFromTypeInfo, (const void *, int *))                                      \
    F(void *, CastTypeInfoToTensorInfo, (const void *, const void **))                             \
    F(void *, CastTypeInfoToSequenceTypeInfo, (const void *, const void **))                       \
    F(void *, CastTypeInfoToMapTypeInfo, (const void *, const void **))                            \
    F(void *, GetSequenceElementType, (const void *, void **))                                     \
    F(void *, GetMapKeyType, (const void *, int *))                                                \
    F(void *, GetMapValueType, (const void *, void **))                                            \
    F(void *, GetTensorElementType, (const void *, int *))                                         \
    F(void *, GetDimensionsCount, (const void *, size_t *))                                        \
    F(void *, GetDimensions, (const void *, int64_t *, size_t))                                    \
    F(void *, GetSymbolicDimensions, (const void *, const char **, size_t))                        \
    F(void, ReleaseTypeInfo, (void *))                                                             \
    F(void *, SetLanguageProjection, (const void *, int))                                          \
    F(void *, GetAvailableProviders, (char ***, int *))                                            \
    F(void *, ReleaseAvailableProviders, (char **, int))                                           \
    F(void *, SetSessionGraphOptimizationLevel, (void *, int))                                     \
    F(void *, SetSessionExecutionMode, (void *, int))                                              \
    F(void *, EnableMemPattern, (void *))                                                          \
    F(void *, DisableMemPattern, (void *))                                                         \
    F(void *, EnableCpuMemArena, (void *))                                                         \
    F(void *, DisableCpuMemArena, (void *))                                                        \
    F(void *, SetSessionLogSeverityLevel, (void *, int))                                           \
    F(void *, SetInterOpNumThreads, (void *, int))                                                 \
    F(void *, HasSessionConfigEntry, (const void *, const char *, int *))                          \
    F(void *, CreateMemoryInfo, (const char *, int, int, int, void **))                            \
    F(void *, IsTensor, (const void *, int *))                                                     \
    F(void *, GetTensorTypeAndShape, (const void *, void **))                                      \
    F(void *, GetTensorShapeElementCount, (const void *, size_t *))                                \
    F(void, ReleaseTensorTypeAndShapeInfo, (void *))                                               \
    F(void *, EnableTelemetryEvents, (void *))                                                     \
    F(void *, DisableTelemetryEvents, (void *))                                                    \
    F(void *, FillStringTensor, (void *, const char *const *, size_t))                             \
    F(void *, GetStringTensorContent, (const void *, void *, size_t, size_t *, size_t))            \
    F(void *, GetTensorMemoryInfo, (const void *, const void **))                                  \
    F(void *, CreateAllocator, (const void *, const void *, void **))                              \
    F(void, ReleaseAllocator, (void *))                                                            \
    F(void *, AllocatorGetInfo, (const void *, const void **))                                     \
    F(void *, MemoryInfoGetName, (const void *, const char **))                                    \
    F(void *, MemoryInfoGetType, (const void *, int *))                                            \
    F(void *, MemoryInfoGetMemType, (const void *, int *))                                         \
    F(void *, MemoryInfoGetId, (const void *, int *))                                              \
    F(void, MemoryInfoGetDeviceType, (const void *, int *))                                        \
    F(void *, CompareMemoryInfo, (const void *, const void *, int *))                              \
    F(void *, SetGlobalInterOpNumThreads, (void *, int))                                           \
    F(void *, CreateEnvWithCustomLoggerAndGlobalThreadPools,                                       \
        (ort_client_log, void *, int, const char *, const void *, void **))                        \
    F(void *, CreatePrepackedWeightsContainer, (void **))                                          \
    F(void, ReleasePrepackedWeightsContainer, (void *))                                            \
    F(void *, CreateSessionFromArrayWithPrepackedWeightsContainer,                                 \
        (const void *, const void *, size_t, const void *, void *, void **))                       \
    F(void *, RunOptionsGetRunTag, (const void *, const char **))                                  \
    F(void, CreateKeyValuePairs, (void **))                                                        \
    F(void, AddKeyValuePair, (void *, const char *, const char *))                                 \
    F(const char *, GetKeyValue, (const void *, const char *))                                     \
    F(void, GetKeyValuePairs, (const void *, const char *const **, const char *const **, size_t *)) \
    F(void, RemoveKeyValuePair, (void *, const char *))                                            \
    F(void, ReleaseKeyValuePairs, (void *))
// clang-format on

#define ORT_CLIENT_POINTER(result, name, args) static result(*name) args __attribute__((unused));
ORT_CLIENT_FUNCTIONS(ORT_CLIENT_POINTER)
#undef ORT_CLIENT_POINTER

static inline const ort_client_slot *ort_client_table(void)
{
    return OrtGetApiBase()->get_api(30);
}

static inline void ort_client_load_from(const ort_client_slot *table)
{
#define ORT_CLIENT_SET(result, name, args) name = (result(*) args)table[ORT_CLIENT_##name];
    ORT_CLIENT_FUNCTIONS(ORT_CLIENT_SET)
#undef ORT_CLIENT_SET
}

static inline void ort_client_load(void)
{
    ort_client_load_from(ort_client_table());
}

// Fails the test if the call fails, with its code and message; tests/test.h has to be included.
#define OK(call)                                                                                   \
    do {                                                                                           \
        void *ok_status = (call);                                                                  \
        if (ok_status)                                                                             \
            fail_msg("%s: %d: %s", #call, GetErrorCode(ok_status), GetErrorMessage(ok_status));    \
    } while (0)

#endif
