#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of the zoo with weights that others trained, on their pictures: their results.

    trained.py [--build=DIR]

SqueezeNet 1.1 as ncnn stores it, with three pictures and the probabilities that ONNX Runtime gave,
from test data beside the checkout. Exit 77, skipped, without them or without numpy.
"""
import argparse
import json
import pathlib
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
try:
    import numpy as np
    import oracle
    import zoo
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

DATA = zoo.ROOT.parent / "shared/conformance/models/ncnn-squeezenet-v11"
HALVES = 0x01306B47  # marks weights that are stored as 16 bit floats

# Both sides compute in float; the weights are the same bits. Measured: 3e-6.
BOUND = 1e-5


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_tensor(path):
    """A TensorProto of floats: dims are field 1, the bytes field 9."""
    data, at, dims, raw = path.read_bytes(), 0, [], b""
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
            dims += [value] if key >> 3 == 1 else []
            continue
        size, at = read_varint(data, at)
        field, at = data[at:at + size], at + size
        if key >> 3 == 9:
            raw = field
        elif key >> 3 == 1:
            inner = 0
            while inner < size:
                value, inner = read_varint(field, inner)
                dims.append(value)
    return np.frombuffer(raw, "<f4").reshape(dims)


def read_weights(path, ops):
    """The weights of our convolutions, in order: each as a mark, numbers, and then its bias."""
    data, at, weights = path.read_bytes(), 0, {}
    dims = {oracle.args_of(op, "tensors_out")["dst"]: oracle.params_of(op)["dims"]
            for op in ops if op["optype"] == "create"}
    for op in ops:
        if op["optype"] != "conv2d":
            continue
        args = oracle.args_of(op, "tensors_in")
        mark, = struct.unpack_from("<I", data, at)
        if mark not in (0, HALVES):
            raise zoo.Failure(f"weights of '{args['weight']}' have the unknown mark {mark:#x}")
        count, bias_count = np.prod(dims[args["weight"]]), dims[args["bias"]][0]
        kind = "<f2" if mark == HALVES else "<f4"
        numbers = np.frombuffer(data, kind, count, at + 4)
        at += 4 + -(-numbers.nbytes // 4) * 4
        weights[args["weight"]] = numbers.astype(np.float32).reshape(dims[args["weight"]])
        weights[args["bias"]] = np.frombuffer(data, "<f4", bias_count, at)
        at += 4 * bias_count
    if at != len(data):
        raise zoo.Failure(f"{len(data) - at} bytes of weights are left over")
    return weights


def caffe_variant(lightnet):
    """Pictures are 227 wide, and the last convolution pads, which ours, as torchvision's, does not;
    the mean is over two rows and columns more."""
    model = zoo.Model("squeezenet1_1", "", 0, {"SIZE": 227})
    ops = lightnet.ops(zoo.small_variant(lightnet, model))
    for op in ops:
        out = next(iter(oracle.args_of(op, "tensors_out").values()))
        for param in op["params"]:
            if (out, param["arg_name"]) == ("classifier_1", "padding"):
                param["value"] = [1, 1, 1, 1]
            elif out == "classifier_3" and param["arg_name"] in ("size", "stride"):
                param["value"] = [rows + 2 for rows in param["value"]]
    path = lightnet.scratch / "caffe.json"
    path.write_text(json.dumps({"ops": ops}))
    return path, ops


def test_trained(lightnet):
    path, ops = caffe_variant(lightnet)
    weights = lightnet.scratch / "trained.safetensors"
    zoo.write_safetensors(weights, read_weights(DATA / "model.bin", ops))
    notes = []
    for folder in sorted(DATA.glob("test_data_set_*")):
        picture = read_tensor(folder / "input_0.pb").reshape(1, 3, 227, 227)
        wanted = read_tensor(folder / "output_0.pb").reshape(1, 1000)
        for target in ("ref", "cpu"):
            got = lightnet.run(path, weights, {"input": picture}, target)["prob"]
            found = zoo.deviation(got, wanted)
            notes.append(f"class {got.argmax()} {got.max():.3f}, {found:.1e} on {target}")
            if found > BOUND:
                raise zoo.Failure(f"{folder.name}: {notes[-1]}")
    if not notes:
        raise zoo.Failure("no pictures")
    return "; ".join(notes)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=zoo.ROOT / "build")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("skipped: no trained weights beside the checkout")
        return 77
    with tempfile.TemporaryDirectory(dir=args.build) as scratch:
        lightnet = zoo.Lightnet(args.build, scratch)
        return 0 if zoo.passes("squeezenet1_1", test_trained, lightnet) else 1


sys.exit(main())
