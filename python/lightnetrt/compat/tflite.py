# SPDX-License-Identifier: Apache-2.0
"""The interpreter of TensorFlow Lite on LightNet, for programs that have one:

    from lightnetrt.compat.tflite import Interpreter     # was: from tflite_runtime.interpreter import Interpreter

What programs use of `Interpreter` is here: details of inputs and outputs with their quantization, `set_tensor`, `invoke`,
`get_tensor`, `tensor`, `resize_tensor_input`, variables, signatures. Tensors between are not kept by the runs of LightNet,
so that `get_tensor_details` lists inputs and outputs. Delegates for other processors are refused; a model runs on the CPU.
"""
import enum
import os
import re
import struct

import numpy

import lightnetrt

__all__ = ["Interpreter", "SignatureRunner", "OpResolverType", "Delegate", "load_delegate"]


class OpResolverType(enum.Enum):
    """BUILTIN_REF: integers of 8 bits are rounded as by the reference kernels, to the bit. Else, as by XNNPACK."""
    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


class Delegate:
    """There are none: `load_delegate` says so."""

    def __init__(self, library, options=None):
        raise ValueError(f"Failed to load delegate from {library}: LightNet runs the model on the CPU; leave the delegate out")


def load_delegate(library, options=None):
    return Delegate(library, options)


class _Tensor:
    """An input or output: what the file states of it, and its value."""

    def __init__(self, index, info, stated, quantization):
        if info.dtype is None or info.shape is None:
            raise ValueError(f"type or rank of tensor '{info.name}' is known in a run alone; use lightnetrt.load")
        self.index, self.name = index, info.name
        self.dtype = numpy.dtype(numpy.bytes_ if info.dtype == "string" else info.dtype).type
        sizes = [size.strip() for size in stated.partition("[")[2].rstrip("]").split(",")]
        self.signature = tuple(size if isinstance(size, int) and (i >= len(sizes) or sizes[i] != "?") else -1
                               for i, size in enumerate(info.shape))
        self.shape = tuple(1 if size < 0 else size for size in self.signature)
        self.scales, self.zeros, self.axis = _read_quantization(quantization)
        self.value = None

    def details(self):
        is_one = len(self.scales) == 1
        return {
            "name": self.name, "index": self.index, "shape": numpy.array(self.shape, numpy.int32),
            "shape_signature": numpy.array(self.signature, numpy.int32), "dtype": self.dtype,
            "quantization": (float(self.scales[0]), int(self.zeros[0])) if is_one else (0.0, 0),
            "quantization_parameters": {"scales": self.scales, "zero_points": self.zeros, "quantized_dimension": self.axis},
            "sparsity_parameters": {}}

    def check(self, value):
        if value.dtype.type is not self.dtype:
            raise ValueError(f"Cannot set tensor: Got value of type {_type_name(value.dtype)} but expected type "
                             f"{_type_name(self.dtype)} for input {self.index}, name: {self.name} ")
        if value.ndim != len(self.shape):
            raise ValueError(f"Cannot set tensor: Dimension mismatch. Got {value.ndim} but expected {len(self.shape)} for "
                             f"input {self.index}.")
        for i, (got, wanted) in enumerate(zip(value.shape, self.shape)):
            if got != wanted:
                raise ValueError(f"Cannot set tensor: Dimension mismatch. Got {got} but expected {wanted} for dimension {i} "
                                 f"of input {self.index}.")


def _type_name(dtype):
    return {"float32": "FLOAT32", "float16": "FLOAT16", "float64": "FLOAT64"}.get(numpy.dtype(dtype).name,
                                                                                 numpy.dtype(dtype).name.upper())


def _read_quantization(text):
    """Of the property `quantization NAME`: "scale=0.5,0.25 zero=0,0 axis=3"."""
    words = dict(word.split("=", 1) for word in (text or "").split())
    return (numpy.array([float(x) for x in words["scale"].split(",")] if words else [], numpy.float32),
            numpy.array([int(x) for x in words["zero"].split(",")] if words else [], numpy.int32), int(words.get("axis", 0)))


def _unescaped(name):
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), name)


def _read_ends(text):
    """{name in the signature: name of the tensor} of "x=serve_x:0, y=serve_y:0"; "a\\x2cb" is "a,b"."""
    ends = [end.split("=", 1) for end in text.split(", ") if end]
    return {_unescaped(name): _unescaped(tensor) for name, tensor in ends}


def _fields(data, table):
    """A function from a field's number to its place in the bytes, None where the table has none."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size, = struct.unpack_from("<H", data, vtable)

    def place(field):
        offset = struct.unpack_from("<H", data, vtable + 4 + 2 * field)[0] if 6 + 2 * field <= size else 0
        return table + offset if offset else None
    return place


def _follow(data, at):
    return at + struct.unpack_from("<I", data, at)[0]


def _with_first(content, index):
    """The bytes of a model, which has been read, with subgraph `index` and the first one in each other's places."""
    data = bytearray(content)
    model = _fields(data, _follow(data, 0))
    graphs = _follow(data, model(2))
    count, = struct.unpack_from("<I", data, graphs)
    if index >= count:
        raise ValueError(f"the signature is of subgraph {index} of {count}")
    slots = graphs + 4, graphs + 4 + 4 * index
    tables = [_follow(data, slot) for slot in slots]
    for slot, table in zip(slots, reversed(tables)):
        struct.pack_into("<I", data, slot, table - slot)
    signatures = _follow(data, model(7))
    for i in range(struct.unpack_from("<I", data, signatures)[0]):
        place = _fields(data, _follow(data, signatures + 4 + 4 * i))(4)
        if place and struct.unpack_from("<I", data, place)[0] == index:
            struct.pack_into("<I", data, place, 0)
    return bytes(data)


class Interpreter:
    """A model and one run at a time; several threads take an interpreter each.

    model_path, model_content   a file, or its bytes
    num_threads                 threads of a run; None or -1: one for each processor
    Other arguments are those of TensorFlow Lite. `experimental_preserve_all_tensors` is refused.
    """

    def __init__(self, model_path=None, model_content=None, experimental_delegates=None, num_threads=None,
                 experimental_op_resolver_type=OpResolverType.AUTO, experimental_preserve_all_tensors=False,
                 experimental_disable_delegate_clustering=False, experimental_default_delegate_latest_features=False):
        if (model_path is None) == (model_content is None):
            raise ValueError("`model_path` or `model_content` must be specified."
                             if model_path is None else "Cannot set both `model_path` and `model_content`")
        if experimental_delegates:
            raise ValueError("LightNet runs the model on the CPU; leave `experimental_delegates` out")
        if experimental_preserve_all_tensors:
            raise ValueError("LightNet does not keep the tensors between inputs and outputs; leave "
                             "`experimental_preserve_all_tensors` out")
        if num_threads is not None and (not isinstance(num_threads, int) or num_threads < -1):
            raise ValueError("num_threads should be >= -1")
        source = model_content if model_path is None else os.fspath(model_path)
        if model_path is not None and not os.path.exists(source):
            raise ValueError(f"Could not open '{os.fsdecode(source)}'.")
        options = {"threads": num_threads if num_threads and num_threads > 0 else 0, "sessions": 1}
        resolver = getattr(experimental_op_resolver_type, "name", None)  # of this enumeration, or TensorFlow Lite's own
        if resolver not in OpResolverType.__members__:
            raise ValueError(f"Unrecognized passed in op resolver type: {experimental_op_resolver_type}")
        if resolver == "BUILTIN_REF":
            options["rounding"] = "reference"
        self._source, self._options, self._variables = source, options, []
        try:
            self._load()
        except (lightnetrt.FormatError, lightnetrt.UnsupportedError) as reason:
            raise ValueError(str(reason)) from None
        model = self._model
        self._threads, self._others, self._resolver = num_threads, {}, experimental_op_resolver_type
        properties = model.metadata.properties
        report = lightnetrt.preflight(source)
        stated = dict(report["inputs"] + report["outputs"])  # "FLOAT32[?, 3]", whatever size an open dimension has until a run
        kept = {f"{name}_next" for name in self._variables}
        ends = [[info for info in model.inputs if info.name not in self._variables],
                [info for info in model.outputs if info.name not in kept]]
        tensors = [[], []]
        for side in (0, 1):
            for info in ends[side]:
                tensors[side].append(_Tensor(len(tensors[0]) + len(tensors[1]), info, stated.get(info.name, ""),
                                             properties.get(f"quantization {info.name}")))
        self._inputs, self._outputs = tensors
        self._signatures, self._subgraphs = {}, {}
        for key, text in properties.items():
            if key.startswith("signature "):
                key = key[len("signature "):]
                other = re.search(r" \(subgraph (\d+)\)$", text)
                if other:
                    text, self._subgraphs[key] = text[:other.start()], int(other[1])
                before, after = text.split(" -> ", 1)
                self._signatures[key] = _read_ends(before), _read_ends(after)
        self._state = {}
        self._is_allocated = self._is_resized = self._is_open = False

    def _load(self, **more):
        self._model = lightnetrt.load(self._source, **self._options, **more)
        self._variables = list(self._model.metadata.defaults)
        if self._variables:
            self._model = lightnetrt.load(self._source, overridable=self._variables, **self._options, **more)

    # ---- Tensors ----

    def allocate_tensors(self):
        """Gives inputs that have no value of their shape zeros. After another shape, a run on zeros says those of the outputs."""
        self._give_zeros()
        if self._is_resized and (self._is_open or any(-1 in tensor.signature for tensor in self._outputs)):
            results = self._model.run({tensor.name: numpy.zeros(tensor.shape, tensor.dtype) for tensor in self._inputs})
            for tensor in self._outputs:
                tensor.shape, tensor.value = numpy.shape(results[tensor.name]), None
        self._is_resized = False

    def _give_zeros(self):
        for tensor in self._inputs:
            if tensor.value is None or tensor.value.shape != tensor.shape:
                tensor.value = numpy.zeros(tensor.shape, tensor.dtype)
        self._is_allocated = True

    def get_input_details(self):
        return [tensor.details() for tensor in self._inputs]

    def get_output_details(self):
        return [tensor.details() for tensor in self._outputs]

    def get_tensor_details(self):
        return self.get_input_details() + self.get_output_details()

    def _tensor(self, index):
        tensors = self._inputs + self._outputs
        if not 0 <= index < len(tensors):
            raise ValueError(f"Invalid tensor index {index}; inputs and outputs are 0 to {len(tensors) - 1}, others are not kept")
        return tensors[index]

    def _input(self, index):
        if not 0 <= index < len(self._inputs):
            raise ValueError(f"Tensor {index} is no input; inputs are 0 to {len(self._inputs) - 1}")
        return self._inputs[index]

    def set_tensor(self, tensor_index, value):
        """Copies the array, of the input's exact type and shape."""
        tensor = self._input(tensor_index)
        value = numpy.asarray(value)
        tensor.check(value)
        tensor.value = value.copy()

    def resize_tensor_input(self, input_index, tensor_size, strict=False):
        """Another shape; `allocate_tensors` follows. `strict` leaves sizes that the file states as they are; else all dimensions may
        change but the last one. That of an output follows from those of the inputs, whatever is given."""
        tensor = self._tensor(input_index)
        shape = tuple(int(size) for size in tensor_size)
        if len(shape) != len(tensor.signature):
            raise ValueError(f"tensor '{tensor.name}' has {len(tensor.signature)} dimensions, not {len(shape)}")
        for i, (size, stated) in enumerate(zip(shape, tensor.signature)):
            if size < 0:
                raise ValueError(f"dimension {i} of tensor '{tensor.name}' cannot be {size}")
            if size == stated or stated < 0:
                continue
            if strict or i + 1 == len(shape):
                raise ValueError(f"dimension {i} of tensor '{tensor.name}' is {stated} in the model; to run it with {size}, convert "
                                 "it with an open dimension")
            if tensor in self._inputs:
                self._open(f"dimension {i} of tensor '{tensor.name}' is {stated} in the model, and has to be")
        tensor.shape = shape
        self._is_allocated, self._is_resized = False, True

    def _open(self, why):
        """Lets inputs have sizes that are not those of the file."""
        if self._is_open:
            return
        try:
            self._load(resizable=True)
        except lightnetrt.Error as reason:
            raise ValueError(f"{why}: {reason}") from None
        self._is_open = True

    def get_tensor(self, tensor_index, subgraph_index=0):
        """A copy of the value: of an input as set, of an output as the last run made it."""
        if subgraph_index:
            raise ValueError("only tensors of the first subgraph are known")
        tensor = self._tensor(tensor_index)
        if tensor.value is None:
            raise ValueError(f"Tensor data is null for '{tensor.name}'. Run {'invoke' if tensor in self._outputs else 'allocate_tensors'}() first")
        return tensor.value.copy()

    def tensor(self, tensor_index):
        """A function that returns the value itself: what is written into that of an input is read by `invoke`."""
        tensor = self._tensor(tensor_index)

        def value():
            if tensor.value is None:
                raise RuntimeError(f"There is no value of '{tensor.name}' yet; call allocate_tensors() or invoke() first")
            return tensor.value
        return value

    # ---- Running ----

    def invoke(self):
        if not self._is_allocated:
            raise RuntimeError("Invoke called on model that is not ready: call allocate_tensors() first")
        feeds = {tensor.name: tensor.value for tensor in self._inputs}
        results = self._model.run({**feeds, **self._state})
        for tensor in self._outputs:
            tensor.value = numpy.asarray(results[tensor.name])
            tensor.shape = tensor.value.shape
        self._state = {name: results[f"{name}_next"] for name in self._variables if f"{name}_next" in results}

    def reset_all_variables(self):
        """What the model keeps from run to run is again as in the file."""
        self._state = {}

    # ---- Signatures ----

    def get_signature_list(self):
        return {key: {"inputs": sorted(inputs), "outputs": sorted(outputs)}
                for key, (inputs, outputs) in self._signatures.items()}

    def get_signature_runner(self, signature_key=None):
        if signature_key is None:
            if len(self._signatures) != 1:
                raise ValueError(f"SignatureDef signature_key is None and model has {len(self._signatures)} Signatures. None is "
                                 "only allowed when the model has 1 SignatureDef")
            signature_key = next(iter(self._signatures))
        if signature_key not in self._signatures:
            raise ValueError(f"Invalid signature_key provided: {signature_key!r}; the model has {list(self._signatures)}")
        return SignatureRunner(self._of_signature(signature_key), signature_key)

    def _of_signature(self, key):
        """The interpreter whose first subgraph the signature is of."""
        index = self._subgraphs.get(key, 0)
        if index == 0:
            return self
        if index not in self._others:
            content = self._source
            if not isinstance(content, (bytes, bytearray, memoryview)):
                with open(content, "rb") as file:
                    content = file.read()
            other = Interpreter(model_content=_with_first(content, index), num_threads=self._threads,
                                experimental_op_resolver_type=self._resolver)
            if self._variables or other._variables:
                raise ValueError(f"signature '{key}' is of subgraph {index} of a model with variables, which subgraphs do not share here")
            self._others[index] = other
        return self._others[index]


class SignatureRunner:
    """A function of a model's signature: arrays by name in, a dict of arrays out."""

    def __init__(self, interpreter, key):
        self._interpreter = interpreter
        inputs, outputs = interpreter._signatures[key]
        known = {tensor.name: tensor for tensor in interpreter._inputs + interpreter._outputs}
        for name in (*inputs.values(), *outputs.values()):
            if name not in known:
                raise ValueError(f"signature '{key}' is of tensor '{name}', which is none of the first subgraph's inputs and outputs")
        self._inputs = {name: known[tensor] for name, tensor in sorted(inputs.items())}
        self._outputs = {name: known[tensor] for name, tensor in sorted(outputs.items())}

    def get_input_details(self):
        return {name: tensor.details() for name, tensor in self._inputs.items()}

    def get_output_details(self):
        return {name: tensor.details() for name, tensor in self._outputs.items()}

    def __call__(self, **kwargs):
        for name in kwargs:
            if name not in self._inputs:
                raise ValueError(f"Invalid Input name ({name}) for SignatureDef; there are {', '.join(self._inputs)}")
        if len(kwargs) != len(self._inputs):
            raise ValueError(f"Invalid number of inputs provided for running a SignatureDef, expected {len(self._inputs)} vs "
                             f"provided {len(kwargs)}")
        for name, value in kwargs.items():
            tensor = self._inputs[name]
            value = numpy.asarray(value)
            if value.shape != tensor.shape:
                self._interpreter.resize_tensor_input(tensor.index, value.shape)
            tensor.check(value)
            tensor.value = value.copy()
        self._interpreter._give_zeros()
        self._interpreter.invoke()
        return {name: tensor.value.copy() for name, tensor in self._outputs.items()}
