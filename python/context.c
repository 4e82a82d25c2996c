// SPDX-License-Identifier: Apache-2.0
// Reading and compiling a model with options, and what a context tells about it as dicts.

#include "core.h"

#include <lightnet/serializer.h>

#include <string.h>

// ---- Options ----

void core_options_release(core_options *options)
{
    if (options->has_bytes)
        PyBuffer_Release(&options->bytes);
    for (size_t i = 0; i < options->file_count; i++)
        PyBuffer_Release(&options->files[i]);
    PyMem_Free(options->files);
    PyMem_Free((void *)(uintptr_t)options->file_names);
    PyMem_Free((void *)(uintptr_t)options->made_inputs);
    Py_XDECREF(options->kept);
    memset(options, 0, sizeof *options);
}

// A path as the system takes it; NULL for None.
static int keep_path(core_options *options, PyObject *value, const char **out_path)
{
    PyObject *bytes;
    if (!value || value == Py_None)
        return 0;
    if (!PyUnicode_FSConverter(value, &bytes))
        return -1;
    *out_path = PyBytes_AsString(bytes);
    int result = PyList_Append(options->kept, bytes);
    Py_DECREF(bytes);
    return result;
}

static int parse_symbols(core_options *options, PyObject *symbols)
{
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(symbols, &position, &key, &value)) {
        size_t i = options->symbol_count;
        if (i == sizeof options->symbol_from / sizeof *options->symbol_from) {
            PyErr_SetString(PyExc_ValueError, "symbols: at most 64");
            return -1;
        }
        options->symbol_names[i] = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!options->symbol_names[i])
            return -1;
        if (PyTuple_Check(value)) {
            if (!PyArg_ParseTuple(value, "ii", &options->symbol_from[i], &options->symbol_to[i]))
                return -1;
        } else {
            long dim = PyLong_AsLong(value);
            if (PyErr_Occurred())
                return -1;
            if (dim < 0 || dim > INT32_MAX) {
                PyErr_Format(PyExc_ValueError, "symbols: %R cannot be %ld", key, dim);
                return -1;
            }
            options->symbol_from[i] = -1;
            options->symbol_to[i] = (int)dim;
        }
        options->symbol_count++;
    }
    return 0;
}

// {"echo:1": "delay=5,depth=2"}
static int parse_devices(core_options *options, PyObject *devices)
{
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(devices, &position, &key, &value)) {
        size_t i = options->device_count;
        if (i == sizeof options->device_names / sizeof *options->device_names) {
            PyErr_SetString(PyExc_ValueError, "devices: at most 16");
            return -1;
        }
        options->device_names[i] = PyUnicode_AsUTF8AndSize(key, NULL);
        options->device_texts[i] = PyUnicode_AsUTF8AndSize(value, NULL);
        if (!options->device_names[i] || !options->device_texts[i])
            return -1;
        options->device_count++;
    }
    return 0;
}

static int parse_files(core_options *options, PyObject *files)
{
    size_t count = (size_t)PyDict_Size(files);
    options->files = PyMem_Calloc(count + 1, sizeof *options->files);
    options->file_names = PyMem_Calloc(count + 1, sizeof *options->file_names);
    if (!options->files || !options->file_names) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(files, &position, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name ||
            PyObject_GetBuffer(value, &options->files[options->file_count], PyBUF_CONTIG_RO) < 0)
            return -1;
        options->file_names[options->file_count++] = name;
    }
    return 0;
}

static int parse_names(core_options *options, PyObject *names)
{
    PyObject *list = PySequence_List(names);
    if (!list || PyList_Append(options->kept, list) < 0) {
        Py_XDECREF(list);
        return -1;
    }
    Py_DECREF(list); // `kept` has it
    options->made_inputs =
        PyMem_Calloc((size_t)PyList_Size(list) + 1, sizeof *options->made_inputs);
    if (!options->made_inputs) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!name)
            return -1;
        options->made_inputs[options->made_input_count++] = name;
    }
    return 0;
}

static int parse_source(core_options *options, PyObject *source)
{
    if (PyObject_CheckBuffer(source)) {
        if (PyObject_GetBuffer(source, &options->bytes, PyBUF_CONTIG_RO) < 0)
            return -1;
        options->has_bytes = 1;
        return 0;
    }
    return keep_path(options, source, &options->path);
}

int core_options_parse(PyObject *args, PyObject *kwargs, core_options *out_options)
{
    static char *names[] = {"source",     "name",        "weights",
                            "target",     "threads",     "memory_limit",
                            "work_limit", "timeout",     "folder",
                            "files",      "symbols",     "strict",
                            "as_read",    "made_inputs", "symbols_may_be_missing",
                            "devices",    "failover",    "rounding",
                            "signature",  "resizable",   NULL};
    core_options *options = out_options;
    memset(options, 0, sizeof *options);
    options->limits = ln_limits_default();
    PyObject *source, *weights = NULL, *folder = NULL, *files = NULL, *symbols = NULL;
    PyObject *made_inputs = NULL, *devices = NULL;
    Py_ssize_t threads = 0;
    unsigned long long memory = 0;
    double work = 0;
    options->kept = PyList_New(0);
    if (!options->kept ||
        !PyArg_ParseTupleAndKeywords(
            args, kwargs, "O|zOznKddOO!O!ppOpO!pzzp", names, &source, &options->name, &weights,
            &options->target, &threads, &memory, &work, &options->timeout, &folder, &PyDict_Type,
            &files, &PyDict_Type, &symbols, &options->is_strict, &options->is_as_read, &made_inputs,
            &options->symbols_may_be_missing, &PyDict_Type, &devices, &options->fails_over,
            &options->rounding, &options->signature, &options->is_resizable))
        goto failed;
    if (PyList_Append(options->kept, args) < 0 ||
        (kwargs && PyList_Append(options->kept, kwargs) < 0))
        goto failed;
    if (threads < 0) {
        PyErr_Format(PyExc_ValueError, "threads is 0, for the default, or more, not %zd", threads);
        goto failed;
    }
    options->threads = (size_t)threads;
    if (memory > 0)
        options->limits.memory_byte_count = (size_t)memory;
    if (work > 0)
        options->limits.work = work;
    if (parse_source(options, source) < 0 || keep_path(options, weights, &options->weights) < 0 ||
        keep_path(options, folder, &options->folder) < 0 ||
        (files && parse_files(options, files) < 0) ||
        (symbols && parse_symbols(options, symbols) < 0) ||
        (devices && parse_devices(options, devices) < 0) ||
        (made_inputs && made_inputs != Py_None && parse_names(options, made_inputs) < 0))
        goto failed;
    return 0;
failed:
    core_options_release(options);
    return -1;
}

// ---- Contexts ----

static ln_status bind_symbols(const core_options *options, ln_context *ctx)
{
    for (size_t i = 0; i < options->symbol_count; i++) {
        const char *symbol = options->symbol_names[i];
        int from = options->symbol_from[i], to = options->symbol_to[i];
        ln_status status = from < 0 ? ln_context_set_symbol(ctx, symbol, to)
                                    : ln_context_set_range(ctx, symbol, from, to);
        if (status != LN_OK && !(status == LN_NOT_FOUND && options->symbols_may_be_missing))
            return status;
    }
    return LN_OK;
}

// Where no target is given they are the target.
static ln_status set_devices(const core_options *options, ln_context *ctx)
{
    for (size_t i = 0; i < options->device_count; i++) {
        const char *name = options->device_names[i], *text = options->device_texts[i];
        if (*text)
            LN_TRY(ln_context_set_device_text(ctx, name, text));
        if (!options->target)
            LN_TRY(ln_context_add_device(ctx, name));
    }
    return LN_OK;
}

static const char *target_of(const core_options *options)
{
    if (options->is_as_read)
        return "ref";
    return options->target || options->device_count > 0 ? options->target : "cpu";
}

static ln_status open_context(const core_options *options, ln_context_state state, ln_context *ctx)
{
    LN_TRY(ln_context_set_limits(ctx, &options->limits));
    LN_TRY(ln_context_set_timeout(ctx, options->timeout));
    LN_TRY(ln_context_set_threads(ctx, options->threads));
    ln_context_set_strict(ctx, options->is_strict);
    LN_TRY(ln_context_set_folder(ctx, options->folder));
    LN_TRY(set_devices(options, ctx));
    for (size_t i = 0; i < options->file_count; i++)
        LN_TRY(ln_context_add_file(ctx, options->file_names[i], options->files[i].buf,
                                   (size_t)options->files[i].len));
    const ln_read_options reading = {.signature = options->signature,
                                     .rounding = options->rounding,
                                     .is_resizable = options->is_resizable};
    LN_TRY(options->path
               ? ln_context_init_with(ctx, options->path, &reading)
               : ln_context_init_mem_with(ctx, options->bytes.buf, (size_t)options->bytes.len,
                                          options->name, &reading));
    for (size_t i = 0; i < options->made_input_count; i++)
        LN_TRY(ln_context_make_input(ctx, options->made_inputs[i]));
    LN_TRY(bind_symbols(options, ctx));
    if (state == LN_CONTEXT_READY)
        return LN_OK;
    if (ln_context_get_state(ctx) == LN_CONTEXT_READY) {
        ln_optimize_options how = ln_optimize_options_default();
        how.stays_as_read = options->is_as_read;
        how.fails_over = options->fails_over;
        LN_TRY(ln_context_compile_with(ctx, target_of(options), &how));
    }
    return state == LN_CONTEXT_LOADED ? ln_context_load(ctx, options->weights) : LN_OK;
}

ln_status core_context_open(const core_options *options, ln_context_state state,
                            ln_context **out_ctx)
{
    *out_ctx = ln_context_create();
    if (!*out_ctx)
        return ln_error_status();
    ln_status status = open_context(options, state, *out_ctx);
    if (status != LN_OK) {
        ln_context_free(*out_ctx);
        *out_ctx = NULL;
    }
    return status;
}

// Reads the arguments and opens a context. NULL with an exception.
static ln_context *open_for(PyObject *module, PyObject *args, PyObject *kwargs,
                            ln_context_state state)
{
    core_options options;
    if (core_options_parse(args, kwargs, &options) < 0)
        return NULL;
    ln_context *ctx;
    ln_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = core_context_open(&options, state, &ctx);
    Py_END_ALLOW_THREADS;
    core_options_release(&options);
    if (status == LN_OK && core_warnings_raise() == 0)
        return ctx;
    if (status != LN_OK)
        core_raise(core_state_of(module), status);
    ln_context_free(ctx);
    return NULL;
}

// ---- Dicts ----

// Appends `item`, which it takes over, to *list; NULL clears the list.
static void append(PyObject **list, PyObject *item)
{
    if (*list && (!item || PyList_Append(*list, item) < 0))
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

static void set(PyObject **dict, const char *key, PyObject *item)
{
    if (*dict && (!item || PyDict_SetItemString(*dict, key, item) < 0))
        Py_CLEAR(*dict);
    Py_XDECREF(item);
}

PyObject *core_info_dict(const ln_model_info *info)
{
    PyObject *properties = PyDict_New();
    for (size_t i = 0; i < info->property_count; i++)
        set(&properties, info->properties[i].key, PyUnicode_FromString(info->properties[i].value));
    PyObject *defaults = PyList_New(0);
    for (size_t i = 0; i < info->default_count; i++)
        append(&defaults, PyUnicode_FromString(info->defaults[i]));
    if (!properties || !defaults) {
        Py_XDECREF(properties);
        Py_XDECREF(defaults);
        return NULL;
    }
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s,s:L,s:N,s:N}", "producer", info->producer,
                         "producer_version", info->producer_version, "domain", info->domain, "doc",
                         info->doc, "graph", info->graph, "graph_doc", info->graph_doc, "version",
                         (long long)info->version, "properties", properties, "defaults", defaults);
}

static PyObject *value_dict(const ln_plan_value *value)
{
    return Py_BuildValue(
        "{s:s,s:K,s:K,s:s,s:N,s:I,s:I,s:z,s:N,s:N,s:N,s:K}", "name", value->name, "offset",
        (unsigned long long)value->offset, "bytes", (unsigned long long)value->byte_count, "memory",
        ln_mem_type_title(value->mtype), "is_static", PyBool_FromLong(value->is_static),
        "first_step", value->first_step, "last_step", value->last_step, "owner", value->owner,
        "is_input", PyBool_FromLong(value->is_input), "is_output",
        PyBool_FromLong(value->is_output), "is_load", PyBool_FromLong(value->is_load),
        "mapped_bytes", (unsigned long long)value->mapped_byte_count);
}

static PyObject *names_of(const ln_plan *plan, const uint32_t *values, size_t count)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < count; i++)
        append(&list, PyUnicode_FromString(plan->values[values[i]].name));
    return list;
}

static PyObject *step_dict(const ln_plan *plan, const ln_plan_step *step)
{
    PyObject *dict = PyDict_New();
    set(&dict, "op", PyUnicode_FromString(step->op));
    set(&dict, "reads", names_of(plan, step->reads, step->read_count));
    set(&dict, "writes", names_of(plan, step->writes, step->write_count));
    return dict;
}

static PyObject *memory_dict(const ln_context *ctx)
{
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "peak",
                         (unsigned long long)ln_context_peak_bytes(ctx, LN_MEM_CPU), "static",
                         (unsigned long long)ln_context_static_bytes(ctx, LN_MEM_CPU), "workspace",
                         (unsigned long long)ln_context_workspace_bytes(ctx, LN_MEM_CPU), "load",
                         (unsigned long long)ln_context_load_bytes(ctx, LN_MEM_CPU), "mapped",
                         (unsigned long long)ln_context_mapped_bytes(ctx));
}

static PyObject *plan_dict(const ln_context *ctx, const ln_plan *plan)
{
    PyObject *dict = PyDict_New(), *values = PyList_New(0), *steps = PyList_New(0);
    for (size_t i = 0; i < plan->value_count; i++)
        append(&values, value_dict(&plan->values[i]));
    for (size_t i = 0; i < plan->step_count; i++)
        append(&steps, step_dict(plan, &plan->steps[i]));
    set(&dict, "memory", memory_dict(ctx));
    set(&dict, "values", values);
    set(&dict, "steps", steps);
    ln_unplanned unplanned = ln_context_unplanned(ctx);
    set(&dict, "unplanned",
        Py_BuildValue("{s:K,s:K}", "tensors", (unsigned long long)unplanned.tensor_count, "ops",
                      (unsigned long long)unplanned.op_count));
    return dict;
}

PyObject *core_plan(PyObject *module, PyObject *args, PyObject *kwargs)
{
    ln_context *ctx = open_for(module, args, kwargs, LN_CONTEXT_PLANNED);
    if (!ctx)
        return NULL;
    ln_plan *plan;
    ln_status status = ln_context_plan_create(ctx, &plan);
    PyObject *dict =
        status == LN_OK ? plan_dict(ctx, plan) : core_raise(core_state_of(module), status);
    ln_context_plan_free(plan);
    ln_context_free(ctx);
    return dict;
}

// Writes the model and, into a file of their own, the weights that it takes from one. *out_count
// receives how many these are.
static ln_status write_model(ln_context *ctx, const char *path, const char *weights,
                             const char *datafile, size_t *out_count)
{
    if (!ln_serializer_for_path(path))
        return LN_FAIL(LN_UNSUPPORTED, "%s: models are written as .onnx, .net or .json", path);
    if (datafile)
        LN_TRY(ln_context_carry_file(ctx, datafile));
    if (weights)
        LN_TRY(ln_context_save_weights(ctx, weights, out_count));
    return ln_context_print(ctx, path);
}

// Both paths come before the source, whose place `core_options_parse` knows. The second one is None
// where weights are in the model's own file.
PyObject *core_convert(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *path = NULL, *weights = NULL, *result = NULL;
    PyObject *first = PyTuple_GetSlice(args, 0, 2);
    PyObject *rest = PyTuple_GetSlice(args, 2, PyTuple_Size(args));
    core_options options = {0};
    if (first && rest && PyArg_ParseTuple(first, "O&O", PyUnicode_FSConverter, &path, &weights) &&
        core_options_parse(rest, kwargs, &options) == 0) {
        const char *text = PyBytes_AsString(path);
        const char *weights_text = weights == Py_None ? NULL : PyBytes_AsString(weights);
        ln_context *ctx = NULL;
        ln_status status = LN_OK;
        size_t count = 0;
        if (!PyErr_Occurred()) {
            Py_BEGIN_ALLOW_THREADS;
            status = core_context_open(&options, LN_CONTEXT_READY, &ctx);
            if (status == LN_OK)
                status = write_model(ctx, text, weights_text, options.weights, &count);
            ln_context_free(ctx);
            Py_END_ALLOW_THREADS;
            if (status != LN_OK)
                core_raise(core_state_of(module), status);
            else if (core_warnings_raise() == 0)
                result = PyLong_FromSize_t(count);
        }
        core_options_release(&options);
    }
    Py_XDECREF(path);
    Py_XDECREF(first);
    Py_XDECREF(rest);
    return result;
}

static PyObject *tensor_tuple(const ln_context *ctx, const char *name)
{
    tl_dtype dtype = ln_context_tensor_dtype(ctx, name);
    int rank = ln_context_tensor_rank(ctx, name);
    PyObject *shape = rank < 0 ? Py_NewRef(Py_None) : PyList_New(0);
    for (int axis = 0; axis < rank; axis++) {
        int64_t dim = ln_context_tensor_dim(ctx, name, axis);
        const char *symbol = ln_context_tensor_symbol(ctx, name, axis);
        append(&shape, dim >= 0 ? PyLong_FromLongLong(dim) : Py_BuildValue("z", symbol));
    }
    if (rank >= 0 && shape) {
        PyObject *tuple = PySequence_Tuple(shape);
        Py_DECREF(shape);
        shape = tuple;
    }
    if (!shape)
        return NULL;
    return Py_BuildValue("(szN)", name, dtype == TL_DTYPE_INVALID ? NULL : tl_dtype_title(dtype),
                         shape);
}

PyObject *core_inspect(PyObject *module, PyObject *args, PyObject *kwargs)
{
    ln_context *ctx = open_for(module, args, kwargs, LN_CONTEXT_PLANNED);
    if (!ctx)
        return NULL;
    PyObject *dict = PyDict_New(), *inputs = PyList_New(0), *outputs = PyList_New(0);
    for (size_t i = 0; i < ln_context_input_count(ctx); i++)
        append(&inputs, tensor_tuple(ctx, ln_context_input_name(ctx, i)));
    for (size_t i = 0; i < ln_context_output_count(ctx); i++)
        append(&outputs, tensor_tuple(ctx, ln_context_output_name(ctx, i)));
    set(&dict, "inputs", inputs);
    set(&dict, "outputs", outputs);
    set(&dict, "info", core_info_dict(ln_context_info(ctx)));
    set(&dict, "target", Py_BuildValue("z", ln_context_target(ctx)));
    set(&dict, "macs", PyFloat_FromDouble(ln_context_macs(ctx)));
    set(&dict, "work", PyFloat_FromDouble(ln_context_cost(ctx)));
    set(&dict, "memory", memory_dict(ctx));
    ln_context_free(ctx);
    return dict;
}

// ---- Preflight ----

static PyObject *preflight_dict(const ln_preflight *report)
{
    PyObject *problems = PyList_New(0), *types = PyDict_New(), *opsets = PyDict_New();
    for (size_t i = 0; i < report->problem_count; i++) {
        const ln_preflight_problem *p = &report->problems[i];
        append(&problems, Py_BuildValue("{s:s,s:s,s:s,s:i,s:s,s:s,s:s}", "node", p->node, "optype",
                                        p->optype, "domain", p->domain, "opset", p->opset, "place",
                                        p->place, "reason", p->reason, "help", p->help));
    }
    for (size_t i = 0; i < report->type_count; i++)
        set(&types, report->types[i].optype,
            PyLong_FromUnsignedLongLong((unsigned long long)report->types[i].count));
    for (size_t i = 0; i < report->opset_count; i++)
        set(&opsets, report->opsets[i].domain, PyLong_FromLong(report->opsets[i].version));
    PyObject *inputs = PyList_New(0), *outputs = PyList_New(0);
    for (size_t i = 0; i < report->input_count; i++)
        append(&inputs, Py_BuildValue("(ss)", report->inputs[i].name, report->inputs[i].type));
    for (size_t i = 0; i < report->output_count; i++)
        append(&outputs, Py_BuildValue("(ss)", report->outputs[i].name, report->outputs[i].type));
    PyObject *dict = PyDict_New();
    set(&dict, "inputs", inputs);
    set(&dict, "outputs", outputs);
    set(&dict, "format", PyUnicode_FromString(report->format));
    set(&dict, "producer", PyUnicode_FromString(report->producer));
    set(&dict, "ir_version", PyLong_FromLong(report->ir_version));
    set(&dict, "opsets", opsets);
    set(&dict, "op_types", types);
    set(&dict, "nodes", PyLong_FromSize_t(report->node_count));
    set(&dict, "bad_nodes", PyLong_FromSize_t(report->bad_node_count));
    set(&dict, "parameters", PyLong_FromSize_t(report->parameter_count));
    set(&dict, "problems", problems);
    return dict;
}

PyObject *core_preflight(PyObject *module, PyObject *source)
{
    core_options options = {.kept = PyList_New(0)};
    ln_preflight *report = NULL;
    PyObject *dict = NULL;
    if (options.kept && parse_source(&options, source) == 0) {
        ln_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = options.path ? ln_preflight_create(options.path, &report)
                              : ln_preflight_create_mem(options.bytes.buf,
                                                        (size_t)options.bytes.len, NULL, &report);
        Py_END_ALLOW_THREADS;
        dict = status == LN_OK ? preflight_dict(report) : core_raise(core_state_of(module), status);
    }
    ln_preflight_destroy(report);
    core_options_release(&options);
    return dict;
}
