# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models and values for tests, byte by byte: a message is a dict of field number -> value.

A value is an int (varint), a float (4 bytes), bytes or str, a dict (a message), or a list of these.
"""
import struct

DTYPES = {"FLOAT": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7, "STRING": 8,
          "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11, "UINT32": 12, "UINT64": 13, "COMPLEX64": 14,
          "COMPLEX128": 15, "BFLOAT16": 16}
NUMPY = {"f4": "FLOAT", "u1": "UINT8", "i1": "INT8", "u2": "UINT16", "i2": "INT16", "i4": "INT32",
         "i8": "INT64", "b1": "BOOL", "f2": "FLOAT16", "f8": "DOUBLE", "u4": "UINT32", "u8": "UINT64"}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def message(fields):
    out = b""
    for number, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int):
                out += varint(number << 3) + varint(one)
            elif isinstance(one, float):
                out += varint(number << 3 | 5) + struct.pack("<f", one)
            else:
                data = message(one) if isinstance(one, dict) else one.encode() if isinstance(one, str) else one
                out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


# ---- Values ----

def tensor(array, name=""):
    """TensorProto of a NumPy array; strings too."""
    fields = {1: list(array.shape), 8: name}
    if array.dtype.kind in "US":
        return {**fields, 2: DTYPES["STRING"], 6: [str(text) for text in array.ravel()]}
    return {**fields, 2: DTYPES[NUMPY[array.dtype.str[1:]]], 9: array.tobytes()}


def sequence(arrays):
    """SequenceProto of tensors."""
    return {1: "", 2: 1, 3: [tensor(array) for array in arrays]}


def optional(array=None):
    """OptionalProto of a tensor, or of nothing."""
    return {2: 0} if array is None else {2: 1, 3: tensor(array)}


# ---- Models ----

def tensor_type(dtype, dims):
    """TypeProto; a dimension is a number, or a text: its symbol."""
    shape = {1: [{2: dim} if isinstance(dim, str) else {1: dim} for dim in dims]}
    return {1: {1: DTYPES[dtype], 2: shape}}


def sequence_type(dtype):
    return {4: {1: {1: {1: DTYPES[dtype]}}}}


def optional_type(dtype):
    return {9: {1: {1: {1: DTYPES[dtype]}}}}


def node(optype, inputs, outputs, domain="", name="", **attributes):
    fields = {1: list(inputs), 2: list(outputs), 3: name, 4: optype, 5: [], 7: domain}
    for key, value in attributes.items():
        if isinstance(value, int):
            fields[5].append({1: key, 3: value, 20: 2})
        elif isinstance(value, float):
            fields[5].append({1: key, 2: value, 20: 1})
        else:
            fields[5].append({1: key, 8: list(value), 20: 7})
    return fields


def model(nodes, inputs, outputs, weights=(), opset=17):
    """ModelProto; inputs and outputs are (name, type), weights (name, array)."""
    graph = {1: list(nodes), 2: "g", 5: [tensor(array, name) for name, array in weights],
             11: [{1: name, 2: kind} for name, kind in inputs],
             12: [{1: name, 2: kind} for name, kind in outputs]}
    return message({1: 8, 2: "test", 7: graph, 8: {1: "", 2: opset}})
