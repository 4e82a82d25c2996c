# SPDX-License-Identifier: Apache-2.0
"""Cases of one operator in IL, with inputs and outputs as `lightnet verify` reads them.

Formulas compute in doubles, or in Python's integers, from inputs that are rounded to their element type first; what they
give is rounded to the type of the output, and stored with a tolerance of that type.
"""
import pathlib

import numpy as np

# name -> how many bits of a fraction; numbers in between are rounded to the even one
FLOATS = {"TL_FLOAT": 23, "TL_DOUBLE": 52, "TL_FLOAT16": 10, "TL_BFLOAT16": 7}
INTEGERS = {"TL_INT8": "i1", "TL_INT16": "i2", "TL_INT32": "i4", "TL_INT64": "i8", "TL_UINT8": "u1", "TL_UINT16": "u2",
            "TL_UINT32": "u4", "TL_UINT64": "u8", "TL_BOOL": "?"}
STORED = {"TL_FLOAT": "f4", "TL_DOUBLE": "f8", "TL_FLOAT16": "f2", "TL_COMPLEX64": "c8", "TL_COMPLEX128": "c16", **INTEGERS}
# Numbers of 4 and 2 bits are one a byte; floating ones of 8 and 4 bits are their patterns.
NARROW = {"TL_INT4": (-8, 7), "TL_UINT4": (0, 15), "TL_INT2": (-2, 1), "TL_UINT2": (0, 3)}
PATTERNS = ("TL_FLOAT8E4M3FN", "TL_FLOAT8E4M3FNUZ", "TL_FLOAT8E5M2", "TL_FLOAT8E5M2FNUZ", "TL_FLOAT8E8M0", "TL_FLOAT4E2M1")

# rtol, and atol as a part of the largest number
TOLERANCES = {"TL_FLOAT": (4e-6, 1e-6), "TL_DOUBLE": (1e-11, 1e-12), "TL_FLOAT16": (2**-10, 2**-13),
              "TL_BFLOAT16": (2**-7, 2**-10)}


def to_bfloat16(numbers):
    """Bits of the nearest bfloat16, ties to even. A double is rounded to a float to odd first, so that it is rounded once."""
    wide = np.asarray(numbers, "f8")
    near = wide.astype("f4")
    one = np.uint64(1)
    bits = near.view("u4").astype("u8")
    to_odd = np.where(np.abs(near) > np.abs(wide), bits - one, bits) | one
    bits = np.where((near != wide) & np.isfinite(wide), to_odd, bits)
    kept = (bits + np.uint64(0x7fff) + ((bits >> np.uint64(16)) & one)) >> np.uint64(16)
    return np.where(np.isnan(near), np.uint64(0x7fc0), kept).astype("u2")


def from_bfloat16(bits):
    return (np.asarray(bits, "u2").astype("u4") << 16).view("f4").astype("f8")


def store(dtype, numbers):
    """The array that a file has for these numbers."""
    if dtype == "TL_BFLOAT16":
        return to_bfloat16(numbers)
    if dtype in NARROW:
        return np.asarray(numbers).astype("i1" if dtype in ("TL_INT4", "TL_INT2") else "u1")
    if dtype in PATTERNS:
        return np.asarray(numbers).astype("u1")
    with np.errstate(over="ignore"):
        return np.asarray(numbers).astype(STORED[dtype])


def rounded(dtype, numbers):
    """The numbers that the type has for these: doubles of floating types, integers of Python else."""
    stored = store(dtype, numbers)
    if dtype == "TL_BFLOAT16":
        return from_bfloat16(stored)
    return stored.astype("f8") if dtype in FLOATS else stored.astype(object) if dtype in INTEGERS or dtype in NARROW else stored


class Operator:
    """What the census says of a definition."""

    def __init__(self, line):
        self.name, rules, params, ins, outs = line.split("\t")
        self.params, self.ins, self.outs = (words.split() for words in (params, ins, outs))
        passed = [word.split(",") for word in rules.split()]
        self.rules = {words[0]: words[1:] for words in passed}  # rule -> parameters and optional inputs that it passes on

    def optional_inputs(self):
        return [word.rstrip("?.") for word in self.ins if word.endswith("?")]


def arg_names(words, count):
    """Argument names by position, of a list of which the last may be without end."""
    names = [word.rstrip("?") for word in words]
    if names and names[-1].endswith("..."):
        stem = names.pop()[:-3]
        names += [stem + str(i + 1) for i in range(count - len(names))]
    return names[:count]


def value_text(value):
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_text(one) for one in value) + "]"
    return repr(value)


class Cases:
    """Writes cases into a folder; `lines` is what `lightnet verify --list` takes."""

    def __init__(self, folder, operators):
        self.folder, self.operators = pathlib.Path(folder), operators
        self.lines, self.names, self.refused, self.taken = [], [], {}, {}

    def text(self, operator, inputs, params, outputs, constants):
        names = arg_names(operator.ins, len(inputs))
        lines, given = [], []
        for i, (name, one) in enumerate(zip(names, inputs)):
            if one is None:
                continue
            dtype, array = one[0], np.asarray(one[1])
            if i in constants:
                lines.append("create(| dst=x%d | dtype=%s, dims=%s, ran=[0, 0], data=%s, from_file=false);"
                             % (i, dtype, value_text(list(array.shape)), value_text([float(v) for v in array.ravel()])))
            else:
                lines.append("input(| dst=x%d | dtype=%s, dims=%s);" % (i, dtype, value_text(list(array.shape))))
            given.append("%s=x%d" % (name, i))
        outs = arg_names(operator.outs, len(outputs))
        made = ["%s=y%d" % (name, i) for i, (name, one) in enumerate(zip(outs, outputs)) if one is not None]
        lines.append("%s(%s | %s | %s);" % (operator.name, ", ".join(given), ", ".join(made), ", ".join(
            "%s=%s" % (key, value_text(value)) for key, value in params.items())))
        lines += ["output(src=y%d | |);" % i for i, one in enumerate(outputs) if one is not None]
        return "\n".join(lines) + "\n"

    def new_folder(self, optype, words):
        name = "_".join([optype] + [word for word in words if word])
        count = self.taken.get(name, 0)
        self.taken[name] = count + 1
        name += "_%d" % (count + 1) if count else ""
        data = self.folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        self.names.append(name)
        return name, data

    def add(self, optype, inputs, outputs, params=None, why="", constants=(), tolerance=None):
        """`inputs` and `outputs` are (element type, array) by position, None where one is left out."""
        params = {key: value for key, value in (params or {}).items() if value is not None}
        name, data = self.new_folder(optype, [why, inputs[0][0][3:].lower()])
        text = self.text(self.operators[optype], inputs, params, outputs, constants)
        (self.folder / name / "model.net").write_text(text)
        given = [one for i, one in enumerate(inputs) if one is not None and i not in constants]
        for i, (dtype, array) in enumerate(given):
            np.save(data / ("input_%d.npy" % i), store(dtype, array))
        rtol = atol = 0
        for i, (dtype, array) in enumerate(one for one in outputs if one is not None):
            np.save(data / ("output_%d.npy" % i), store(dtype, array))
            if dtype in FLOATS:
                numbers = np.abs(np.asarray(array, "f8"))
                numbers = numbers[np.isfinite(numbers)]
                of_type = (tolerance or {}).get(dtype, TOLERANCES[dtype])
                rtol = max(rtol, of_type[0])
                atol = max(atol, of_type[1] * (numbers.max() if numbers.size else 0))
        self.lines.append("%s\trtol=%.17g\tatol=%.17g" % (self.folder / name / "model.net", rtol, atol))

    def refuse(self, optype, cell, inputs, params):
        """What the operator does not take, and says so."""
        name, data = self.new_folder(optype, [cell.split()[1], "refused"])
        text = self.text(self.operators[optype], inputs, params, [1], ())
        (self.folder / name / "model.net").write_text(text)
        for i, (dtype, array) in enumerate(one for one in inputs if one is not None):
            np.save(data / ("input_%d.npy" % i), store(dtype, array))
        np.save(data / "output_0.npy", np.zeros(1, "f4"))
        self.refused[str(self.folder / name / "model.net")] = (optype, *cell.split())

    def of_floats(self, optype, inputs, formula, params=None, why="", types=tuple(FLOATS), others=None, **rest):
        """The same numbers in each floating type: `formula` gets what the type has for them, and gives the outputs.

        `others` are inputs of types of their own, after them.
        """
        for dtype in types:
            numbers = [None if one is None else rounded(dtype, one) for one in inputs]
            given = [None if one is None else (dtype, one) for one in numbers]
            outputs = formula(*numbers)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            made = [one if one is None or isinstance(one, tuple) else (dtype, one) for one in outputs]
            self.add(optype, given + list(others or []), made, params, why, **rest)
