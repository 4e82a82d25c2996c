// SPDX-License-Identifier: Apache-2.0
// Tables beside the first one, which programs read when they start: none of their functions is
// implemented, and each says so.

#include "compat/ort/ort.h"

// What returns a status, and what releases what cannot be made here.
#define COMPILE_API                                                                                \
    R(ReleaseModelCompilationOptions)                                                              \
    S(CreateModelCompilationOptionsFromSessionOptions)                                             \
    S(ModelCompilationOptions_SetInputModelPath)                                                   \
    S(ModelCompilationOptions_SetInputModelFromBuffer)                                             \
    S(ModelCompilationOptions_SetOutputModelPath)                                                  \
    S(ModelCompilationOptions_SetOutputModelExternalInitializersFile)                              \
    S(ModelCompilationOptions_SetOutputModelBuffer)                                                \
    S(ModelCompilationOptions_SetEpContextEmbedMode)                                               \
    S(CompileModel)                                                                                \
    S(ModelCompilationOptions_SetFlags)                                                            \
    S(ModelCompilationOptions_SetEpContextBinaryInformation)                                       \
    S(ModelCompilationOptions_SetGraphOptimizationLevel)                                           \
    S(ModelCompilationOptions_SetOutputModelWriteFunc)                                             \
    S(ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc)                            \
    S(ModelCompilationOptions_SetInputModel)                                                       \
    S(ModelCompilationOptions_SetWeightlessEnabled)

#define MODEL_EDITOR_API                                                                           \
    S(CreateTensorTypeInfo)                                                                        \
    S(CreateSparseTensorTypeInfo)                                                                  \
    S(CreateMapTypeInfo)                                                                           \
    S(CreateSequenceTypeInfo)                                                                      \
    S(CreateOptionalTypeInfo)                                                                      \
    S(CreateValueInfo)                                                                             \
    S(CreateNode)                                                                                  \
    S(CreateGraph)                                                                                 \
    S(SetGraphInputs)                                                                              \
    S(SetGraphOutputs)                                                                             \
    S(AddInitializerToGraph)                                                                       \
    S(AddNodeToGraph)                                                                              \
    S(CreateModel)                                                                                 \
    S(AddGraphToModel)                                                                             \
    S(CreateSessionFromModel)                                                                      \
    S(CreateModelEditorSession)                                                                    \
    S(CreateModelEditorSessionFromArray)                                                           \
    S(SessionGetOpsetForDomain)                                                                    \
    S(ApplyModelToModelEditorSession)                                                              \
    S(FinalizeModelEditorSession)

#define INTEROP_API                                                                                \
    S(CreateExternalResourceImporterForDevice)                                                     \
    R(ReleaseExternalResourceImporter)                                                             \
    S(CanImportMemory)                                                                             \
    S(ImportMemory)                                                                                \
    R(ReleaseExternalMemoryHandle)                                                                 \
    S(CreateTensorFromMemory)                                                                      \
    S(CanImportSemaphore)                                                                          \
    S(ImportSemaphore)                                                                             \
    R(ReleaseExternalSemaphoreHandle)                                                              \
    S(WaitSemaphore)                                                                               \
    S(SignalSemaphore)                                                                             \
    S(InitGraphicsInteropForEpDevice)                                                              \
    S(DeinitGraphicsInteropForEpDevice)

static void release_none(void *of)
{
    (void)of;
}

#define R(name)
#define S(name)                                                                                    \
    static ort_status *absent_##name(void)                                                         \
    {                                                                                              \
        return ort_fail(ORT_NOT_IMPLEMENTED, "liblightnet-ort: %s is not implemented", #name);     \
    }
COMPILE_API MODEL_EDITOR_API INTEROP_API
#undef R
#undef S

#define R(name) (ort_slot) release_none,
#define S(name) (ort_slot) absent_##name,
    static const ort_slot compile_api[] = {COMPILE_API};
static const ort_slot model_editor_api[] = {MODEL_EDITOR_API};
static const ort_slot interop_api[] = {INTEROP_API};

static const ort_slot *GetCompileApi(void)
{
    return compile_api;
}

static const ort_slot *GetModelEditorApi(void)
{
    return model_editor_api;
}

static const ort_slot *GetInteropApi(void)
{
    return interop_api;
}

const ort_row ort_other_api_slots[] = {
    SLOT(GetCompileApi),
    SLOT(GetModelEditorApi),
    SLOT(GetInteropApi),
    SLOT_END,
};
