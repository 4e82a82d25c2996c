# SPDX-License-Identifier: Apache-2.0
"""Readers and writers of tensor files for the tests, from their descriptions alone: docs/formats.md.

A file is a dict of name -> Tensor in its order; `data` are the packed little-endian bytes.
"""
import json
import math
import re
import struct
from typing import NamedTuple


class Tensor(NamedTuple):
    dtype: str  # as in safetensors: F32, I8, BOOL, ...
    shape: tuple
    data: bytes


SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1,
         "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1}
CODES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b",
         "U64": "Q", "U32": "I", "U16": "H", "U8": "B", "BOOL": "?"}


def tensor(dtype, shape, values):
    data = struct.pack("<%d%s" % (len(values), CODES[dtype]), *values)
    assert len(data) == math.prod(shape) * SIZES[dtype]
    return Tensor(dtype, tuple(shape), data)


def values(t):
    return struct.unpack("<%d%s" % (math.prod(t.shape), CODES[t.dtype]), t.data)


# ---- safetensors ----

def write_safetensors(tensors):
    header, offset = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": t.dtype, "shape": t.shape,
                        "data_offsets": [offset, offset + len(t.data)]}
        offset += len(t.data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(t.data for t in tensors.values())


def read_safetensors(blob):
    (size,) = struct.unpack_from("<Q", blob)
    header, data = json.loads(blob[8:8 + size]), blob[8 + size:]
    header.pop("__metadata__", None)
    return {name: Tensor(d["dtype"], tuple(d["shape"]), data[slice(*d["data_offsets"])])
            for name, d in header.items()}


# ---- .wts ----

def write_wts(tensors):
    lines = ["%d" % len(tensors)]
    for name, t in tensors.items():
        code, width, form = (0, 4, "%08x") if t.dtype == "F32" else (2, 1, "%02x")
        words = [form % int.from_bytes(t.data[i:i + width], "little")
                 for i in range(0, len(t.data), width)]
        lines.append(" ".join([name, str(code), str(len(words))] + words))
    return ("\n".join(lines) + "\n").encode()


def read_wts(blob):
    lines = blob.decode().splitlines()
    tensors = {}
    for line in lines[1:]:
        name, code, count, *words = line.split()
        width = 4 if code == "0" else 1
        assert len(words) == int(count)
        tensors[name] = Tensor("F32" if code == "0" else "I8", (int(count),),
                               b"".join(int(w, 16).to_bytes(width, "little") for w in words))
    assert len(tensors) == int(lines[0])
    return tensors


# ---- params dictionary ----

LIST_MAGIC, ARRAY_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F
DL_TYPES = {"F64": (2, 64), "F32": (2, 32), "F16": (2, 16), "BF16": (4, 16), "I64": (0, 64),
            "I32": (0, 32), "I16": (0, 16), "I8": (0, 8), "U64": (1, 64), "U32": (1, 32),
            "U16": (1, 16), "U8": (1, 8), "BOOL": (1, 1)}


def write_params(tensors):
    blob = struct.pack("<QQQ", LIST_MAGIC, 0, len(tensors))
    for name in tensors:
        blob += struct.pack("<Q", len(name.encode())) + name.encode()
    blob += struct.pack("<Q", len(tensors))
    for t in tensors.values():
        blob += struct.pack("<QQiiiBBH", ARRAY_MAGIC, 0, 1, 0, len(t.shape), *DL_TYPES[t.dtype], 1)
        blob += struct.pack("<%dqq" % len(t.shape), *t.shape, len(t.data)) + t.data
    return blob


def read_params(blob):
    at = 0

    def take(form):
        nonlocal at
        fields = struct.unpack_from("<" + form, blob, at)
        at += struct.calcsize("<" + form)
        return fields

    magic, _, count = take("QQQ")
    assert magic == LIST_MAGIC
    names = []
    for _ in range(count):
        (size,) = take("Q")
        names.append(blob[at:at + size].decode())
        at += size
    assert take("Q") == (count,)
    tensors = {}
    for name in names:
        magic, _, device, _, ndim, code, bits, lanes = take("QQiiiBBH")
        assert (magic, device, lanes) == (ARRAY_MAGIC, 1, 1)
        *shape, size = take("%dqq" % ndim)
        dtype = next(k for k, v in DL_TYPES.items() if v == (code, bits))
        assert size == math.prod(shape) * SIZES[dtype]
        tensors[name] = Tensor(dtype, tuple(shape), blob[at:at + size])
        at += size
    assert at == len(blob)
    return tensors


# ---- .npy ----

NPY_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
             "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}


def write_npy(t):
    text = repr({"descr": NPY_TYPES[t.dtype], "fortran_order": False, "shape": t.shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + t.data


def read_npy(blob):
    assert blob[:8] == b"\x93NUMPY\x01\x00"
    (size,) = struct.unpack_from("<H", blob, 8)
    text = blob[10:10 + size].decode()
    descr = re.search(r"'descr': '(...)'", text)[1]
    shape = tuple(int(n) for n in re.search(r"\(([^)]*)\)", text)[1].split(",") if n.strip())
    return Tensor(next(k for k, v in NPY_TYPES.items() if v == descr), shape, blob[10 + size:])


READERS = {"safetensors": read_safetensors, "wts": read_wts, "params": read_params}
WRITERS = {"safetensors": write_safetensors, "wts": write_wts, "params": write_params}
