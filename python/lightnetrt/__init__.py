# SPDX-License-Identifier: Apache-2.0
"""LightNet for Python: neural networks from ONNX files, on CPUs.

    import lightnetrt
    model = lightnetrt.load("model.onnx")
    y = model(x)                                   # arrays of NumPy, or anything with a buffer or DLPack
    both = model.run({"input": x}, ["a", "b"])     # {"a": ..., "b": ...}

A model may be called by several threads at once; the GIL is released while it loads and runs.
"""
import errno
import heapq
import itertools
import os
import struct
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from . import _core
from ._core import (Array, Cancel, CancelledError, DTypeError, Error, ExistsError, FileError,
                    FormatError, InternalError, InvalidError, LimitError, NoMemoryError, NotFoundError,
                    StateError, TimeLimitError, UnsupportedError, from_dlpack)

__version__ = _core.version
__all__ = ["Array", "Cancel", "CancelledError", "DTypeError", "Error", "ExistsError", "FileError",
           "FileMissingError", "FormatError", "InternalError", "InvalidError", "LimitError", "Metadata",
           "Model", "NoMemoryError", "NotFoundError", "StateError", "TensorInfo", "TimeLimitError",
           "UnsupportedError", "convert", "from_dlpack", "inspect", "load", "load_plugin", "plan", "preflight",
           "unload_plugin", "verify"]


class FileMissingError(FileError, FileNotFoundError):
    """There is no file at the path of the model."""


class TensorInfo(NamedTuple):
    """An input or output. `dtype` is None if it is known at run time only, `shape` None if its rank is;
    a dimension is an int, the name of a symbol, or None."""
    name: str
    dtype: "str | None"
    shape: "tuple | None"


class Metadata(NamedTuple):
    """What the model's file states about it; "" where it states nothing."""
    producer: str
    producer_version: str
    domain: str
    doc: str
    graph: str
    graph_doc: str
    version: int
    properties: dict
    defaults: list


# ---- Results: NumPy's arrays where NumPy is, Array where not ----

_FORMATS = {"float64": "d", "float32": "f", "float16": "e", "int64": "q", "int32": "i", "int16": "h", "int8": "b",
            "uint64": "Q", "uint32": "I", "uint16": "H", "uint8": "B", "bool": "?"}
_NUMPY_TYPES = frozenset(_FORMATS) | {"complex64", "complex128"}


def _numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _make_array(array):
    numpy = _numpy()
    return numpy.asarray(array) if numpy and array.dtype in _NUMPY_TYPES else array


def _nest(flat, shape):
    if not shape:
        return flat[0]
    for dim in reversed(shape[1:]):
        flat = [flat[i:i + dim] for i in range(0, len(flat), dim)] if dim else [[] for _ in range(shape[0])]
    return flat


def _make_strings(flat, shape):
    numpy = _numpy()
    return numpy.array(flat, dtype=object).reshape(shape) if numpy else _nest(flat, shape)


def _shape_of_list(value):
    shape = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _flatten(value, shape, out):
    if not shape:
        out.append(value)
    elif not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        raise InvalidError("the lists are not all as long as the first one")
    else:
        for item in value:
            _flatten(item, shape[1:], out)
    return out


def _from_numbers(value, dtype):
    """Numbers and lists of numbers have no element type of their own: they take the input's."""
    if not isinstance(value, (int, float, list, tuple)) or hasattr(value, "dtype") or dtype not in _FORMATS:
        return value
    shape = _shape_of_list(value)
    flat = _flatten(value, shape, [])
    if not all(isinstance(item, (bool, int, float)) for item in flat):
        return value
    try:
        return Array(dtype, shape, struct.pack(f"={len(flat)}{_FORMATS[dtype]}", *flat))
    except struct.error as reason:
        raise DTypeError(f"a number in the list is not {dtype}: {reason}") from None


# ---- Loading ----

_LOAD_OPTIONS = ("weights", "target", "threads", "sessions", "memory_limit", "work_limit", "time_limit", "folder",
                 "files", "symbols", "strict", "as_read", "overridable", "devices", "failover", "rounding",
                 "signature", "resizable")
_COMPAT_OPTIONS = ("symbols_may_be_missing",)  # of lightnetrt.compat


def _is_integer(value):
    return hasattr(type(value), "__index__")


def _is_number(value):
    return hasattr(type(value), "__float__") or _is_integer(value)


def _is_size(value):
    return _is_integer(value) or isinstance(value, tuple) and len(value) == 2 and all(map(_is_integer, value))


def _is_names(value):
    return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__") and all(isinstance(item, str) for item in value)


def _is_dict_of(value, is_item):
    return isinstance(value, dict) and all(isinstance(key, str) and is_item(item) for key, item in value.items())


# What each option takes: a test and the words for it.
_COUNT = (_is_integer, "an integer from 0 on")
_AMOUNT = (_is_number, "a number from 0 on")
_FLAG = (lambda value: not isinstance(value, (str, bytes)), "True or False")
_PATH = (lambda value: isinstance(value, (str, bytes, os.PathLike)), "a path")
_OPTION_KINDS = {
    "threads": _COUNT, "sessions": _COUNT, "memory_limit": (_is_integer, "a number of bytes, an integer from 0 on"),
    "work_limit": _AMOUNT, "time_limit": _AMOUNT, "strict": _FLAG, "as_read": _FLAG, "failover": _FLAG,
    "resizable": _FLAG,
    "weights": _PATH, "folder": _PATH, "target": (lambda value: isinstance(value, str), "archs such as 'cpu,ref'"),
    "files": (lambda value: _is_dict_of(value, lambda item: not isinstance(item, str)), "a dict of bytes by name"),
    "symbols": (lambda value: _is_dict_of(value, _is_size), "a dict such as {'batch': 4} or {'batch': (1, 32)}"),
    "overridable": (_is_names, "a list of names"),
    "rounding": (lambda value: value in ("float", "reference"), "'float' or 'reference'"),
    "signature": (lambda value: isinstance(value, str), "the name of a signature"),
    "outputs": (_is_names, "a list of names"), "priority": (_is_integer, "an integer from -100 to 100"),  # of runs
    "devices": (lambda value: _is_dict_of(value, lambda item: True), "a dict such as {'gpu:1': {'option': 5}}"),
}


def _check_option(name, value):
    """Raises TypeError or ValueError with the option, what it takes and what it was given."""
    is_right, words = _OPTION_KINDS.get(name, (lambda value: True, ""))
    if not is_right(value):
        raise TypeError(f"{name} takes {words}, not {value!r:.200}")
    if words.endswith("from 0 on") and not value >= 0:
        raise ValueError(f"{name} takes {words}, not {value!r:.200}")
    if _is_integer(value) and value >= 1 << 63:
        raise ValueError(f"{name} takes {words}, below 2^63, not {value!r:.200}")


def _core_options(options):
    unknown = set(options) - set(_LOAD_OPTIONS + _COMPAT_OPTIONS)
    if unknown:
        raise TypeError(f"unknown option '{sorted(unknown)[0]}'; there are {', '.join(_LOAD_OPTIONS)}")
    for key, value in options.items():
        if value is not None:
            _check_option(key, value)
    names = {"time_limit": "timeout", "overridable": "made_inputs"}
    found = {names.get(key, key): value for key, value in options.items() if value is not None}
    if "devices" in found:
        found["devices"] = {name: _device_text(name, given) for name, given in dict(found["devices"]).items()}
    return found


def _device_text(name, given):
    """Options of a device as the library takes them: "delay=5,loud=true"."""
    if given is None or isinstance(given, str):
        return given or ""
    texts = []
    for key, value in dict(given).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if "," in text:
            raise InvalidError(f"device '{name}': option '{key}' cannot have a comma: {text!r}")
        texts.append(f"{key}={text}")
    return ",".join(texts)


def _source(source):
    """A path as text, or bytes; a path that is not there says so here, as `open` does."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return source
    path = os.fspath(source)
    if not os.path.exists(path):
        raise FileMissingError(errno.ENOENT, "no such model", os.fsdecode(path))
    return path


def load(source, **options):
    """Reads, compiles and loads a model: a path, or its bytes.

    weights        path of a file with weights, for models that do not have their own
    target         "cpu", or archs in order of preference, such as "cpu,ref"
    threads        number of threads of a run; 0: one for each processor that the process may use
    sessions       how many runs may go on at once, each with a workspace; 0: one for each processor
    memory_limit   bytes that a run may need; LimitError (a MemoryError) if it needs more
    work_limit     work units (about a nanosecond of one core) that a run may take
    time_limit     seconds that loading may last; TimeLimitError (a TimeoutError) beyond
    folder         where a model given as bytes has its files of weights
    files          {name: bytes} of such files
    symbols        {"batch": 4} or {"batch": (1, 32)}: sizes, or ranges, of symbolic dimensions
    strict         refuse faults that other engines accept
    as_read        the model as it was read, without any rewriting, on the reference implementation
    overridable    names of initializers that become inputs with a default value
    devices        {"gpu:1": {"option": 5}}: what devices are opened with; `lightnet archs` lists options. Without a target
                   they are the target, in their order, with "cpu" for what they do not take
    failover       run again on the processor where a device fails; the model is then loaded for both
    rounding       of integers of 8 bits in a TensorFlow Lite model: "float", as XNNPACK rounds them, or "reference", as the
                   reference kernels do, to the bit
    signature      the entry of a TensorFlow Lite model that is read, by name, in place of its first subgraph
    resizable      open all dimensions of inputs of a TensorFlow Lite model, but for their last one
    """
    return Model(source, **options)


class Model:
    """A loaded model. Any number of threads may run it; `with` closes it at the end of a block.

    A model is pickled by its path, or by its bytes, and is loaded again where it is unpickled."""

    def __init__(self, source, **options):
        self._program = None
        source = _source(source)
        program = _core.Program(source, **_core_options(options))
        self._source = os.path.abspath(source) if isinstance(source, (str, bytes)) and not _is_bytes(source) else bytes(
            source)
        self._options = options
        self.inputs = [TensorInfo(*item) for item in program.inputs]
        self.outputs = [TensorInfo(*item) for item in program.outputs]
        self.metadata = Metadata(**program.info)
        self.is_fixed = program.is_fixed
        self._dtypes = {item.name: item.dtype for item in self.inputs}
        optional = {*self.metadata.defaults, *(options.get("overridable") or ())}
        self._needed = [item.name for item in self.inputs if item.name not in optional]
        self._output_names = tuple(item.name for item in self.outputs)
        self._executor = self._executor_pid = None
        self._waiting = []  # a heap of runs that no thread has begun
        self._order = itertools.count()
        self._program = program

    def __call__(self, *args, **kwargs):
        """Runs the model on arrays: in the order of `inputs`, by name, or one dict of names.

        Returns the output, or a tuple of all if there are several."""
        if len(args) == 1 and not kwargs and isinstance(args[0], dict):
            feeds = args[0]
        else:
            if len(args) > len(self.inputs):
                raise InvalidError(f"the model has {len(self.inputs)} inputs, not {len(args)}")
            feeds = dict(zip((item.name for item in self.inputs), args))
            for name in kwargs:
                if name in feeds:
                    raise TypeError(f"input '{name}' is given twice")
            feeds.update(kwargs)
        results = self._run(feeds, self._output_names)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, feeds, outputs=None, *, time_limit=None, cancel=None, priority=0):
        """{name: array} of `outputs`, or of all, for {name: array} of the inputs.

        `time_limit` are seconds, `cancel` a Cancel; both end the run with an exception, and the model may
        run again. `priority` is from -100 to 100: of runs that wait for a session, for a thread or on a
        device, the one with the highest begins first, and of equal ones the one that came first."""
        if outputs is not None:
            outputs = outputs if isinstance(outputs, str) else tuple(outputs)
            _check_option("outputs", outputs)
        names = self._output_names if outputs is None else outputs
        for name in names:
            if name not in self._output_names:
                raise NotFoundError(f"the model has no output '{name}'; it has {', '.join(self._output_names)}")
        return dict(zip(names, self._run(feeds, names, time_limit, cancel, priority=priority)))

    def _run(self, feeds, names, time_limit=None, cancel=None, make_array=_make_array, make_strings=_make_strings,
             priority=0):
        if self._program is None:
            raise StateError("the model is closed")
        if not hasattr(feeds, "items"):
            raise TypeError(f"the inputs are a dict of arrays by name, not {type(feeds).__name__}; "
                            f"the model takes {', '.join(self._dtypes)}")
        if not self._dtypes.keys() >= feeds.keys():
            name = next(other for other in feeds if other not in self._dtypes)
            hint = f" unless it is loaded with overridable=['{name}']" if name in self.metadata.defaults else ""
            raise NotFoundError(f"the model has no input '{name}'{hint}; it takes {', '.join(self._dtypes)}")
        if time_limit is not None:
            _check_option("time_limit", time_limit)
        _check_option("priority", priority)
        for name in self._needed:
            if name not in feeds:
                raise InvalidError(f"input '{name}' is missing; the model takes {', '.join(self._dtypes)}")
        feeds = {name: _from_numbers(value, self._dtypes.get(name)) for name, value in feeds.items()}
        return self._program.run(feeds, names, make_array, make_strings, float(time_limit or 0), cancel,
                                 priority)

    def run_async(self, feeds, outputs=None, *, time_limit=None, cancel=None, priority=0):
        """The same in another thread: a concurrent.futures.Future of what `run` returns."""
        if self._executor is None or self._executor_pid != os.getpid():
            self._executor, self._executor_pid = ThreadPoolExecutor(thread_name_prefix="lightnetrt"), os.getpid()
            self._waiting = []
        _check_option("priority", priority)
        future = Future()
        options = {"time_limit": time_limit, "cancel": cancel, "priority": priority}
        heapq.heappush(self._waiting, (-priority, next(self._order), future, feeds, outputs, options))
        try:
            self._executor.submit(self._run_next)
        except RuntimeError:  # it is closed
            future.cancel()
            raise
        return future

    def _run_next(self):
        """In a thread of the executor, once for each run that waits, of which some may be cancelled."""
        while self._waiting:
            _, _, future, feeds, outputs, options = heapq.heappop(self._waiting)
            if future.set_running_or_notify_cancel():
                break
        else:
            return
        try:
            future.set_result(self.run(feeds, outputs, **options))
        except BaseException as reason:
            future.set_exception(reason)

    def close(self):
        """Frees the model. Runs that are under way end first; later ones raise StateError."""
        program, self._program = self._program, None
        if program is not None:
            program.close()
        if self._executor is not None and self._executor_pid == os.getpid():
            self._executor.shutdown(wait=False)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __reduce__(self):
        if self._program is None:
            raise StateError("the model is closed")
        return _load_again, (self._source, self._options)

    def __repr__(self):
        source = f"{len(self._source)} bytes" if _is_bytes(self._source) else repr(self._source)
        return f"<lightnetrt.Model of {source}: {', '.join(self._dtypes)} -> {', '.join(self._output_names)}>"


def _is_bytes(source):
    return isinstance(source, (bytes, bytearray, memoryview))


def _load_again(source, options):
    return Model(source, **options)


# ---- Functions that return data ----

def convert(source, outfile, *, weights_outfile=None, **options):
    """Writes a model as it was read: ONNX with its weights if `outfile` ends in ".onnx", the model language if it ends in
    ".net", and JSON if it ends in ".json". The latter two have their weights in a file of their own, `weights_outfile` (by
    default `outfile` with the ending ".safetensors"), which `load` takes as `weights`.

    The path of the weights, or None if none were written. Options as for `load`; symbolic sizes stay symbolic."""
    outfile = os.fspath(outfile)
    weights = weights_outfile
    if os.fsdecode(outfile).endswith(".onnx"):
        if weights is not None:
            raise InvalidError("a model in ONNX holds its weights; weights_outfile is for .net and .json")
    elif weights is None:
        weights = os.path.splitext(os.fsdecode(outfile))[0] + ".safetensors"
    path = None if weights is None else os.fsencode(weights)
    return weights if _core.convert(outfile, path, _source(source), **_core_options(options)) else None


def plan(source, **options):
    """The memory plan: a dict with `memory` (bytes: peak, static, workspace, load, mapped), `values` (name, offset,
    bytes, first_step, last_step ...), `steps` (op, reads, writes) and `unplanned`. Options as for `load`."""
    return _core.plan(_source(source), **_core_options(options))


def inspect(source, **options):
    """What a model is and costs: a dict with `inputs`, `outputs`, `metadata`, `macs`, `work`, `memory`, `target`.
    Options as for `load`."""
    found = _core.inspect(_source(source), **_core_options(options))
    found["inputs"] = [TensorInfo(*item) for item in found["inputs"]]
    found["outputs"] = [TensorInfo(*item) for item in found["outputs"]]
    found["metadata"] = Metadata(**found.pop("info"))
    return found


def preflight(source):
    """What is in an ONNX file, and all that keeps it from running (`problems`), as a dict."""
    return _core.preflight(_source(source))


def load_plugin(path):
    """Loads a plug-in, a shared object with devices, operators or formats, and returns its name. Models may then be loaded
    with `target="NAME,cpu"`. Its code has the rights of the program: load none that you do not trust. Raises FileError if there
    is no such file, InvalidError if it is no plug-in, ExistsError if it is loaded."""
    return _core.load_plugin(path)


def unload_plugin(name):
    """Takes back what a plug-in has registered, and unloads it. Raises StateError while a model uses it."""
    _core.unload_plugin(name)


def verify(source, feeds, expected=None, **options):
    """Runs a model and compares: with `expected` ({name: array}), or with the model as it was read.

    Returns {name: (largest difference, largest value expected)}; needs NumPy."""
    import numpy
    options.pop("as_read", None)
    with load(source, **options) as model:
        given = model.run(feeds)
    if expected is None:
        with load(source, as_read=True, **options) as model:
            expected = model.run(feeds)
    result = {}
    for name, wanted in expected.items():
        wanted, got = numpy.asarray(wanted), numpy.asarray(given[name])
        if wanted.shape != got.shape:
            raise InvalidError(f"output '{name}' has shape {got.shape}, {wanted.shape} is expected")
        if wanted.dtype == object:
            result[name] = (float((wanted != got).sum()), 1.0)
            continue
        wide_wanted, wide_got = wanted.astype("float64"), got.astype("float64")
        same = (wide_wanted == wide_got) | (numpy.isnan(wide_wanted) & numpy.isnan(wide_got))
        difference = numpy.where(same, 0, numpy.abs(wide_wanted - wide_got))
        result[name] = (float(difference.max(initial=0)), float(numpy.abs(wide_wanted).max(initial=0)))
    return result
