// SPDX-License-Identifier: Apache-2.0
// What the parts of the extension module share: its state, exceptions, arrays and conversions.
//
// Only the limited API of Python 3.11 and LightNet's public headers are used, so that one file
// serves every later Python. Types are heap types in a module with state, made by multi-phase
// initialization; nothing is global. What the stable ABI of free-threaded Python (abi3t) asks for
// besides comes with headers newer than 3.11: objects begin with a PyObject, whose size it hides,
// and the module has a PyModuleDef.

#ifndef LIGHTNETRT_CORE_H
#define LIGHTNETRT_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <lightnet/use.h>

#define CORE_STATUS_COUNT (LN_CANCELLED + 1)

typedef struct core_state {
    PyObject *error;                     // lightnetrt.Error
    PyObject *errors[CORE_STATUS_COUNT]; // by status; [LN_OK] is DTypeError
    PyTypeObject *array_type, *program_type, *cancel_type;
} core_state;

core_state *core_state_of(PyObject *module);

// Sets the exception of `status`, with this thread's message. Returns NULL.
PyObject *core_raise(const core_state *state, ln_status status);

// ---- warnings.c ----

// Notes warnings of the library from here on, in each thread its own.
void core_warnings_note(void);

// Raises what this thread has noted as RuntimeWarning. Returns 0, or -1 with an exception where the
// program makes exceptions of warnings.
int core_warnings_raise(void);

// ---- array.c ----

extern PyType_Spec core_array_spec;

// A new reference to an Array that takes `array` over, also on failure. `dtype` is how the elements
// are read.
PyObject *core_array_take(const core_state *state, ln_ndarray *array, tl_dtype dtype);

// Elements of a Python object as they are in memory: `array` and `dims` are valid until
// `core_elements_release`.
typedef struct core_elements {
    tl_tensor tensor; // borrows what follows
    int dims[LN_MAXDIM];
    Py_buffer view;
    ln_ndarray *array; // NULL: there is none
    void *copy;        // NULL: the elements are where the object has them
    int has_view;
} core_elements;

// The elements of an object with a buffer or `__dlpack__`, in row-major order, of type `wanted` or,
// if that is TL_DTYPE_INVALID, of their own type. `what` names the argument in messages. Returns 0,
// or -1 with an exception and nothing to release.
int core_elements_get(const core_state *state, PyObject *object, tl_dtype wanted, const char *what,
                      core_elements *out_elements);
void core_elements_release(core_elements *elements);

PyObject *core_from_dlpack(PyObject *module, PyObject *object);

// "float32" -> TL_FLOAT; TL_DTYPE_INVALID for other names.
tl_dtype core_dtype_from_title(const char *title);

// ---- values.c ----

// What makes results: `array(Array)` and `strings(list, shape)`, borrowed.
typedef struct core_makers {
    PyObject *array, *strings;
} core_makers;

// A value of any kind as an object of the library, NULL with an exception. A list is a sequence, a
// dict a map, None an optional without content.
ln_object *core_object_from(const core_state *state, PyObject *value, tl_dtype wanted,
                            const char *what);

// The opposite; a new reference.
PyObject *core_value_of_tensor(const core_state *state, const tl_tensor *tensor,
                               const core_makers *makers);

// ---- program.c ----

extern PyType_Spec core_program_spec;
extern PyType_Spec core_cancel_spec;

// The request in a Cancel, borrowed; NULL with a TypeError for other objects.
ln_cancel *core_cancel_of(const core_state *state, PyObject *object);

// ---- context.c ----

// How a model is read and compiled; texts are borrowed from Python objects in `kept`.
typedef struct core_options {
    PyObject *kept; // a list
    Py_buffer bytes;
    int has_bytes;
    Py_buffer *files; // `file_count` of them
    const char **file_names;
    size_t file_count;
    const char *path, *name, *weights, *folder;
    const char *target;    // NULL: the devices, and "cpu"
    const char *rounding;  // NULL: "float"
    const char *signature; // NULL: the first subgraph
    size_t threads;
    ln_limits limits;
    double timeout;
    int is_strict, is_as_read, is_resizable, fails_over, symbols_may_be_missing;
    const char *symbol_names[64];
    int symbol_from[64], symbol_to[64];
    size_t symbol_count;
    const char *device_names[16], *device_texts[16];
    size_t device_count;
    const char **made_inputs;
    size_t made_input_count;
} core_options;

// Reads the keywords of `Program`. 0, or -1 with an exception; to be released in either case.
int core_options_parse(PyObject *args, PyObject *kwargs, core_options *out_options);
void core_options_release(core_options *options);

// A READY, PLANNED or LOADED context; without the GIL. The caller frees *out_ctx.
ln_status core_context_open(const core_options *options, ln_context_state state,
                            ln_context **out_ctx);

PyObject *core_info_dict(const ln_model_info *info);
PyObject *core_convert(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_plan(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_inspect(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_preflight(PyObject *module, PyObject *source);

#endif
