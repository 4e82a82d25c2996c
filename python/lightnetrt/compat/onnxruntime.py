# SPDX-License-Identifier: Apache-2.0
"""The names of ONNX Runtime that programs use, over LightNet:

    import lightnetrt.compat.onnxruntime as ort
"""
import os
import re
import sys
import warnings
from contextlib import contextmanager
from enum import IntEnum
from types import ModuleType

import numpy

import lightnetrt

__version__ = "1.30.0"  # of the release whose names and answers these are, as programs ask for it
_CPU = "CPUExecutionProvider"

# ---- Errors: the classes, codes and wording that programs look for ----


class _OrtError(lightnetrt.Error):
    _code, _name = 1, "FAIL"

    def __init__(self, text):
        super().__init__(f"[ONNXRuntimeError] : {self._code} : {self._name} : {text}")


def _error(name, code, text, *bases):
    return type(name, (_OrtError, *(bases or (RuntimeError,))), {"_code": code, "_name": text})


Fail = _error("Fail", 1, "FAIL")
InvalidArgument = _error("InvalidArgument", 2, "INVALID_ARGUMENT", ValueError)
NoSuchFile = _error("NoSuchFile", 3, "NO_SUCHFILE", FileNotFoundError)
NoModel = _error("NoModel", 4, "NO_MODEL")
EngineError = _error("EngineError", 5, "ENGINE_ERROR")
RuntimeException = _error("RuntimeException", 6, "RUNTIME_EXCEPTION")
InvalidProtobuf = _error("InvalidProtobuf", 7, "INVALID_PROTOBUF", ValueError)
ModelLoaded = _error("ModelLoaded", 8, "MODEL_LOADED")
NotImplemented = _error("NotImplemented", 9, "NOT_IMPLEMENTED", NotImplementedError)
InvalidGraph = _error("InvalidGraph", 10, "INVALID_GRAPH", ValueError)
EPFail = _error("EPFail", 11, "EP_FAIL")
_ERRORS = (Fail, InvalidArgument, NoSuchFile, NoModel, EngineError, RuntimeException, InvalidProtobuf, ModelLoaded,
           NotImplemented, InvalidGraph, EPFail)


def _module(name, **names):
    """A module that `from ... import` finds, under this one."""
    module = sys.modules[f"{__name__}.{name}"] = ModuleType(f"{__name__}.{name}")
    vars(module).update(names)
    return module


capi = _module("capi")
capi.onnxruntime_pybind11_state = _module("capi.onnxruntime_pybind11_state", **{kind.__name__: kind for kind in _ERRORS})

_CLASSES = {"LN_INVALID": InvalidArgument, "LN_SYNTAX": InvalidProtobuf, "LN_UNSUPPORTED": NotImplemented,
            "LN_NOT_FOUND": InvalidArgument, "LN_LIMIT": RuntimeException, "LN_NO_MEMORY": RuntimeException}


_CLASSES_OF_CODES = {kind._code: kind for kind in _ERRORS}


def _translate(reason):
    if isinstance(reason, _OrtError):
        return reason
    code = getattr(reason, "code", None)  # of a session of the C ABI
    if code is not None:
        return _CLASSES_OF_CODES.get(code, Fail)(str(reason))
    if isinstance(reason, lightnetrt.FileMissingError):
        return NoSuchFile(f"Load model from {reason.filename} failed. File doesn't exist")
    return _CLASSES.get(getattr(reason, "status", None), Fail)(str(reason))


# ---- Types ----

_TYPES = {"float32": "float", "float64": "double", "bool": "bool", "string": "string"}


def _type_of(dtype):
    return f"tensor({_TYPES.get(dtype, dtype)})"


class GraphOptimizationLevel(IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1


class NodeArg:
    def __init__(self, info, declared):
        self.name = info.name
        self.shape = list(info.shape) if info.shape is not None else []
        self.type = declared if info.dtype in (None, "object") and declared else _type_of(info.dtype)

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    def __init__(self, metadata):
        self.producer_name = metadata.producer
        self.graph_name = metadata.graph
        self.domain = metadata.domain
        self.description = metadata.doc
        self.graph_description = metadata.graph_doc
        self.version = metadata.version
        self.custom_metadata_map = dict(metadata.properties)


def _convert(name, kind, value):
    """What is set, as the option's type; a TypeError where it is not of that type, as there."""
    if issubclass(kind, IntEnum) and value in tuple(kind):  # or its number
        return kind(value)
    if kind is bool and isinstance(value, (bool, int, numpy.bool_)):
        return bool(value)
    if kind is int and isinstance(value, (int, numpy.integer)) and -2**31 <= value < 2**31:
        return int(value)
    if kind is str and isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise TypeError(f"{name} is {kind.__name__}, not {value!r}")


class _Options:
    """Each option is of the type that its default value has, and a misspelt one is refused, as there."""
    __slots__ = ()
    _DEFAULTS = {}

    def __init__(self):
        for name, value in self._DEFAULTS.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name in self._DEFAULTS:
            value = _convert(f"{type(self).__name__}.{name}", type(self._DEFAULTS[name]), value)
        super().__setattr__(name, value)


class SessionOptions(_Options):
    """Threads, free dimensions and initializers count; switches of memory and optimization are accepted.

    A number of threads below 1 is the default, one for each processor."""

    _DEFAULTS = dict(intra_op_num_threads=0, inter_op_num_threads=0,
                     graph_optimization_level=GraphOptimizationLevel.ORT_ENABLE_ALL,
                     execution_mode=ExecutionMode.ORT_SEQUENTIAL, execution_order=ExecutionOrder.DEFAULT,
                     log_severity_level=2, log_verbosity_level=0, logid="", enable_cpu_mem_arena=True,
                     enable_mem_pattern=True, enable_mem_reuse=True, enable_profiling=False,
                     profile_file_prefix="onnxruntime_profile_", optimized_model_filepath="",
                     use_deterministic_compute=False, use_per_session_threads=True)
    __slots__ = (*_DEFAULTS, "_entries", "_symbols", "_files", "_libraries", "_initializers", "_external", "_has_provider")

    def __init__(self):
        super().__init__()
        self._entries = {}
        self._symbols = {}
        self._files = {}
        self._libraries = []
        self._initializers = {}
        self._external = {}
        self._has_provider = False

    def add_session_config_entry(self, key, value):
        self._entries[str(key)] = str(value)

    def get_session_config_entry(self, key):
        if key not in self._entries:
            raise RuntimeException(f"SessionOptions does not have configuration with key: {key}")
        return self._entries[key]

    def add_provider(self, name, options):
        if name != _CPU:
            raise Fail(f"provider '{name}' is not available; the only one is {_CPU}")
        self._has_provider = True

    def has_providers(self):
        return self._has_provider

    def add_free_dimension_override_by_name(self, name, size):
        self._symbols[name] = size

    def add_external_initializers_from_files_in_memory(self, names, buffers, lengths):
        for name, buffer, length in zip(names, buffers, lengths):
            self._files[name] = memoryview(buffer)[:length]

    def add_initializer(self, name, ort_value):
        """The value that replaces the model's initializer of this name, type and shape."""
        self._add_value(self._initializers, name, ort_value)

    def add_external_initializers(self, names, ort_values):
        """The same of initializers whose data the model has in other files."""
        if len(names) != len(ort_values):
            raise InvalidArgument(f"there are {len(names)} names, and {len(ort_values)} values")
        for name, value in zip(names, ort_values):
            self._add_value(self._external, name, value)

    def _add_value(self, values, name, ort_value):
        if not isinstance(ort_value, OrtValue):
            raise TypeError(f"the value of initializer '{name}' is an OrtValue, not {type(ort_value).__name__}")
        if name in self._initializers or name in self._external:
            raise InvalidArgument(f"initializer '{name}' has been added already")
        values[name] = ort_value

    def register_custom_ops_library(self, path):
        from . import _ort_session
        try:
            _ort_session.check_library(path)
        except lightnetrt.Error as reason:
            raise _translate(reason) from None
        self._libraries.append(os.fspath(path))


class RunOptions(_Options):
    _DEFAULTS = dict(log_severity_level=2, log_verbosity_level=0, logid="", only_execute_path_to_fetches=False)
    __slots__ = (*_DEFAULTS, "_entries", "_cancel", "_ends")

    def __init__(self):
        super().__init__()
        self._entries = {}
        self._cancel = lightnetrt.Cancel()
        self._ends = set()  # functions that end runs of sessions of the C ABI

    @contextmanager
    def _watch(self, end):
        """While a run goes on that `end` ends."""
        self._ends.add(end)
        try:
            if self.terminate:
                end()
            yield
        finally:
            self._ends.discard(end)

    @property
    def terminate(self):
        return self._cancel.is_requested

    @terminate.setter
    def terminate(self, value):
        if _convert("RunOptions.terminate", bool, value):
            self._cancel.request()
            for end in tuple(self._ends):
                end()
        elif self._cancel.is_requested:
            self._cancel = lightnetrt.Cancel()

    def add_run_config_entry(self, key, value):
        self._entries[str(key)] = str(value)

    def get_run_config_entry(self, key):
        return self._entries[key]


# ---- Memory: it is planned when a session is created, so arenas have no effect ----

class OrtAllocatorType(IntEnum):
    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(IntEnum):
    CPU_INPUT = -2
    CPU_OUTPUT = -1
    DEFAULT = 0


class OrtMemoryInfo:
    def __init__(self, name, allocator_type, id, mem_type):
        _only_cpu(name.lower())
        self.name, self.allocator_type = name, _convert("OrtMemoryInfo.allocator_type", OrtAllocatorType, allocator_type)
        self.id, self.mem_type = id, _convert("OrtMemoryInfo.mem_type", OrtMemType, mem_type)


class OrtArenaCfg:
    def __init__(self, *sizes):
        """A dict, or the four numbers; -1 is the default of each."""
        self.sizes = sizes


def create_and_register_allocator(memory_info, arena_cfg=None):
    if not isinstance(memory_info, OrtMemoryInfo):
        raise TypeError(f"memory_info is an OrtMemoryInfo, not {memory_info!r}")


# ---- Values ----

class OrtValue:
    def __init__(self, value):
        self._value = value._value if isinstance(value, OrtValue) else value

    @property
    def _ortvalue(self):
        """What programs put into an OrtValueVector: there a value of C++, here this one."""
        return self

    def _get_c_value(self):
        return self

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        _only_cpu(device_type)
        return OrtValue(numpy.asarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        _only_cpu(device_type)
        return OrtValue(numpy.zeros(tuple(shape), dtype=_dtype_of(element_type)))

    def numpy(self):
        return self._value

    def shape(self):
        return list(self._value.shape)

    def data_type(self):
        if isinstance(self._value, list):
            return f"seq({OrtValue(self._value[0]).data_type() if self._value else 'tensor(float)'})"
        dtype = self._value.dtype
        return _type_of(str(dtype) if getattr(dtype, "kind", "f") not in "OUS" else "string")

    def element_type(self):
        """The number that ONNX has for the type of a tensor's elements."""
        from ._ort_session import _NUMBERS
        dtype = self._value.dtype
        return _NUMBERS[str(dtype) if getattr(dtype, "kind", "f") not in "OUS" else "string"]

    def tensor_size_in_bytes(self):
        if not self.is_tensor() or self.data_type() == "tensor(string)":
            raise InvalidArgument(f"only a tensor of numbers has a size in bytes, not {self.data_type()}")
        return self._value.nbytes

    def device_name(self):
        return "cpu"

    def data_ptr(self):
        return self._value.__array_interface__["data"][0]

    def has_value(self):
        return self._value is not None

    def is_tensor(self):
        return not isinstance(self._value, (list, dict))

    def is_tensor_sequence(self):
        return isinstance(self._value, list)

    def is_sparse_tensor(self):
        return False

    def update_inplace(self, array):
        self._value[...] = array


class OrtValueVector(list):
    """Values in the order of the names that they belong to."""

    push_back = list.append

    def reserve(self, count):
        pass

    def shrink_to_fit(self):
        pass


class OrtDevice:
    def __init__(self, name, device_id=0):
        _only_cpu(name.lower())
        self._device_id = device_id

    @staticmethod
    def make(ort_device_name, device_id):
        return OrtDevice(ort_device_name, device_id)

    @staticmethod
    def cpu():
        return 0

    def _get_c_device(self):
        return self

    def device_id(self):
        return self._device_id

    def device_type(self):
        return OrtDevice.cpu()


def _dtype_of(element_type):
    """NumPy's type, from one or from the number that ONNX has for it."""
    if isinstance(element_type, int):
        from ._ort_session import _DTYPES
        element_type = _DTYPES.get(element_type)
        if element_type is None or element_type == "string" or element_type.startswith(("bfloat", "float8")):
            raise InvalidArgument(f"NumPy has no type for the elements, {element_type or 'of an unknown number'}")
    return numpy.dtype(element_type)


def _only_cpu(device_type):
    if device_type != "cpu":
        raise RuntimeException(f"no device '{device_type}': values are in main memory, device 'cpu'")


class IOBinding:
    def __init__(self, session):
        self._session = session
        self._inputs, self._outputs, self._results = {}, {}, []

    def _bind_input(self, name, array):
        self._session._need_input(name)
        self._inputs[name] = array

    def _bind_output(self, name, array):
        self._outputs[name] = array  # the run refuses a name that the model does not have

    def bind_cpu_input(self, name, array):
        self._bind_input(name, array)

    def bind_ortvalue_input(self, name, value):
        self._bind_input(name, value.numpy())

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _only_cpu(device_type)
        self._bind_input(name, _array_at(buffer_ptr, element_type, shape))

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        _only_cpu(device_type)
        if buffer_ptr is not None and (element_type is None or shape is None):
            raise ValueError("the memory at `buffer_ptr` needs `element_type` and `shape`")
        self._bind_output(name, None if buffer_ptr is None else _array_at(buffer_ptr, element_type, shape))

    def bind_ortvalue_output(self, name, value):
        self._bind_output(name, value.numpy())

    def synchronize_inputs(self):
        pass

    def synchronize_outputs(self):
        pass

    def clear_binding_inputs(self):
        self._inputs.clear()

    def clear_binding_outputs(self):
        self._outputs.clear()
        self._results = []

    def get_outputs(self):
        return [OrtValue(value) for value in self._results]

    def get_outputs_as_ortvaluevector(self):
        return OrtValueVector(self.get_outputs())

    def copy_outputs_to_cpu(self):
        return list(self._results)

    def _run(self, run_options):
        self._results = self._session._run_into(self._outputs, self._inputs, run_options)


def _array_at(address, element_type, shape):
    import ctypes
    dtype = _dtype_of(element_type)
    count = int(numpy.prod(shape, dtype="int64"))
    block = (ctypes.c_byte * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(block, dtype=dtype, count=count).reshape(shape)


# ---- Sessions ----

def get_available_providers():
    return [_CPU]


get_all_providers = get_available_providers


def get_device():
    return "CPU"


def set_default_logger_severity(level):
    pass


def set_default_logger_verbosity(level):
    pass


def set_seed(seed):
    """Of operators that draw numbers without one: they have the same in each run."""


def preload_dlls(cuda=True, cudnn=True, msvc=True, directory=None):
    """There is nothing to load."""


def get_version_string():
    return __version__


def get_build_info():
    return f"ORT Build Info: LightNet {lightnetrt.__version__}"


def disable_telemetry_events():
    """There is no telemetry."""


enable_telemetry_events = disable_telemetry_events


def _take_providers(providers):
    if isinstance(providers, str):
        raise ValueError(f"providers is a list, such as ['{_CPU}'], not '{providers}'")
    names = [item[0] if isinstance(item, (tuple, list)) else item for item in providers or [_CPU]]
    for name in names:
        if name != _CPU:
            if _CPU not in names:
                raise ValueError(f"provider '{name}' is not available, and {_CPU}, which is, is not among the "
                                 "providers")
            warnings.warn(f"Specified provider '{name}' is not in available provider names."
                          f"Available providers: '{_CPU}'", stacklevel=3)


def _declared_types(source):
    try:
        report = lightnetrt.preflight(source)
    except lightnetrt.Error:
        return {}
    short = {"FLOAT": "float", "DOUBLE": "double"}
    texts = dict(report["inputs"] + report["outputs"])
    for name, text in texts.items():
        text = re.sub(r"map\(([A-Z0-9]+), ", lambda m: f"map({m[1].lower()},", text)
        texts[name] = re.sub(r"([A-Z0-9_]+)\[[^\]]*\]", lambda m: f"tensor({short.get(m[1], m[1].lower())})", text)
    return texts


def _free_name(path):
    """A file that is not there, beside `path`, whose name says that it is ONNX."""
    name, i = f"{path}.onnx", 0
    while os.path.lexists(name):
        i += 1
        name = f"{path}.{i}.onnx"
    return name


def _write(source, path, options):
    """The model as it was read, as ONNX whatever the name: what rewriting makes has operators of LightNet alone."""
    path = os.fspath(path)
    named = path if path.endswith(".onnx") else _free_name(path)
    lightnetrt.convert(source, named, **options)
    if named == path:
        return
    try:
        os.replace(named, path)
    except OSError as reason:
        os.unlink(named)
        raise Fail(f"cannot write '{path}': {reason.strerror}") from None


def _translate_unread(reason, source):
    """What is unsupported in a model makes its graph invalid; a file that is none is no protobuf message."""
    if getattr(reason, "status", None) != "LN_UNSUPPORTED":
        return _translate(reason)
    try:
        lightnetrt.preflight(source)
    except lightnetrt.Error:
        return InvalidProtobuf(str(reason))
    return InvalidGraph(str(reason))


class InferenceSession:
    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **unused):
        _take_providers(providers)
        self._options = sess_options or SessionOptions()
        self._source = path_or_bytes
        self._load_options = {"threads": max(0, self._options.intra_op_num_threads)}
        if self._options._symbols:
            self._load_options.update(symbols=self._options._symbols, symbols_may_be_missing=True)
        if self._options._files:
            self._load_options["files"] = self._options._files
        self._overriding = {}
        self._has_profile = self._options.enable_profiling
        self._uses_c_abi = self._changes_model() or self._has_profile
        try:
            if self._options.optimized_model_filepath and not self._changes_model():
                _write(path_or_bytes, self._options.optimized_model_filepath, self._load_options)
            self._model = self._load_through_c_abi() if self._uses_c_abi else (
                lightnetrt.load(path_or_bytes, **self._load_options))
        except lightnetrt.Error as reason:
            raise _translate_unread(reason, path_or_bytes) from None
        objects = any(i.dtype in (None, "object") for i in self._model.inputs + self._model.outputs)
        declared = _declared_types(path_or_bytes) if objects else {}
        self._inputs = [NodeArg(item, declared.get(item.name)) for item in self._model.inputs]
        self._outputs = [NodeArg(item, declared.get(item.name)) for item in self._model.outputs]

    def get_inputs(self):
        return self._inputs

    def _need_input(self, name):
        if name not in self._model.metadata.defaults and all(item.name != name for item in self._inputs):
            raise Fail(f"Failed to find input name in the mapping: {name}; the model has {self._names(self._inputs)}")

    def _need_output(self, name):
        if all(item.name != name for item in self._outputs):
            raise InvalidArgument(f"Invalid output name: {name}; the model has {self._names(self._outputs)}")

    @staticmethod
    def _names(items):
        return ", ".join(item.name for item in items)

    def get_outputs(self):
        return self._outputs

    def _changes_model(self):
        options = self._options
        return bool(options._libraries or options._initializers or options._external)

    def _load_through_c_abi(self):
        from . import _ort_session
        if self._options.optimized_model_filepath and self._changes_model():
            raise NotImplemented("a model with custom operators, or with initializers of its session, cannot be written")
        if isinstance(self._source, (str, os.PathLike)) and not os.path.exists(self._source):
            raise NoSuchFile(f"Load model from {os.fspath(self._source)} failed. File doesn't exist")
        values = {name: value.numpy() for name, value in self._options._initializers.items()}
        external = {name: value.numpy() for name, value in self._options._external.items()}
        profile = self._options.profile_file_prefix if self._has_profile else None
        return _ort_session.Model(self._source, self._options._libraries, entries=self._options._entries, profile=profile,
                                  initializers=values, external_initializers=external, **self._load_options)

    def get_overridable_initializers(self):
        if self._uses_c_abi:
            return [NodeArg(item, None) for item in self._model.overridable]
        names = self._model.metadata.defaults
        return [NodeArg(i, None) for i in (self._model_with(names).inputs if names else []) if i.name in names]

    def get_modelmeta(self):
        return ModelMetadata(self._model.metadata)

    def get_providers(self):
        return [_CPU]

    def get_provider_options(self):
        return {_CPU: {}}

    def set_providers(self, providers=None, provider_options=None):
        _take_providers(providers)

    def enable_fallback(self):
        pass

    def disable_fallback(self):
        pass

    def get_session_options(self):
        return self._options

    def _model_with(self, initializers):
        """The model in which these initializers are inputs; others stay constants, which run faster."""
        key = tuple(sorted(initializers))
        if self._uses_c_abi:
            return self._model
        if key and key not in self._overriding:
            self._overriding[key] = lightnetrt.load(self._source, overridable=key, **self._load_options)
        return self._overriding[key] if key else self._model

    def _check(self, feeds):
        missing = [item.name for item in self._inputs if item.name not in feeds and
                   not item.type.startswith("optional")]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feeds)}).")
        known = {item.name: item for item in self._inputs}
        for name, value in feeds.items():
            if name not in known:
                if name not in self._model.metadata.defaults:
                    raise InvalidArgument(f"Invalid input name: {name}")
                continue
            item = known[name]
            if not isinstance(value, numpy.ndarray) or not item.type.startswith("tensor"):
                continue
            given = _type_of("string" if value.dtype.kind in "OUS" else str(value.dtype))
            stored = {"tensor(bfloat16)": "tensor(uint16)", "tensor(int4)": "tensor(int8)"}
            if given != item.type and stored.get(item.type) != given and "float8" not in item.type:
                raise InvalidArgument(f"Unexpected input data type. Actual: ({given}) , expected: ({item.type})")
            feeds[name] = self._fitted(item, value)

    def _fitted(self, item, value):
        """The value, in the shape that the model takes: one element of any rank is a scalar, as there."""
        shape = value.shape
        info = next(i for i in self._model.inputs if i.name == item.name)
        if info.shape is None:
            return value
        if len(info.shape) == 0 and value.size == 1:
            return value.reshape(())
        if len(shape) != len(info.shape):
            raise InvalidArgument(f"Invalid rank for input: {item.name} Got: {len(shape)} Expected: {len(info.shape)} "
                                  "Please fix either the inputs/outputs or the model.")
        wrong = [f" index: {i} Got: {got} Expected: {want}\n" for i, (got, want) in enumerate(zip(shape, info.shape))
                 if isinstance(want, int) and got != want]
        if wrong:
            raise InvalidArgument(f"Got invalid dimensions for input: {item.name} for the following indices\n"
                                  f"{''.join(wrong)} Please fix either the inputs/outputs or the model.")
        return value

    def run(self, output_names, input_feed, run_options=None):
        names = [item.name for item in self._outputs]
        wanted = list(output_names) if output_names else names
        for name in wanted:
            self._need_output(name)
        feeds = {name: value._value if isinstance(value, OrtValue) else value for name, value in input_feed.items()}
        self._check(feeds)
        model = self._model_with([name for name in feeds if name not in {item.name for item in self._inputs}])
        cancel = None
        if run_options:
            cancel = run_options._watch if self._uses_c_abi else run_options._cancel
        try:
            results = model.run(feeds, wanted, cancel=cancel)
        except lightnetrt.CancelledError:
            raise Fail("Exiting due to terminate flag being set to true.") from None
        except lightnetrt.Error as reason:
            raise _translate(reason) from None
        return [results[name] for name in wanted]

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        return [OrtValue(value) for value in self.run(output_names, input_dict_ort_values, run_options)]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        def work():
            try:
                callback(self.run(output_names, input_feed, run_options), user_data, "")
            except Exception as reason:  # the callback is told, as there
                callback([], user_data, str(reason))
        import threading
        threading.Thread(target=work).start()

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        iobinding._run(run_options)

    def _run_into(self, bound, feeds, run_options):
        """Results in the order of the names in `bound`, each in the array that it has there, if it is not None."""
        names = list(bound)
        results = self.run(names, feeds, run_options) if names else []
        for i, array in enumerate(bound.values()):
            if array is None:
                continue
            if array.shape != results[i].shape or array.dtype != results[i].dtype:
                raise InvalidArgument(f"output '{names[i]}' is {results[i].dtype}{list(results[i].shape)}, what is "
                                      f"bound to it {array.dtype}{list(array.shape)}")
            array[...] = results[i]
            results[i] = array
        return results

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices):
        """Puts results into the list `fetches`: into the values that it has, or as new ones if it has none."""
        for names, values, kind in (feed_names, feeds, "input"), (fetch_names, fetches or fetch_names, "output"):
            if len(names) != len(values):
                raise InvalidArgument(f"there are {len(names)} names of {kind}s, and {len(values)} values")
        bound = {name: None for name in fetch_names}
        bound.update((name, value.numpy()) for name, value in zip(fetch_names, fetches))
        fetches[:] = map(OrtValue, self._run_into(bound, dict(zip(feed_names, feeds)), run_options))

    def end_profiling(self):
        """The name of the file with times, which is complete then; "" if `SessionOptions.enable_profiling` is not set."""
        return self._model.end_profiling() if self._has_profile else ""

    def get_profiling_start_time_ns(self):
        return self._model.profiling_start_time_ns() if self._has_profile else 0

    def __reduce__(self):
        return InferenceSession, (self._source if not isinstance(self._source, (str, os.PathLike)) else
                                  os.path.abspath(self._source),)
