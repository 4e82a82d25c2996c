# SPDX-License-Identifier: Apache-2.0
"""Sessions with custom operators, initializers of their own or a profile, for lightnetrt.compat.onnxruntime.

Libraries of custom operators call the C ABI of ONNX Runtime, which the module _core exports beside its own functions;
it also has the functions that replace initializers of a model and that note times.
A session here is one of that ABI, and looks to its callers like a `lightnetrt.Model`.
"""
import ctypes
import os
from contextlib import nullcontext
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from types import SimpleNamespace

import numpy

import lightnetrt
from lightnetrt import _core

# Of the functions that are called here, their number in the table and the types of their arguments.
_SLOTS = {
    "GetErrorCode": (1, c_void_p), "GetErrorMessage": (2, c_void_p), "CreateEnv": (3, c_int, c_char_p, c_void_p),
    "CreateSession": (7, c_void_p, c_char_p, c_void_p, c_void_p),
    "CreateSessionFromArray": (8, c_void_p, c_char_p, c_size_t, c_void_p, c_void_p),
    "Run": (9, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p),
    "CreateSessionOptions": (10, c_void_p), "EnableProfiling": (14, c_void_p, c_char_p),
    "SetIntraOpNumThreads": (24, c_void_p, c_int),
    "SessionGetInputCount": (30, c_void_p, c_void_p), "SessionGetOutputCount": (31, c_void_p, c_void_p),
    "SessionGetOverridableInitializerCount": (32, c_void_p, c_void_p),
    "SessionGetInputTypeInfo": (33, c_void_p, c_size_t, c_void_p),
    "SessionGetOutputTypeInfo": (34, c_void_p, c_size_t, c_void_p),
    "SessionGetOverridableInitializerTypeInfo": (35, c_void_p, c_size_t, c_void_p),
    "SessionGetInputName": (36, c_void_p, c_size_t, c_void_p, c_void_p),
    "SessionGetOutputName": (37, c_void_p, c_size_t, c_void_p, c_void_p),
    "SessionGetOverridableInitializerName": (38, c_void_p, c_size_t, c_void_p, c_void_p),
    "CreateRunOptions": (39, c_void_p), "RunOptionsSetTerminate": (46, c_void_p),
    "CreateTensorAsOrtValue": (48, c_void_p, c_void_p, c_size_t, c_int, c_void_p),
    "CreateTensorWithDataAsOrtValue": (49, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_int, c_void_p),
    "IsTensor": (50, c_void_p, c_void_p), "GetTensorMutableData": (51, c_void_p, c_void_p),
    "CastTypeInfoToTensorInfo": (55, c_void_p, c_void_p), "GetTensorElementType": (60, c_void_p, c_void_p),
    "GetDimensionsCount": (61, c_void_p, c_void_p), "GetDimensions": (62, c_void_p, c_void_p, c_size_t),
    "GetSymbolicDimensions": (63, c_void_p, c_void_p, c_size_t), "GetTensorTypeAndShape": (65, c_void_p, c_void_p),
    "CreateCpuMemoryInfo": (69, c_int, c_int, c_void_p), "AllocatorFree": (76, c_void_p, c_void_p),
    "GetAllocatorWithDefaultOptions": (78, c_void_p), "ReleaseStatus": (93, c_void_p), "ReleaseSession": (95, c_void_p),
    "ReleaseValue": (96, c_void_p), "ReleaseRunOptions": (97, c_void_p), "ReleaseTypeInfo": (98, c_void_p),
    "ReleaseTensorTypeAndShapeInfo": (99, c_void_p), "ReleaseSessionOptions": (100, c_void_p),
    "SessionEndProfiling": (110, c_void_p, c_void_p, c_void_p), "SessionGetModelMetadata": (111, c_void_p, c_void_p),
    "ModelMetadataGetProducerName": (112, c_void_p, c_void_p, c_void_p),
    "ModelMetadataGetGraphName": (113, c_void_p, c_void_p, c_void_p),
    "ModelMetadataGetDomain": (114, c_void_p, c_void_p, c_void_p),
    "ModelMetadataGetDescription": (115, c_void_p, c_void_p, c_void_p),
    "ModelMetadataLookupCustomMetadataMap": (116, c_void_p, c_void_p, c_char_p, c_void_p),
    "ModelMetadataGetVersion": (117, c_void_p, c_void_p), "ReleaseModelMetadata": (118, c_void_p),
    "ModelMetadataGetCustomMetadataMapKeys": (123, c_void_p, c_void_p, c_void_p, c_void_p),
    "AddFreeDimensionOverrideByName": (124, c_void_p, c_char_p, c_int64),
    "GetStringTensorElementLength": (127, c_void_p, c_size_t, c_void_p),
    "GetStringTensorElement": (128, c_void_p, c_size_t, c_size_t, c_void_p),
    "AddSessionConfigEntry": (130, c_void_p, c_char_p, c_char_p),
    "AddInitializer": (150, c_void_p, c_char_p, c_void_p),
    "SessionGetProfilingStartTimeNs": (146, c_void_p, c_void_p),
    "ModelMetadataGetGraphDescription": (158, c_void_p, c_void_p, c_void_p),
    "AddExternalInitializers": (210, c_void_p, c_void_p, c_void_p, c_size_t),
    "RegisterCustomOpsLibrary_V2": (228, c_void_p, c_char_p),
    "GetResizedStringTensorElementBuffer": (252, c_void_p, c_size_t, c_size_t, c_void_p),
    "AddExternalInitializersFromFilesInMemory": (279, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t),
}

# By their numbers there: as NumPy names them, and as their bytes are stored where it has none.
_DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
           10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
           17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz"}
_NUMBERS = {name: number for number, name in _DTYPES.items()}
_STORED = {16: "uint16", 17: "uint8", 18: "uint8", 19: "uint8", 20: "uint8"}
_STRING = 8


class StatusError(lightnetrt.Error):
    """A status of the C ABI, by its code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class _Api:
    """The functions of the table by name; each raises where its status says so."""

    def __init__(self):
        class Base(ctypes.Structure):
            _fields_ = [("get_api", ctypes.CFUNCTYPE(c_void_p, ctypes.c_uint32)), ("get_version", c_void_p)]

        library = ctypes.CDLL(_core.__file__)
        if not hasattr(library, "OrtGetApiBase"):
            raise StatusError(9, "this build of lightnetrt is without the C ABI that this session needs")
        library.OrtGetApiBase.restype = POINTER(Base)
        table = ctypes.cast(library.OrtGetApiBase().contents.get_api(30), POINTER(c_void_p))
        for name, (number, *types) in _SLOTS.items():
            result = {"GetErrorCode": c_int, "GetErrorMessage": c_char_p}.get(name, c_void_p)
            function = ctypes.CFUNCTYPE(result, *types)(table[number])
            is_plain = name.startswith("Release") or name.startswith("GetError")
            setattr(self, name, function if is_plain else self._checked(function))
        self.env = self.make(self.CreateEnv, 2, b"lightnetrt")
        self.memory = self.make(self.CreateCpuMemoryInfo, 0, 0)
        self.allocator = self.make(self.GetAllocatorWithDefaultOptions)

    def _checked(self, function):
        def call(*args):
            status = function(*args)
            if status:
                code, text = self.GetErrorCode(status), self.GetErrorMessage(status).decode(errors="replace")
                self.ReleaseStatus(status)
                raise StatusError(code, text)
        return call

    def make(self, function, *args, kind=c_void_p):
        """What the function puts where its last argument points."""
        out = kind()
        function(*args, byref(out))
        return out.value

    def text(self, function, *args):
        """A text that the client frees."""
        at = self.make(function, *args, self.allocator)
        text = ctypes.string_at(at).decode(errors="replace") if at else ""
        if at:
            self.AllocatorFree(self.allocator, at)
        return text


_api = None


def _get_api():
    global _api
    if _api is None:
        _api = _Api()
    return _api


def check_library(path):
    """Raises what opening the library does."""
    api = _get_api()
    options = api.make(api.CreateSessionOptions)
    try:
        api.RegisterCustomOpsLibrary_V2(options, os.fsencode(path))
    finally:
        api.ReleaseSessionOptions(options)


class Model:
    def __init__(self, source, libraries, threads=0, symbols=None, files=None, entries=None, initializers=None,
                 external_initializers=None, profile=None, symbols_may_be_missing=True):  # as they always may there
        self._api = api = _get_api()
        self._session = None
        options = api.make(api.CreateSessionOptions)
        try:
            api.SetIntraOpNumThreads(options, threads)
            if profile is not None:
                api.EnableProfiling(options, os.fsencode(profile))
            for name, size in (symbols or {}).items():
                api.AddFreeDimensionOverrideByName(options, name.encode(), size)
            for key, value in (entries or {}).items():
                api.AddSessionConfigEntry(options, key.encode(), value.encode())
            kept = (self._add_files(options, files or {}), self._add_initializers(options, initializers or {}),
                    self._add_external(options, external_initializers or {}))
            for path in libraries:
                api.RegisterCustomOpsLibrary_V2(options, os.fsencode(path))
            if isinstance(source, (str, os.PathLike)):
                self._session = api.make(api.CreateSession, api.env, os.fsencode(source), options)
            else:
                model = bytes(source)
                self._session = api.make(api.CreateSessionFromArray, api.env, model, len(model), options)
            del kept
        finally:
            api.ReleaseSessionOptions(options)
        self.inputs = self._infos("Input")
        self.outputs = self._infos("Output")
        self.overridable = self._infos("OverridableInitializer")
        self.metadata = self._read_metadata()

    def __del__(self):
        if getattr(self, "_session", None):
            self._api.ReleaseSession(self._session)

    def end_profiling(self):
        return os.fsdecode(self._api.text(self._api.SessionEndProfiling, self._session))

    def profiling_start_time_ns(self):
        return self._api.make(self._api.SessionGetProfilingStartTimeNs, self._session, kind=ctypes.c_uint64)

    def _add_files(self, options, files):
        if not files:
            return None
        contents = [bytes(content) for content in files.values()]
        names = (c_char_p * len(files))(*(os.fsencode(name) for name in files))
        buffers = (c_char_p * len(files))(*contents)
        sizes = (c_size_t * len(files))(*map(len, contents))
        self._api.AddExternalInitializersFromFilesInMemory(options, names, buffers, sizes, len(files))
        return names, buffers, contents

    def _add_initializers(self, options, arrays):
        """The options hold the values, whose memory is returned."""
        kept = []
        for name, array in arrays.items():
            value, memory = self._value_of(array, None)
            kept.append(memory)
            try:
                self._api.AddInitializer(options, name.encode(), value)
            finally:
                self._api.ReleaseValue(value)
        return kept

    def _add_external(self, options, arrays):
        pairs = [self._value_of(array, None) for array in arrays.values()]
        values = [value for value, _ in pairs]
        names = (c_char_p * len(pairs))(*(name.encode() for name in arrays))
        try:
            self._api.AddExternalInitializers(options, names, (c_void_p * len(pairs))(*values), len(pairs))
        finally:
            for value in values:
                self._api.ReleaseValue(value)
        return [memory for _, memory in pairs]

    # ---- What the model states ----

    def _shape_of(self, shape):
        """The number of the element type, and the dimensions."""
        api = self._api
        number = api.make(api.GetTensorElementType, shape, kind=c_int)
        count = api.make(api.GetDimensionsCount, shape, kind=c_size_t)
        dims, symbols = (c_int64 * count)(), (c_char_p * count)()
        api.GetDimensions(shape, dims, count)
        api.GetSymbolicDimensions(shape, symbols, count)
        return number, tuple(dim if dim >= 0 else (symbol.decode() or None) for dim, symbol in zip(dims, symbols))

    def _info(self, kind, index):
        api = self._api
        name = api.text(getattr(api, f"SessionGet{kind}Name"), self._session, index)
        type_info = api.make(getattr(api, f"SessionGet{kind}TypeInfo"), self._session, index)
        try:
            shape = api.make(api.CastTypeInfoToTensorInfo, type_info)
            number, dims = self._shape_of(shape) if shape else (0, None)
            return lightnetrt.TensorInfo(name, _DTYPES.get(number), dims)
        finally:
            api.ReleaseTypeInfo(type_info)

    def _infos(self, kind):
        count = self._api.make(getattr(self._api, f"SessionGet{kind}Count"), self._session, kind=c_size_t)
        return [self._info(kind, index) for index in range(count)]

    def _properties(self, metadata):
        api, keys, count = self._api, POINTER(c_void_p)(), c_int64()
        api.ModelMetadataGetCustomMetadataMapKeys(metadata, api.allocator, byref(keys), byref(count))
        properties = {}
        for i in range(count.value):
            key = ctypes.string_at(keys[i])
            at = api.make(api.ModelMetadataLookupCustomMetadataMap, metadata, api.allocator, key)
            properties[key.decode()] = ctypes.string_at(at).decode()
            api.AllocatorFree(api.allocator, at)
            api.AllocatorFree(api.allocator, keys[i])
        if keys:
            api.AllocatorFree(api.allocator, ctypes.cast(keys, c_void_p))
        return properties

    def _read_metadata(self):
        api = self._api
        metadata = api.make(api.SessionGetModelMetadata, self._session)
        try:
            return SimpleNamespace(
                producer=api.text(api.ModelMetadataGetProducerName, metadata),
                graph=api.text(api.ModelMetadataGetGraphName, metadata),
                domain=api.text(api.ModelMetadataGetDomain, metadata),
                doc=api.text(api.ModelMetadataGetDescription, metadata),
                graph_doc=api.text(api.ModelMetadataGetGraphDescription, metadata),
                version=api.make(api.ModelMetadataGetVersion, metadata, kind=c_int64),
                properties=self._properties(metadata), defaults=[item.name for item in self.overridable])
        finally:
            api.ReleaseModelMetadata(metadata)

    # ---- Values ----

    def _value_of_strings(self, array):
        api, dims = self._api, (c_int64 * array.ndim)(*array.shape)
        value = api.make(api.CreateTensorAsOrtValue, api.allocator, dims, array.ndim, _STRING)
        for index, item in enumerate(array.reshape(-1)):
            text = item if isinstance(item, bytes) else str(item).encode()
            at = api.make(api.GetResizedStringTensorElementBuffer, value, index, len(text))
            ctypes.memmove(at, text, len(text))
        return value, array

    def _value_of(self, array, wanted):
        """A value, and what has its memory."""
        array = numpy.asarray(lightnetrt._from_numbers(array, wanted.dtype if wanted else None))
        if array.dtype.kind in "OUS":
            return self._value_of_strings(array)
        number = _NUMBERS.get(wanted.dtype if wanted else None, 0)
        if _STORED.get(number) != str(array.dtype):
            number = _NUMBERS.get(str(array.dtype), 0)
        array = numpy.ascontiguousarray(array).reshape(array.shape)  # which makes a row of a scalar
        api, dims = self._api, (c_int64 * array.ndim)(*array.shape)
        return api.make(api.CreateTensorWithDataAsOrtValue, api.memory, array.ctypes.data, array.nbytes, dims, array.ndim,
                        number), array

    def _strings_of(self, value, shape):
        api = self._api
        texts = numpy.empty(shape, dtype=object)
        flat = texts.reshape(-1)
        for index in range(flat.size):
            size = api.make(api.GetStringTensorElementLength, value, index, kind=c_size_t)
            buffer = ctypes.create_string_buffer(size + 1)
            api.GetStringTensorElement(value, size, index, buffer)
            flat[index] = buffer.raw[:size].decode(errors="replace")
        return texts

    def _array_of(self, value, name):
        api = self._api
        if not api.make(api.IsTensor, value, kind=c_int):
            raise StatusError(9, f"output '{name}' is no tensor, which a model with custom operators gives here")
        info = api.make(api.GetTensorTypeAndShape, value)
        try:
            number, shape = self._shape_of(info)
        finally:
            api.ReleaseTensorTypeAndShapeInfo(info)
        if number == _STRING:
            return self._strings_of(value, shape)
        array = numpy.empty(shape, dtype=_STORED.get(number, _DTYPES[number]))
        if array.nbytes:
            ctypes.memmove(array.ctypes.data, api.make(api.GetTensorMutableData, value), array.nbytes)
        return array

    # ---- Runs ----

    def run(self, feeds, names, cancel=None):
        """`cancel`, if it is not None, makes a context manager of a function that ends the run."""
        api = self._api
        wanted = {item.name: item for item in self.inputs + self.overridable}
        inputs, outputs = [], (c_void_p * len(names))()
        try:
            for name, array in feeds.items():
                inputs.append(self._value_of(array, wanted.get(name)))
            self._run(feeds, [value for value, _ in inputs], names, outputs, cancel)
            return {name: self._array_of(value, name) for name, value in zip(names, outputs)}
        finally:
            for value in [value for value, _ in inputs] + [value for value in outputs if value]:
                api.ReleaseValue(value)

    def _run(self, feeds, values, names, outputs, cancel):
        api = self._api
        options = api.make(api.CreateRunOptions)
        in_names = (c_char_p * len(feeds))(*(name.encode() for name in feeds))
        out_names = (c_char_p * len(names))(*(name.encode() for name in names))

        def end():
            api.RunOptionsSetTerminate(options)
        try:
            with cancel(end) if cancel else nullcontext():
                api.Run(self._session, options, in_names, (c_void_p * len(values))(*values), len(values), out_names,
                        len(names), outputs)
        finally:
            api.ReleaseRunOptions(options)
