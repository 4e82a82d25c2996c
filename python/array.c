// SPDX-License-Identifier: Apache-2.0
// Array: an ln_ndarray for Python, with a buffer and with DLPack; and elements of Python objects.

#include "core.h"

#include <limits.h>
#include <string.h>

typedef struct core_array {
    PyObject ob_base;
    ln_ndarray *array;
    tl_dtype dtype;
    Py_ssize_t shape[LN_NDARRAY_MAX_NDIM], strides[LN_NDARRAY_MAX_NDIM]; // strides in bytes
} core_array;

// How the elements are in a buffer: format characters of `struct`, and NumPy's for complex numbers.
// Types that Python does not have are their bits.
static const char *format_of(tl_dtype dtype)
{
    switch (dtype) {
    case TL_DOUBLE: return "d";
    case TL_FLOAT: return "f";
    case TL_FLOAT16: return "e";
    case TL_INT32: return "i";
    case TL_INT16: return "h";
    case TL_INT8:
    case TL_INT4:
    case TL_INT2: return "b";
    case TL_UINT32: return "I";
    case TL_UINT16:
    case TL_BFLOAT16: return "H";
    case TL_INT64: return sizeof(long) == 8 ? "l" : "q";
    case TL_UINT64: return sizeof(long) == 8 ? "L" : "Q";
    case TL_BOOL: return "?";
    case TL_COMPLEX64: return "Zf";
    case TL_COMPLEX128: return "Zd";
    default: return "B";
    }
}

// The element type of a buffer's format; TL_DTYPE_INVALID for structures, strings, and numbers in
// the byte order of another machine.
static tl_dtype dtype_of_format(const char *format, Py_ssize_t itemsize)
{
    if (!format)
        return TL_UINT8;
    const int one = 1;
    const int is_little = *(const char *)&one;
    if (*format == '@' || *format == '=' || (*format == '<' && is_little) ||
        (*format == '>' && !is_little))
        format++;
    if (strcmp(format, "Zf") == 0)
        return TL_COMPLEX64;
    if (strcmp(format, "Zd") == 0)
        return TL_COMPLEX128;
    if (!*format || format[1])
        return TL_DTYPE_INVALID;
    if (*format == '?')
        return TL_BOOL;
    if (*format == 'e')
        return TL_FLOAT16;
    if (*format == 'f')
        return TL_FLOAT;
    if (*format == 'd')
        return TL_DOUBLE;
    static const tl_dtype of_signed[] = {TL_INT8, TL_INT16, TL_INT32, TL_INT64};
    static const tl_dtype of_unsigned[] = {TL_UINT8, TL_UINT16, TL_UINT32, TL_UINT64};
    int power = itemsize == 1 ? 0 : itemsize == 2 ? 1 : itemsize == 4 ? 2 : itemsize == 8 ? 3 : -1;
    if (power < 0)
        return TL_DTYPE_INVALID;
    if (strchr("bhilqn", *format))
        return of_signed[power];
    return strchr("BHILQN", *format) ? of_unsigned[power] : TL_DTYPE_INVALID;
}

tl_dtype core_dtype_from_title(const char *title)
{
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        if (strcmp(tl_dtype_title((tl_dtype)i), title) == 0)
            return (tl_dtype)i;
    }
    return TL_DTYPE_INVALID;
}

// An element of a bool tensor has 4 bytes, of an array 1.
static size_t array_elem_bytes(tl_dtype dtype)
{
    return dtype == TL_BOOL ? 1 : tl_size_of(dtype);
}

PyObject *core_array_take(const core_state *state, ln_ndarray *array, tl_dtype dtype)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->array_type, Py_tp_alloc);
    core_array *self = (core_array *)alloc(state->array_type, 0);
    if (!self) {
        ln_ndarray_release(array);
        return NULL;
    }
    self->array = array;
    self->dtype = dtype;
    Py_ssize_t elem_bytes = (Py_ssize_t)array_elem_bytes(dtype);
    for (int i = 0; i < ln_ndarray_ndim(array); i++) {
        self->shape[i] = (Py_ssize_t)ln_ndarray_shape(array)[i];
        self->strides[i] = (Py_ssize_t)ln_ndarray_strides(array)[i] * elem_bytes;
    }
    return (PyObject *)self;
}

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static void free_array(PyObject *object)
{
    core_array *self = (core_array *)object;
    PyTypeObject *type = Py_TYPE(object);
    ln_ndarray_release(self->array);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static int shape_from(PyObject *object, int64_t *out_shape, int *out_ndim)
{
    PyObject *dims = PySequence_Tuple(object);
    if (!dims)
        return -1;
    Py_ssize_t ndim = PyTuple_Size(dims);
    if (ndim > LN_NDARRAY_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "an array has at most %d dimensions, not %zd",
                     LN_NDARRAY_MAX_NDIM, ndim);
        ndim = -1;
    }
    for (Py_ssize_t i = 0; i < ndim; i++) {
        out_shape[i] = PyLong_AsLongLong(PyTuple_GetItem(dims, i));
        if (out_shape[i] == -1 && PyErr_Occurred())
            ndim = -1;
    }
    Py_DECREF(dims);
    *out_ndim = (int)ndim;
    return ndim < 0 ? -1 : 0;
}

static DLDataType dl_type(tl_dtype dtype)
{
    return dtype == TL_BOOL ? (DLDataType){kDLBool, 8, 1} : tl_dtype_to_dl(dtype);
}

static PyObject *new_array(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "shape", "data", NULL};
    core_state *state = PyType_GetModuleState(type);
    const char *title;
    PyObject *dims, *data = NULL;
    int64_t shape[LN_NDARRAY_MAX_NDIM];
    int ndim;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|O", names, &title, &dims, &data) ||
        shape_from(dims, shape, &ndim) < 0)
        return NULL;
    tl_dtype dtype = core_dtype_from_title(title);
    if (dtype == TL_DTYPE_INVALID || dtype == TL_STRING || dtype == TL_OBJECT)
        return PyErr_Format(PyExc_ValueError, "'%s' is not an element type of an array", title);
    ln_ndarray *array;
    ln_status status = ln_ndarray_create(ndim, shape, dl_type(dtype), &array);
    if (status != LN_OK)
        return core_raise(state, status);
    if (data && data != Py_None) {
        Py_buffer view;
        if (PyObject_GetBuffer(data, &view, PyBUF_CONTIG_RO) < 0) {
            ln_ndarray_release(array);
            return NULL;
        }
        status = ln_ndarray_set_bytes(array, view.buf, (size_t)view.len);
        PyBuffer_Release(&view);
        if (status != LN_OK) {
            ln_ndarray_release(array);
            return core_raise(state, status);
        }
    }
    return core_array_take(state, array, dtype);
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    core_array *self = (core_array *)object;
    static char none; // of no elements
    const void *data = ln_ndarray_data(self->array);
    view->obj = NULL;
    if (!data && ln_ndarray_elem_count(self->array) > 0) {
        PyErr_SetString(PyExc_BufferError, "the array is not in main memory");
        return -1;
    }
    int is_read_only = ln_ndarray_is_read_only(self->array);
    if ((flags & PyBUF_WRITABLE) && is_read_only) {
        PyErr_SetString(PyExc_BufferError, "the array is read only");
        return -1;
    }
    int is_contiguous = ln_ndarray_is_contiguous(self->array);
    int wants_c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    int wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    int ndim = ln_ndarray_ndim(self->array);
    if ((!is_contiguous && (wants_c || !wants_strides)) ||
        ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && ndim > 1)) {
        PyErr_SetString(PyExc_BufferError, "the array has another order of elements");
        return -1;
    }
    view->buf = data ? (void *)(uintptr_t)data : &none;
    view->len = (Py_ssize_t)ln_ndarray_byte_count(self->array);
    view->itemsize = (Py_ssize_t)array_elem_bytes(self->dtype);
    view->readonly = is_read_only;
    view->ndim = ndim;
    view->format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)format_of(self->dtype) : NULL;
    view->shape = (flags & PyBUF_ND) ? self->shape : NULL;
    view->strides = wants_strides ? self->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    view->obj = Py_NewRef(object);
    return 0;
}

// ---- DLPack out ----

// An unconsumed capsule releases its record; a consumed one has another name.
static void free_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        managed->deleter(managed);
    }
}

static void free_unversioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
        managed->deleter(managed);
    }
}

static PyObject *to_dlpack(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    core_array *self = (core_array *)object;
    core_state *state = state_of(object);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO", names, &stream, &version, &device,
                                     &copy))
        return NULL;
    if (stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "main memory has no streams: stream must be None");
        return NULL;
    }
    if (device != Py_None) {
        int kind, id;
        if (!PyArg_ParseTuple(device, "ii", &kind, &id))
            return NULL;
        if (kind != kDLCPU || id != 0) {
            PyErr_SetString(PyExc_BufferError, "the array is in main memory: dl_device is (1, 0)");
            return NULL;
        }
    }
    long major = 0;
    if (version != Py_None) {
        long minor;
        if (!PyArg_ParseTuple(version, "ll", &major, &minor))
            return NULL;
    }
    ln_ndarray *exported = NULL;
    if (copy == Py_True) {
        ln_status status = ln_ndarray_clone(self->array, &exported);
        if (status != LN_OK)
            return core_raise(state, status);
    } else {
        exported = ln_ndarray_retain(self->array);
    }
    PyObject *capsule = NULL;
    if (major >= 1) {
        DLManagedTensorVersioned *managed = ln_ndarray_to_dlpack_versioned(exported);
        if (managed && copy == Py_True)
            managed->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
        capsule = managed ? PyCapsule_New(managed, "dltensor_versioned", free_versioned) : NULL;
        if (managed && !capsule)
            managed->deleter(managed);
    } else {
        DLManagedTensor *managed = ln_ndarray_to_dlpack(exported);
        capsule = managed ? PyCapsule_New(managed, "dltensor", free_unversioned) : NULL;
        if (managed && !capsule)
            managed->deleter(managed);
    }
    ln_ndarray_release(exported);
    if (!capsule && !PyErr_Occurred())
        PyErr_SetString(PyExc_BufferError, ln_error_message());
    return capsule;
}

static PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", (int)kDLCPU, 0);
}

// ---- DLPack in ----

static PyObject *call_dlpack(PyObject *object)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *args = method ? PyTuple_New(0) : NULL;
    PyObject *kwargs =
        args ? Py_BuildValue("{s:(ii)}", "max_version", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION)
             : NULL;
    PyObject *capsule = kwargs ? PyObject_Call(method, args, kwargs) : NULL;
    // Producers from before DLPack 1.0 do not know of versions.
    if (!capsule && kwargs && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_Call(method, args, NULL);
    }
    Py_XDECREF(method);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return capsule;
}

static ln_ndarray *take_dlpack(const core_state *state, PyObject *object)
{
    PyObject *capsule = call_dlpack(object);
    if (!capsule)
        return NULL;
    ln_ndarray *array = NULL;
    ln_status status = LN_OK;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        status = ln_ndarray_from_dlpack_versioned(managed, &array);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
        PyCapsule_SetName(capsule, "used_dltensor");
        status = ln_ndarray_from_dlpack(managed, &array);
    } else {
        PyErr_SetString(PyExc_TypeError, "__dlpack__ did not return an unconsumed capsule of "
                                         "DLPack");
    }
    Py_DECREF(capsule);
    if (status != LN_OK)
        core_raise(state, status);
    return array;
}

PyObject *core_from_dlpack(PyObject *module, PyObject *object)
{
    core_state *state = core_state_of(module);
    ln_ndarray *array = take_dlpack(state, object);
    if (!array)
        return NULL;
    tl_dtype dtype = tl_dtype_from_dl(ln_ndarray_dtype(array));
    if (dtype == TL_DTYPE_INVALID || array_elem_bytes(dtype) * 8 != ln_ndarray_dtype(array).bits) {
        ln_ndarray_release(array);
        PyErr_SetString(state->errors[LN_OK], "the array has elements of a type that LightNet does "
                                              "not have");
        return NULL;
    }
    return core_array_take(state, array, dtype);
}

// ---- Elements of Python objects ----

void core_elements_release(core_elements *elements)
{
    if (elements->has_view)
        PyBuffer_Release(&elements->view);
    elements->has_view = 0;
    ln_ndarray_release(elements->array);
    elements->array = NULL;
    PyMem_Free(elements->copy);
    elements->copy = NULL;
}

// Types whose elements look like `have`, because Python has no name for them.
static int is_stored_as(tl_dtype wanted, tl_dtype have)
{
    if (wanted == have || wanted == TL_DTYPE_INVALID)
        return 1;
    if (wanted == TL_BFLOAT16)
        return have == TL_UINT16;
    if (wanted == TL_INT4 || wanted == TL_INT2)
        return have == TL_INT8;
    return wanted >= TL_FLOAT8E4M3FN && wanted <= TL_UINT2 && have == TL_UINT8;
}

static int fail_dtype(const core_state *state, const char *what, tl_dtype wanted, const char *have)
{
    const char *title = tl_dtype_title(wanted);
    int is_quantized = (wanted == TL_INT8 || wanted == TL_UINT8) && strncmp(have, "float", 5) == 0;
    PyErr_Format(state->errors[LN_OK],
                 "%s takes %s, the array has %s; convert it first: x.astype('%s')%s", what, title,
                 have, title,
                 is_quantized ? "; real numbers are quantized first: round(x / scale) + zero" : "");
    return -1;
}

// bool: 1 byte in Python, 4 in a tensor.
static int widen_bools(core_elements *elements, const uint8_t *bytes)
{
    size_t count = (size_t)elements->tensor.len;
    tl_bool *wide = PyMem_Malloc(count * sizeof *wide + 1);
    if (!wide) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        wide[i] = bytes[i] != 0;
    PyMem_Free(elements->copy);
    elements->copy = wide;
    elements->tensor.data = wide;
    return 0;
}

static int set_shape(const core_state *state, core_elements *elements, int ndim,
                     const int64_t *dims64, const char *what)
{
    int is_valid = ndim <= LN_MAXDIM;
    for (int i = 0; is_valid && i < ndim; i++) {
        is_valid = dims64[i] <= INT_MAX;
        elements->dims[i] = (int)dims64[i];
    }
    int len = 0;
    if (!is_valid || !tl_shape_len(ndim, elements->dims, &len)) {
        PyErr_Format(state->errors[LN_LIMIT],
                     "%s: the array has %d dimensions, or too many elements; a tensor has at most "
                     "%d dimensions and 2147483647 elements",
                     what, ndim, LN_MAXDIM);
        return -1;
    }
    elements->tensor.ndim = ndim;
    elements->tensor.dims = elements->dims;
    elements->tensor.len = len;
    return 0;
}

static int from_buffer(const core_state *state, PyObject *object, tl_dtype wanted, const char *what,
                       core_elements *elements)
{
    if (PyObject_GetBuffer(object, &elements->view, PyBUF_FULL_RO) < 0)
        return -1;
    elements->has_view = 1;
    const Py_buffer *view = &elements->view;
    tl_dtype have = dtype_of_format(view->format, view->itemsize);
    if (have == TL_DTYPE_INVALID && wanted == TL_DTYPE_INVALID) {
        PyErr_Format(state->errors[LN_OK], "%s: no tensor has elements of format '%s'", what,
                     view->format);
        return -1;
    }
    if (have == TL_DTYPE_INVALID || !is_stored_as(wanted, have))
        return fail_dtype(state, what, wanted,
                          have == TL_DTYPE_INVALID ? view->format : tl_dtype_title(have));
    elements->tensor.dtype = wanted == TL_DTYPE_INVALID ? have : wanted;
    int64_t dims[LN_MAXDIM] = {0};
    for (int i = 0; i < view->ndim && i < LN_MAXDIM; i++)
        dims[i] = view->shape ? view->shape[i] : view->len / (view->itemsize ? view->itemsize : 1);
    if (set_shape(state, elements, view->ndim, dims, what) < 0)
        return -1;
    elements->tensor.data = view->buf;
    if (!PyBuffer_IsContiguous(view, 'C') || (uintptr_t)view->buf % 8 != 0) {
        elements->copy = PyMem_Malloc((size_t)view->len + 1);
        if (!elements->copy) {
            PyErr_NoMemory();
            return -1;
        }
        if (PyBuffer_ToContiguous(elements->copy, &elements->view, view->len, 'C') < 0)
            return -1;
        elements->tensor.data = elements->copy;
    }
    return have == TL_BOOL ? widen_bools(elements, elements->tensor.data) : 0;
}

static int from_dlpack(const core_state *state, PyObject *object, tl_dtype wanted, const char *what,
                       core_elements *elements)
{
    elements->array = take_dlpack(state, object);
    if (!elements->array)
        return -1;
    DLDataType type = ln_ndarray_dtype(elements->array);
    tl_dtype have = tl_dtype_from_dl(type);
    if (wanted == TL_DTYPE_INVALID)
        wanted = have;
    if (have == TL_DTYPE_INVALID || !is_stored_as(wanted, have) ||
        array_elem_bytes(have) * 8 != type.bits) {
        char text[48];
        PyOS_snprintf(text, sizeof text, "elements of DLPack code %d with %d bits", type.code,
                      type.bits);
        return fail_dtype(state, what, wanted == TL_DTYPE_INVALID ? TL_FLOAT : wanted,
                          have == TL_DTYPE_INVALID ? text : tl_dtype_title(have));
    }
    elements->tensor.dtype = wanted;
    if (set_shape(state, elements, ln_ndarray_ndim(elements->array),
                  ln_ndarray_shape(elements->array), what) < 0)
        return -1;
    const void *data = ln_ndarray_data(elements->array);
    elements->tensor.data = (void *)(uintptr_t)data;
    size_t byte_count = ln_ndarray_byte_count(elements->array);
    if (!ln_ndarray_is_contiguous(elements->array) || (uintptr_t)data % 8 != 0 ||
        (!data && byte_count > 0)) {
        elements->copy = PyMem_Malloc(byte_count + 1);
        if (!elements->copy) {
            PyErr_NoMemory();
            return -1;
        }
        ln_status status = ln_ndarray_get_bytes(elements->array, elements->copy, byte_count);
        if (status != LN_OK) {
            core_raise(state, status);
            return -1;
        }
        elements->tensor.data = elements->copy;
    }
    return have == TL_BOOL ? widen_bools(elements, elements->tensor.data) : 0;
}

int core_elements_get(const core_state *state, PyObject *object, tl_dtype wanted, const char *what,
                      core_elements *out_elements)
{
    memset(out_elements, 0, sizeof *out_elements);
    int result = -1;
    // A read-only array of NumPy refuses the DLPack of before 1.0, and all have a buffer.
    if (PyObject_CheckBuffer(object))
        result = from_buffer(state, object, wanted, what, out_elements);
    else if (PyObject_HasAttrString(object, "__dlpack__"))
        result = from_dlpack(state, object, wanted, what, out_elements);
    else
        PyErr_Format(state->errors[LN_OK],
                     "%s takes an array with a buffer or with __dlpack__, not %R", what,
                     (PyObject *)Py_TYPE(object));
    if (result < 0)
        core_elements_release(out_elements);
    return result;
}

// ---- The type ----

static PyObject *get_shape(PyObject *object, void *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    int ndim = ln_ndarray_ndim(self->array);
    PyObject *shape = PyTuple_New(ndim);
    for (int i = 0; shape && i < ndim; i++) {
        PyObject *dim = PyLong_FromSsize_t(self->shape[i]);
        if (!dim || PyTuple_SetItem(shape, i, dim) < 0)
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *get_dtype(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tl_dtype_title(((core_array *)object)->dtype));
}

static PyObject *get_nbytes(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(ln_ndarray_byte_count(((core_array *)object)->array));
}

static PyObject *to_bytes(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_array *self = (core_array *)object;
    size_t byte_count = ln_ndarray_byte_count(self->array);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)byte_count);
    if (!bytes)
        return NULL;
    ln_status status = ln_ndarray_get_bytes(self->array, PyBytes_AsString(bytes), byte_count);
    if (status == LN_OK)
        return bytes;
    Py_DECREF(bytes);
    return core_raise(state_of(object), status);
}

static PyObject *to_list(PyObject *object, PyObject *unused)
{
    (void)unused;
    PyObject *view = PyMemoryView_FromObject(object);
    PyObject *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;
    Py_XDECREF(view);
    return list;
}

static PyObject *reduce(PyObject *object, PyObject *unused)
{
    (void)unused;
    PyObject *dtype = get_dtype(object, NULL), *shape = get_shape(object, NULL);
    PyObject *bytes = to_bytes(object, NULL);
    PyObject *result =
        dtype && shape && bytes
            ? Py_BuildValue("(O(OOO))", (PyObject *)Py_TYPE(object), dtype, shape, bytes)
            : NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_XDECREF(bytes);
    return result;
}

static PyObject *represent(PyObject *object)
{
    PyObject *shape = get_shape(object, NULL);
    PyObject *text =
        shape ? PyUnicode_FromFormat("lightnetrt.Array('%s', %R)",
                                     tl_dtype_title(((core_array *)object)->dtype), shape)
              : NULL;
    Py_XDECREF(shape);
    return text;
}

static Py_ssize_t length(PyObject *object)
{
    core_array *self = (core_array *)object;
    if (ln_ndarray_ndim(self->array) > 0)
        return self->shape[0];
    PyErr_SetString(PyExc_TypeError, "a scalar has no length");
    return -1;
}

static PyGetSetDef array_members[] = {
    {"shape", get_shape, NULL, "The dimensions: a tuple of int.", NULL},
    {"dtype", get_dtype, NULL, "The element type by name, such as 'float32' or 'bfloat16'.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))to_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA "
     "capsule of DLPack: of version 1 where max_version allows it."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "(1, 0): main memory."},
    {"__reduce__", reduce, METH_NOARGS, "For pickle."},
    {"tobytes", to_bytes, METH_NOARGS, "A copy of the elements, in row-major order."},
    {"tolist", to_list, METH_NOARGS, "The elements as nested lists."},
    {NULL, NULL, 0, NULL},
};

// Slots take functions as data, which C leaves to the system.
#define SLOT(function) ((void *)(uintptr_t)(function))

static PyType_Slot array_slots[] = {
    {Py_tp_new, SLOT(new_array)},
    {Py_tp_dealloc, SLOT(free_array)},
    {Py_tp_repr, SLOT(represent)},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_members},
    {Py_bf_getbuffer, SLOT(get_buffer)},
    {Py_sq_length, SLOT(length)},
    {Py_tp_doc, (void *)(uintptr_t) "Array(dtype, shape, data=None)\n--\n\nAn array of `shape`, of "
                                    "zeros or of the bytes of `data`. It has a buffer\n"
                                    "(memoryview, numpy.asarray) and __dlpack__ "
                                    "(torch.from_dlpack); neither copies."},
    {0, NULL},
};

PyType_Spec core_array_spec = {
    .name = "lightnetrt.Array",
    .basicsize = sizeof(core_array),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = array_slots,
};
