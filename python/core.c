// SPDX-License-Identifier: Apache-2.0
// The extension module `lightnetrt._core`: its state, its exceptions, its functions.

#include "core.h"

#include <string.h>

#include <lightnet/plugin.h>

// ---- Exceptions ----

// One class for each status: also the class that a Python program expects. LN_OK has the class for
// elements of another type, which no status tells apart from other invalid arguments.
typedef struct error_row {
    ln_status status;
    const char *name;
    PyObject **base;
    const char *doc;
} error_row;

static int add_error(PyObject *module, core_state *state, const error_row *row)
{
    PyObject *first = row->status == LN_OK ? state->errors[LN_INVALID] : state->error;
    PyObject *bases = PyTuple_Pack(2, first, *row->base);
    PyObject *members =
        bases ? Py_BuildValue("{s:s}", "status", ln_status_name(row->status)) : NULL;
    PyObject *made =
        members ? PyErr_NewExceptionWithDoc(row->name, row->doc, bases, members) : NULL;
    if (made && row->status == LN_OK) {
        PyObject *text = PyUnicode_FromString("LN_INVALID");
        if (!text || PyObject_SetAttrString(made, "status", text) < 0)
            Py_CLEAR(made);
        Py_XDECREF(text);
    }
    Py_XDECREF(bases);
    Py_XDECREF(members);
    state->errors[row->status] = made;
    const char *short_name = row->name + sizeof "lightnetrt." - 1;
    return made ? PyModule_AddObjectRef(module, short_name, made) : -1;
}

static int add_errors(PyObject *module, core_state *state)
{
    const error_row rows[] = {
        {LN_INVALID, "lightnetrt.InvalidError", &PyExc_ValueError,
         "A value, shape or name does not fit the model, or the model contradicts itself."},
        {LN_OK, "lightnetrt.DTypeError", &PyExc_TypeError,
         "The elements of an array have another type than the input. Nothing is converted."},
        {LN_NO_MEMORY, "lightnetrt.NoMemoryError", &PyExc_MemoryError, "Memory ran out."},
        {LN_NOT_FOUND, "lightnetrt.NotFoundError", &PyExc_LookupError,
         "There is no such tensor, operator or symbol."},
        {LN_EXISTS, "lightnetrt.ExistsError", &PyExc_FileExistsError, "It exists already."},
        {LN_IO, "lightnetrt.FileError", &PyExc_OSError, "A file could not be read or written."},
        {LN_SYNTAX, "lightnetrt.FormatError", &PyExc_ValueError, "A file is malformed."},
        {LN_UNSUPPORTED, "lightnetrt.UnsupportedError", &PyExc_NotImplementedError,
         "The model is valid, and the library does not support something in it."},
        {LN_LIMIT, "lightnetrt.LimitError", &PyExc_MemoryError,
         "The model is over a limit of memory, work or size."},
        {LN_STATE, "lightnetrt.StateError", &PyExc_RuntimeError,
         "Called in the wrong state, such as on a closed model."},
        {LN_INTERNAL, "lightnetrt.InternalError", &PyExc_RuntimeError, "A defect in the library."},
        {LN_TIMEOUT, "lightnetrt.TimeLimitError", &PyExc_TimeoutError, "Out of time."},
        {LN_CANCELLED, "lightnetrt.CancelledError", &PyExc_RuntimeError,
         "A Cancel object was requested."},
    };
    state->error = PyErr_NewExceptionWithDoc(
        "lightnetrt.Error",
        "What all exceptions of LightNet have in common; `status` names the status of the library.",
        NULL, NULL);
    if (!state->error || PyModule_AddObjectRef(module, "Error", state->error) < 0)
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (add_error(module, state, &rows[i]) < 0)
            return -1;
    }
    return 0;
}

// What messages call by the names that C and the command have for it.
static const struct {
    const char *word, *here;
} words[] = {
    {"(--timeout, ln_context_set_timeout)", "(time_limit)"},
    {"(--timeout, ln_session_set_timeout)", "(time_limit)"},
    {"(--work, ln_limits.work)", "(work_limit)"},
    {"(--work, ", "(work_limit, "},
    {"(--budget, ln_limits.memory_byte_count)", "(memory_limit)"},
    {"memory_byte_count of `ln_limits`, which `--budget=BYTES` sets", "memory_limit"},
    {"`--budget=", "`memory_limit="},
    {", or `ln_limits` in a program", ""},
    {"give the file (ln_context_add_file) or its folder (ln_context_set_folder)",
     "give the file (`files`) or its folder (`folder`)"},
    {"(ln_context_set_shape, -s)", "(`symbols`)"},
    {"register it, or load its plug-in, first", "load its plug-in first (load_plugin)"},
    {"(--plugin, ln_plugin_load)", "(load_plugin)"},
};

// Replaces `word` in the text, which is consumed; NULL with an exception.
static PyObject *replace_word(PyObject *text, const char *word, const char *here)
{
    PyObject *made = text ? PyObject_CallMethod(text, "replace", "ss", word, here) : NULL;
    Py_XDECREF(text);
    return made;
}

PyObject *core_raise(const core_state *state, ln_status status)
{
    PyObject *class = status > LN_OK && status < CORE_STATUS_COUNT ? state->errors[status] : NULL;
    const char *message = ln_error_message();
    if (!*message)
        message = ln_status_text(status);
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        text = replace_word(text, words[i].word, words[i].here);
    if (text)
        PyErr_SetObject(class ? class : state->error, text);
    Py_XDECREF(text);
    return NULL;
}

// ---- The module ----

core_state *core_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static PyObject *dtype_names(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *names = PyList_New(0);
    for (int i = 0; names && i < TL_DTYPE_SIZE; i++) {
        PyObject *name = PyUnicode_FromString(tl_dtype_title((tl_dtype)i));
        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

// ---- Plug-ins ----

// The name of the last plug-in of that file.
static const char *plugin_of(const char *path)
{
    const ln_plugin *plugin;
    const char *name = "";
    for (size_t i = 0; (plugin = ln_plugin_find_at(i)); i++)
        if (ln_plugin_path(plugin->name) && strcmp(ln_plugin_path(plugin->name), path) == 0)
            name = plugin->name;
    return name;
}

static PyObject *load_plugin(PyObject *module, PyObject *path)
{
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    const char *text = PyBytes_AsString(bytes);
    ln_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ln_plugin_load(text);
    Py_END_ALLOW_THREADS;
    PyObject *name = status == LN_OK ? PyUnicode_FromString(plugin_of(text))
                                     : core_raise(core_state_of(module), status);
    Py_DECREF(bytes);
    return name;
}

static PyObject *unload_plugin(PyObject *module, PyObject *name)
{
    PyObject *bytes; // without a NUL inside
    if (!PyUnicode_FSConverter(name, &bytes))
        return NULL;
    const char *text = PyBytes_AsString(bytes);
    ln_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ln_plugin_unload(text);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (status != LN_OK)
        return core_raise(core_state_of(module), status);
    Py_RETURN_NONE;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, type) < 0)
        Py_CLEAR(type);
    return type;
}

static int exec_module(PyObject *module)
{
    core_state *state = core_state_of(module);
    ln_status status = ln_arch_init();
    if (status != LN_OK) {
        PyErr_SetString(PyExc_ImportError, ln_error_message());
        return -1;
    }
    core_warnings_note();
    state->array_type = add_type(module, &core_array_spec);
    state->program_type = state->array_type ? add_type(module, &core_program_spec) : NULL;
    state->cancel_type = state->program_type ? add_type(module, &core_cancel_spec) : NULL;
    if (!state->cancel_type || add_errors(module, state) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", ln_version());
}

static int traverse_module(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = core_state_of(module);
    Py_VISIT(state->array_type);
    Py_VISIT(state->program_type);
    Py_VISIT(state->cancel_type);
    Py_VISIT(state->error);
    for (int i = 0; i < CORE_STATUS_COUNT; i++)
        Py_VISIT(state->errors[i]);
    return 0;
}

static int clear_module(PyObject *module)
{
    core_state *state = core_state_of(module);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->program_type);
    Py_CLEAR(state->cancel_type);
    Py_CLEAR(state->error);
    for (int i = 0; i < CORE_STATUS_COUNT; i++)
        Py_CLEAR(state->errors[i]);
    return 0;
}

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    {"from_dlpack", core_from_dlpack, METH_O,
     "from_dlpack(object, /)\n--\n\nAn Array in the memory of an object with __dlpack__."},
    {"convert", WITH_KEYWORDS(core_convert), METH_VARARGS | METH_KEYWORDS,
     "Writes a model as it was read to a file, and its weights to another; how many these are."},
    {"plan", WITH_KEYWORDS(core_plan), METH_VARARGS | METH_KEYWORDS,
     "The memory plan of a model, as a dict."},
    {"inspect", WITH_KEYWORDS(core_inspect), METH_VARARGS | METH_KEYWORDS,
     "What a model is and costs, as a dict."},
    {"preflight", core_preflight, METH_O,
     "What is in a model file, and all that keeps it from running, as a dict."},
    {"load_plugin", load_plugin, METH_O, "Loads a plug-in; its name."},
    {"unload_plugin", unload_plugin, METH_O, "Unloads the plug-in of a name."},
    {"dtypes", dtype_names, METH_NOARGS, "The names of all element types."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec_module},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "lightnetrt._core",
    .m_doc = "LightNet for Python: the compiled part. `lightnetrt` is what programs use.",
    .m_size = sizeof(core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse_module,
    .m_clear = clear_module,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
