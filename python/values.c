// SPDX-License-Identifier: Apache-2.0
// Values that are more than numbers: strings, sequences, maps and optionals, both ways.

#include "core.h"

#include <string.h>

// ---- Strings in ----

// Lists in lists of str and bytes, of which the first of each level tells the shape.
typedef struct string_list {
    int ndim, dims[LN_MAXDIM];
    ln_object *object;
    size_t count;
} string_list;

static int fail_ragged(const core_state *state, const char *what)
{
    PyErr_Format(state->errors[LN_INVALID],
                 "%s: the lists of strings are not all as long as the first one, or more than %d "
                 "lists are inside of each other",
                 what, LN_MAXDIM);
    return -1;
}

static int find_list_shape(const core_state *state, PyObject *value, string_list *list,
                           const char *what)
{
    PyObject *item = Py_NewRef(value);
    while (PyList_Check(item)) {
        Py_ssize_t len = PyList_Size(item);
        if (list->ndim == LN_MAXDIM || len > INT32_MAX) {
            Py_DECREF(item);
            return fail_ragged(state, what);
        }
        list->dims[list->ndim++] = (int)len;
        if (len == 0)
            break;
        PyObject *first = Py_NewRef(PyList_GetItem(item, 0));
        Py_DECREF(item);
        item = first;
    }
    Py_DECREF(item);
    return 0;
}

static int set_string(const core_state *state, PyObject *value, string_list *list, const char *what)
{
    Py_ssize_t len;
    const char *bytes;
    if (PyBytes_Check(value)) {
        len = PyBytes_Size(value);
        bytes = PyBytes_AsString(value);
    } else if (PyUnicode_Check(value)) {
        bytes = PyUnicode_AsUTF8AndSize(value, &len);
    } else {
        PyErr_Format(state->errors[LN_OK], "%s takes strings, not %R", what,
                     (PyObject *)Py_TYPE(value));
        return -1;
    }
    if (!bytes)
        return -1;
    ln_status status = ln_object_set_string(list->object, list->count++, bytes, (size_t)len);
    if (status != LN_OK)
        core_raise(state, status);
    return status == LN_OK ? 0 : -1;
}

static int set_strings(const core_state *state, PyObject *value, int axis, string_list *list,
                       const char *what)
{
    if (axis == list->ndim)
        return PyList_Check(value) ? fail_ragged(state, what)
                                   : set_string(state, value, list, what);
    if (!PyList_Check(value) || PyList_Size(value) != list->dims[axis])
        return fail_ragged(state, what);
    for (Py_ssize_t i = 0; i < list->dims[axis]; i++) {
        PyObject *item = Py_NewRef(PyList_GetItem(value, i));
        int result = set_strings(state, item, axis + 1, list, what);
        Py_DECREF(item);
        if (result < 0)
            return -1;
    }
    return 0;
}

// The shape of an array of NumPy, which lists of no elements do not tell.
static int find_array_shape(PyObject *value, string_list *list)
{
    PyObject *shape = PyObject_GetAttrString(value, "shape");
    if (!shape) {
        PyErr_Clear();
        return 0;
    }
    Py_ssize_t ndim = PyTuple_Check(shape) ? PyTuple_Size(shape) : 0;
    for (Py_ssize_t i = 0; i < ndim && i < LN_MAXDIM; i++)
        list->dims[i] = (int)PyLong_AsLong(PyTuple_GetItem(shape, i));
    list->ndim = ndim <= LN_MAXDIM ? (int)ndim : LN_MAXDIM;
    Py_DECREF(shape);
    return PyErr_Occurred() ? -1 : 0;
}

static ln_object *strings_from(const core_state *state, PyObject *value, const char *what)
{
    string_list list = {0};
    PyObject *lists = PyObject_HasAttrString(value, "tolist")
                          ? PyObject_CallMethod(value, "tolist", NULL)
                          : (PyTuple_Check(value) ? PySequence_List(value) : Py_NewRef(value));
    if (!lists || find_list_shape(state, lists, &list, what) < 0)
        goto failed;
    int is_empty = 0;
    for (int i = 0; i < list.ndim; i++)
        is_empty |= list.dims[i] == 0;
    if (is_empty && find_array_shape(value, &list) < 0)
        goto failed;
    list.object = ln_object_new_tensor(TL_STRING, list.ndim, list.dims, NULL);
    if (!list.object) {
        core_raise(state, ln_error_status());
        goto failed;
    }
    if (!is_empty && set_strings(state, lists, 0, &list, what) < 0)
        goto failed;
    Py_DECREF(lists);
    return list.object;
failed:
    Py_XDECREF(lists);
    ln_object_release(list.object);
    return NULL;
}

// ---- Values in ----

static ln_object *tensor_from(const core_state *state, PyObject *value, tl_dtype wanted,
                              const char *what)
{
    core_elements elements;
    if (core_elements_get(state, value, wanted, what, &elements) < 0)
        return NULL;
    ln_object *object = ln_object_copy_tensor(&elements.tensor, NULL);
    core_elements_release(&elements);
    if (!object)
        core_raise(state, ln_error_status());
    return object;
}

static int holds_strings(PyObject *value)
{
    if (PyUnicode_Check(value))
        return 1;
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *text = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, NULL) : "";
    int result = text && strchr("OSU", *text) && *text;
    PyErr_Clear();
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    return result;
}

static ln_object *sequence_from(const core_state *state, PyObject *value, const char *what)
{
    PyObject *items = PySequence_Tuple(value);
    Py_ssize_t count = items ? PyTuple_Size(items) : 0;
    ln_object **objects = items ? PyMem_Calloc((size_t)count + 1, sizeof *objects) : NULL;
    ln_object *sequence = NULL;
    tl_dtype dtype = TL_FLOAT; // of an empty one nothing is known
    Py_ssize_t made = 0;
    if (items && !objects)
        PyErr_NoMemory();
    for (; objects && made < count; made++) {
        objects[made] = core_object_from(state, PyTuple_GetItem(items, made), TL_OBJECT, what);
        if (!objects[made])
            break;
        if (made == 0)
            dtype = ln_object_elem_dtype(objects[0]);
    }
    if (objects && made == count) {
        sequence = ln_object_new_sequence(dtype, (size_t)count, objects);
        if (!sequence)
            core_raise(state, ln_error_status());
    }
    for (Py_ssize_t i = 0; i < made; i++)
        ln_object_release(objects[i]);
    PyMem_Free(objects);
    Py_XDECREF(items);
    return sequence;
}

// Keys and values of a dict: int or str to float, int or str.
static ln_object *column_from(const core_state *state, PyObject *column, const char *what)
{
    Py_ssize_t count = PyList_Size(column);
    int dims[] = {(int)count};
    PyObject *first = count > 0 ? PyList_GetItem(column, 0) : NULL;
    if (first && PyUnicode_Check(first))
        return strings_from(state, column, what);
    int is_integer = !first || PyLong_Check(first);
    ln_object *object = ln_object_new_tensor(is_integer ? TL_INT64 : TL_FLOAT, 1, dims, NULL);
    if (!object) {
        core_raise(state, ln_error_status());
        return NULL;
    }
    void *data = ln_object_tensor(object)->data;
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *item = PyList_GetItem(column, i);
        if (is_integer)
            ((int64_t *)data)[i] = PyLong_AsLongLong(item);
        else
            ((float *)data)[i] = (float)PyFloat_AsDouble(item);
    }
    if (!PyErr_Occurred())
        return object;
    ln_object_release(object);
    return NULL;
}

static ln_object *map_from(const core_state *state, PyObject *value, const char *what)
{
    PyObject *keys = PyDict_Keys(value), *values = PyDict_Values(value);
    ln_object *key_column = keys && values ? column_from(state, keys, what) : NULL;
    ln_object *value_column = key_column ? column_from(state, values, what) : NULL;
    ln_object *map = value_column ? ln_object_new_map(key_column, value_column) : NULL;
    if (value_column && !map)
        core_raise(state, ln_error_status());
    ln_object_release(key_column);
    ln_object_release(value_column);
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return map;
}

ln_object *core_object_from(const core_state *state, PyObject *value, tl_dtype wanted,
                            const char *what)
{
    if (wanted == TL_STRING)
        return strings_from(state, value, what);
    if (wanted != TL_OBJECT && wanted != TL_DTYPE_INVALID)
        return tensor_from(state, value, wanted, what);
    if (holds_strings(value))
        return strings_from(state, value, what);
    if (value == Py_None) {
        ln_object *none = ln_object_new_optional(NULL);
        if (!none)
            core_raise(state, ln_error_status());
        return none;
    }
    if (PyDict_Check(value))
        return map_from(state, value, what);
    if (PyList_Check(value) || PyTuple_Check(value))
        return sequence_from(state, value, what);
    return tensor_from(state, value, TL_DTYPE_INVALID, what);
}

// ---- Values out ----

static PyObject *shape_of(const tl_tensor *tensor)
{
    PyObject *shape = PyTuple_New(tensor->ndim);
    for (int i = 0; shape && i < tensor->ndim; i++) {
        PyObject *dim = PyLong_FromLong(tensor->dims[i]);
        if (!dim || PyTuple_SetItem(shape, i, dim) < 0)
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *strings_of(const tl_tensor *tensor)
{
    const char *const *texts = tensor->data;
    PyObject *list = PyList_New(tensor->len);
    for (int i = 0; list && i < tensor->len; i++) {
        const char *text = texts[i] ? texts[i] : "";
        PyObject *item = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *array_of(const core_state *state, const tl_tensor *tensor)
{
    int64_t shape[LN_MAXDIM] = {0};
    for (int i = 0; i < tensor->ndim; i++)
        shape[i] = tensor->dims[i];
    ln_ndarray *array;
    int is_bool = tensor->dtype == TL_BOOL;
    ln_status status = ln_ndarray_create(
        tensor->ndim, shape, is_bool ? (DLDataType){kDLBool, 8, 1} : tl_dtype_to_dl(tensor->dtype),
        &array);
    if (status != LN_OK)
        return core_raise(state, status);
    void *data = NULL;
    if (tensor->len > 0)
        status = ln_ndarray_write(&array, &data);
    if (status != LN_OK) {
        ln_ndarray_release(array);
        return core_raise(state, status);
    }
    Py_BEGIN_ALLOW_THREADS;
    if (is_bool) {
        const tl_bool *wide = tensor->data;
        for (int i = 0; i < tensor->len; i++)
            ((uint8_t *)data)[i] = wide[i] != 0;
    } else if (tensor->len > 0) {
        memcpy(data, tensor->data, ln_ndarray_byte_count(array));
    }
    Py_END_ALLOW_THREADS;
    return core_array_take(state, array, tensor->dtype);
}

static PyObject *value_of_object(const core_state *state, const ln_object *object,
                                 const core_makers *makers);

static PyObject *list_of(const core_state *state, const ln_object *object,
                         const core_makers *makers)
{
    Py_ssize_t count = (Py_ssize_t)ln_object_count(object);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *item = value_of_object(state, ln_object_item(object, (size_t)i), makers);
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

// Numbers and strings of Python, whatever the makers make.
static PyObject *column_of(const core_state *state, const ln_object *object)
{
    const tl_tensor *tensor = ln_object_tensor(object);
    if (tensor && tensor->dtype == TL_STRING)
        return strings_of(tensor);
    PyObject *array = tensor ? array_of(state, tensor) : NULL;
    PyObject *list = array ? PyObject_CallMethod(array, "tolist", NULL) : NULL;
    Py_XDECREF(array);
    return list;
}

static PyObject *dict_of(const core_state *state, const ln_object *object)
{
    PyObject *dict = NULL;
    PyObject *keys = column_of(state, ln_object_item(object, 0));
    PyObject *values = keys ? column_of(state, ln_object_item(object, 1)) : NULL;
    if (values)
        dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < PyList_Size(keys); i++) {
        if (PyDict_SetItem(dict, PyList_GetItem(keys, i), PyList_GetItem(values, i)) < 0)
            Py_CLEAR(dict);
    }
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return dict;
}

static PyObject *value_of_object(const core_state *state, const ln_object *object,
                                 const core_makers *makers)
{
    switch (object ? ln_object_get_kind(object) : LN_OBJECT_OPTIONAL) {
    case LN_OBJECT_TENSOR: return core_value_of_tensor(state, ln_object_tensor(object), makers);
    case LN_OBJECT_SEQUENCE: return list_of(state, object, makers);
    case LN_OBJECT_MAP: return dict_of(state, object);
    default: break;
    }
    const ln_object *item = object ? ln_object_item(object, 0) : NULL;
    if (!item)
        Py_RETURN_NONE;
    return value_of_object(state, item, makers);
}

PyObject *core_value_of_tensor(const core_state *state, const tl_tensor *tensor,
                               const core_makers *makers)
{
    if (tensor->dtype == TL_OBJECT) {
        ln_object *const *objects = tensor->data;
        return value_of_object(state, objects ? *objects : NULL, makers);
    }
    if (tensor->dtype == TL_STRING) {
        PyObject *list = strings_of(tensor), *shape = list ? shape_of(tensor) : NULL;
        PyObject *made =
            shape ? PyObject_CallFunctionObjArgs(makers->strings, list, shape, NULL) : NULL;
        Py_XDECREF(list);
        Py_XDECREF(shape);
        return made;
    }
    PyObject *array = array_of(state, tensor);
    PyObject *made = array ? PyObject_CallFunctionObjArgs(makers->array, array, NULL) : NULL;
    Py_XDECREF(array);
    return made;
}
