#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the models in models/, and the table of what they cost.

    zoo.py plan [MODEL...]      compiles each for `cpu` and `ref`: its parameters and its work are
                                as published, batch norms are folded; the table in models/README.md
                                is up to date
    zoo.py small [MODEL...]     runs each on a small picture: every operator of `ref` against the
                                oracle, then the results of `ref` and `cpu`
    zoo.py large [MODEL...]     runs each as it is: the results of `cpu`, and of `ref` where that takes
                                seconds, against the oracle
    zoo.py compiled [MODEL...]  compiles each for small pictures, with its weights and without: both
                                compiled forms compute the same bits as the model
    zoo.py table                writes the table anew

    --every=3                   only each third model of the list, from the first: for slow builds
    --build=DIR                 where `lightnet` is, and room for scratch files (default: build)

Weights are drawn by `lightnet genwts` and pictures here, from fixed seeds. Exit 77, skipped,
without numpy.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing of a test goes into the source tree
try:
    import numpy as np
    import oracle
    import oracle_detect  # noqa: F401: adds operators
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "models"
SEED = 1

# One operator of `ref`, fed with what `ref` fed it, may differ from the oracle by one rounding to
# float: both sum in double, so that the exact results are within 1e-12 of the largest element, and
# two doubles that close round to floats at most one step, 2^-23 of the element, apart.
STEP = 2.0**-23
SUM = 1e-12

# A whole model may differ by what its roundings add up to, measured against the tensor's largest
# element. `ref` rounds to float, by at most 6e-8 of an element, once an operator, and folded weights
# once more; such errors grow about like the root of the depth. `cpu` sums up to some thousand terms
# in float, which costs about ten roundings more. Seen are 4e-7 and 9e-6.
BOUND = {"ref": 1e-6, "cpu": 1e-5}


@dataclasses.dataclass
class Model:
    name: str
    source: str     # the paper, and whose names its weights have
    published: int  # parameters without running means and variances, or 0
    small: dict     # macros of a quick variant
    work: str = ""  # published billions of multiply-accumulates, in as many digits
    heavy: bool = False  # too much for `ref` as it is


ZOO = [
    Model("squeezenet1_1", "Iandola 2016; torchvision", 1235496, {"SIZE": 64}, "0.349"),
    Model("resnet18", "He 2015; torchvision", 11689512, {"SIZE": 64}, "1.814"),
    Model("resnet50", "He 2015; torchvision", 25557032, {"SIZE": 64}, "4.089", heavy=True),
    Model("mobilenet_v1", "Howard 2017; Keras", 4231976, {"SIZE": 64}, "0.569"),
    Model("mobilenet_v2", "Sandler 2018; torchvision", 3504872, {"SIZE": 64}, "0.301"),
    Model("shufflenet_v2_x0_5", "Ma 2018; torchvision", 1366792, {"SIZE": 64}, "0.04"),
    Model("shufflenet_v2_x1_0", "Ma 2018; torchvision", 2278604, {"SIZE": 64}, "0.145"),
    Model("vgg16", "Simonyan 2014; torchvision", 138357544, {"SIZE": 32}, "15.47", heavy=True),
    Model("densenet121", "Huang 2016; torchvision", 7978856, {"SIZE": 64}, "2.834", heavy=True),
    Model("inception_v1", "Szegedy 2014; torchvision", 6624904, {"SIZE": 64}, "1.498"),
    Model("yolov3", "Redmon 2018; Ultralytics", 61949149, {"SIZE": 64}, "32.93", heavy=True),
    Model("yolov3_tiny", "Redmon 2018; Ultralytics", 8852366, {"SIZE": 64}, "2.78"),
    Model("squeezedet", "Wu 2017; the authors", 2082120, {"HEIGHT": 64, "WIDTH": 96}, heavy=True),
    Model("squeezedet_dac", "Wu 2017; the authors", 0, {"HEIGHT": 48, "WIDTH": 64}, heavy=True),
    Model("shuffledet", "Ma 2018, Wu 2017; torchvision", 0, {"HEIGHT": 64, "WIDTH": 96}),
    Model("shuffledet_no_bn", "Ma 2018, Wu 2017; torchvision", 0, {"HEIGHT": 64, "WIDTH": 96}),
    Model("shuffledet_dac", "Ma 2018, Wu 2017; torchvision", 0, {"HEIGHT": 64, "WIDTH": 96}),
    Model("erfnet", "Romera 2018; the authors", 2063151, {"HEIGHT": 64, "WIDTH": 96}, heavy=True),
]

# A choice turns with the smallest difference, and an exponential makes a large one of it. What these
# operators read is compared as everything is; what they make, with what the oracle makes of that.
SENSITIVE = {"softmax", "sigmoid", "maxreduce_arg", "sort1d", "sort1d_by_key", "transform_bboxSQD",
             "detect_yolov3"}


class Failure(Exception):
    pass


class Lightnet:
    """The command, in a scratch folder."""

    def __init__(self, build, scratch):
        self.command = str(pathlib.Path(build).resolve() / "lightnet")
        self.scratch = pathlib.Path(scratch)

    def __call__(self, *args):
        done = subprocess.run([self.command, *map(str, args)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"lightnet {' '.join(map(str, args))}: exit {done.returncode}\n"
                          f"{done.stderr.strip()}")
        return done.stdout

    def ops(self, model):
        """The operators of a model in any format."""
        self("convert", model, "-o", self.scratch / "model.json")
        return oracle.read_model(self.scratch / "model.json")

    def compiled_ops(self, model, target):
        self("-c", "-t", target, "-o", self.scratch / "compiled.json", model)
        return oracle.read_model(self.scratch / "compiled.json")

    def run(self, model, weights, inputs, target):
        """Its outputs by name. `weights` may be None."""
        out = self.scratch / "outputs"
        shutil.rmtree(out, ignore_errors=True)
        given = []
        for name, array in inputs.items():
            np.save(self.scratch / f"{name}.npy", array)
            given += ["-i", f"{name}={self.scratch / name}.npy"]
        file = ["-f", weights] if weights else []
        self("run", "-t", target, *file, "-o", out, *given, model)
        return {entry["name"]: np.load(out / entry["file"])
                for entry in json.loads((out / "outputs.json").read_text())}

    def memory(self, model):
        """Static and workspace bytes on `cpu`."""
        line = self("plan", "--short", model)
        found = re.search(r"main memory: static (\d+) \+ workspace (\d+)", line)
        return int(found.group(1)), int(found.group(2))


# ---- What a model is ----

def count_parameters(ops):
    """Elements that come from the file, without the statistics of batch norms."""
    statistics = {oracle.args_of(op, "tensors_in")[arg]
                  for op in ops if op["optype"] == "batchnorm" for arg in ("mean", "var")}
    return sum(math.prod(oracle.params_of(op)["dims"]) for op in ops
               if oracle.params_of(op).get("from_file")
               and oracle.args_of(op, "tensors_out")["dst"] not in statistics)


def convolved_pixels(src_dims, params):
    """Of what a convolution makes: [images, height, width]."""
    stride, dilation = params.get("stride", [1, 1]), params.get("dilation", [1, 1])
    padding = params.get("padding", [0, 0, 0, 0])
    return [src_dims[0], *((src_dims[1 + i] + padding[i] + padding[2 + i]
                            - (params["size"][i] - 1) * dilation[i] - 1) // stride[i] + 1
                           for i in range(2))]


def count_packed_work(op, dims):
    """Of a convolution whose weights do not say their shape any more."""
    ins, outs = oracle.args_of(op, "tensors_in"), oracle.args_of(op, "tensors_out")
    params = oracle.params_of(op)
    channels = params.get("src_channels") or dims[ins["src"]][3]
    pixels = dims[ins["src"] if op["optype"].startswith("deconv2d") else outs["dst"]][:3]
    if op["optype"].startswith("conv2d_maxpool"): # the image in front of the pooling
        pixels = convolved_pixels(dims[ins["src"]], params)
    return (math.prod(pixels) * params["channels"] * math.prod(params["size"])
            * channels // params.get("group", 1))


def count_separable_work(op, dims):
    """Of a depthwise convolution and the 1x1 ones around it."""
    ins, outs = oracle.args_of(op, "tensors_in"), oracle.args_of(op, "tensors_out")
    params = oracle.params_of(op)
    behind = math.prod(params["size"]) + params.get("project_channels", 0)
    work = math.prod(dims[outs["dst"]][:3]) * behind
    if "expand" in ins:
        work += math.prod(dims[ins["src"]])
    return work * params["channels"]


def count_work(compiled):
    """Multiply-accumulates of the convolutions, which is what papers count, from a compiled model:
    that one says the shapes."""
    dims = {out["name"]: out["dims"] for op in compiled for out in op["tensors_out"]}
    work = 0
    for op in compiled:
        if op["optype"].startswith(("conv2d_nhwc", "conv2d_maxpool_nhwc", "deconv2d_nhwc")):
            work += count_packed_work(op, dims)
            continue
        if op["optype"].startswith("separable_nhwc"):
            work += count_separable_work(op, dims)
            continue
        if op["optype"].startswith(("conv2d_pack", "deconv2d_pack")):
            continue
        if op["optype"].startswith(("conv_", "deconv2d_", "deconv_")):
            ins, outs = oracle.args_of(op, "tensors_in"), oracle.args_of(op, "tensors_out")
            pixels = outs["dst"] if op["optype"].startswith("conv_") else ins["src"]
            work += math.prod(dims[pixels]) * math.prod(dims[ins["weight"]][1:])
    return work


def draw_inputs(ops):
    """Pictures of bytes, or as they are after normalization: mean 0, deviation 1."""
    rng, pictures = np.random.default_rng(SEED), {}
    for op in ops:
        if op["optype"] == "input":
            dims, dtype = (oracle.params_of(op)[name] for name in ("dims", "dtype"))
            drawn = rng.integers(0, 256, dims) if dtype == "TL_UINT8" else rng.standard_normal(dims)
            pictures[oracle.args_of(op, "tensors_out")["dst"]] = drawn.astype(oracle.DTYPES[dtype])
    return pictures


def small_variant(lightnet, model):
    """A file beside copies of all models: macros, then the model."""
    for path in [*MODELS.glob("*.net"), *MODELS.glob("*.inc")]:
        shutil.copy(path, lightnet.scratch)
    lines = [f"#define {macro} {value}" for macro, value in model.small.items()]
    path = lightnet.scratch / f"small_{model.name}.net"
    path.write_text("\n".join([*lines, f'#include "{model.name}.net"', ""]))
    return path


def probed(lightnet, ops, names):
    """The model with more outputs: tensor `x` also as `probe_x`."""
    probes = [{"name": f"probe{i}", "optype": "forward", "params": [],
               "tensors_in": [{"arg_name": "src", "name": name}],
               "tensors_out": [{"arg_name": "dst", "name": f"probe_{name}"}]}
              for i, name in enumerate(names)]
    path = lightnet.scratch / "probed.json"
    path.write_text(json.dumps({"ops": ops + probes}))
    return path


def run_probed(lightnet, ops, names, weights, inputs, target):
    outputs = lightnet.run(probed(lightnet, ops, names), weights, inputs, target)
    return {name: outputs[f"probe_{name}"] for name in names}


def computed(ops):
    """Names of all tensors that are no constants."""
    return [name for op in ops if op["optype"] not in ("create", "input")
            for name in oracle.args_of(op, "tensors_out").values()]


def write_safetensors(path, tensors):
    header, start = {"__metadata__": {"made.by": "a test"}}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [start, start + array.nbytes]}
        start += array.nbytes
    text = json.dumps(header).encode()
    blobs = [array.astype("<f4").tobytes() for array in tensors.values()]
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


# ---- Comparing ----

def deviation(got, wanted):
    """The largest difference, as a share of the largest element. Integers have none."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        raise Failure(f"{got.dtype} {got.shape} instead of {wanted.dtype} {wanted.shape}")
    if not np.isfinite(got).all():
        raise Failure("not all elements are finite")
    if wanted.dtype.kind in "iu" and not np.array_equal(got, wanted):
        raise Failure(f"{(got != wanted).sum()} of {got.size} integers differ")
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    return np.abs(got - wanted).max() / max(np.abs(wanted).max(), 1e-30)


def check_lively(name, array):
    if not np.isfinite(array).all():
        raise Failure(f"'{name}' is not finite")
    if array.dtype.kind == "f" and array.size > 1 and array.min() == array.max():
        raise Failure(f"'{name}' is {array.min()} everywhere")


def largest(array):
    return max(np.abs(array).max(initial=0), 1e-30)


def amplification(op, tensors):
    """How many times more than what it reads an operator's result may deviate, where both are
    taken as shares of their largest elements."""
    if op["optype"] not in ("relu", "elew"):  # cut values off, or cancel them, and keep the error
        return 1.0
    dst = tensors[oracle.args_of(op, "tensors_out")["dst"]]
    ins = [tensors[name] for name in oracle.args_of(op, "tensors_in").values()]
    return max(1.0, max(largest(array) for array in ins) / largest(dst))


def check_all(got, ops, truth, target, what):
    """Every tensor of `got` is what it should be; gives the worst deviation."""
    makers = {name: op for op in ops for name in oracle.args_of(op, "tensors_out").values()}
    worst = 0.0
    for name, array in got.items():
        try:
            found = deviation(array, truth[name]) / amplification(makers[name], truth)
        except Failure as failure:
            raise Failure(f"{what}: '{name}': {failure}") from None
        if found > BOUND[target]:
            raise Failure(f"{what}: '{name}' deviates by {found:.3g} of its largest element, more "
                          f"than {BOUND[target]:g}")
        worst = max(worst, found)
    return worst


def truth_for(ops, truth, seen, target):
    """`truth`, but what SENSITIVE operators make, and all that follows, from what they have `seen`;
    and by how much that deviates from the truth."""
    known, anew, worst = dict(truth), set(), 0.0
    for op in ops:
        ins, outs = oracle.args_of(op, "tensors_in"), oracle.args_of(op, "tensors_out")
        if op["optype"] in SENSITIVE:
            read = {name: seen[name] for name in ins.values() if name in seen}
            what = f"read by {op['name']} on {target}"
            worst = max(worst, check_all(read, ops, known, target, what))
            known.update(read)
        elif anew.isdisjoint(ins.values()):
            continue
        arrays = oracle.compute(op, {arg: known[name] for arg, name in ins.items()})
        known.update({outs[arg]: array for arg, array in arrays.items()})
        anew.update(outs.values())
    return known, worst


def check_operators(ops, tensors):
    """Each operator computes from its inputs, as they are in `tensors`, what the oracle does."""
    for op in ops:
        ins = {arg: tensors[name] for arg, name in oracle.args_of(op, "tensors_in").items()}
        outs = oracle.args_of(op, "tensors_out")
        if not ins:
            continue
        for arg, array in oracle.compute(op, ins).items():
            got, wanted = tensors[outs[arg]].astype(np.float64), array.astype(np.float64)
            allowed = STEP * np.abs(wanted) + SUM * np.abs(wanted).max(initial=0)
            bad = ~(np.abs(got - wanted) <= allowed)
            if got.shape != wanted.shape or bad.any():
                at = np.argmax(bad)
                raise Failure(f"{op['optype']} '{outs[arg]}': {bad.sum()} of {bad.size} elements "
                              f"differ, the first is {got.flat[at]!r}, not {wanted.flat[at]!r}")


def check_folded(ops, compiled):
    """A batch norm that alone reads a convolution became part of it."""
    makers = {name: op["optype"] for op in ops
              for name in oracle.args_of(op, "tensors_out").values()}
    reads = [name for op in ops for name in oracle.args_of(op, "tensors_in").values()]
    folded = {oracle.args_of(op, "tensors_out")["dst"] for op in ops if op["optype"] == "batchnorm"
              for src in [oracle.args_of(op, "tensors_in")["src"]]
              if makers[src] == "conv2d" and reads.count(src) == 1}
    for op in compiled:
        for name in oracle.args_of(op, "tensors_out").values():
            if op["optype"].startswith("batchnorm") and name in folded:
                raise Failure(f"batch norm '{name}' is still an operator")
    return len(folded)


# ---- The tests ----

def test_plan(lightnet, model):
    path = MODELS / f"{model.name}.net"
    ops = lightnet.ops(path)
    found = count_parameters(ops)
    if model.published and found != model.published:
        raise Failure(f"{found} parameters, published are {model.published}")
    for target in ("cpu", "ref"):
        compiled = lightnet.compiled_ops(path, target)
        folded = check_folded(ops, compiled)
        work = count_work(compiled) / 1e9
        digits = len(model.work.partition(".")[2])
        if model.work and f"{work:.{digits}f}" != model.work:
            raise Failure(f"{work} billion multiply-accumulates, published are {model.work}")
    return (f"{found} parameters, {work:.3f} billion multiply-accumulates, "
            f"{folded} batch norms folded")


def names_left(lightnet, path, ops, target):
    """Tensors of the model that are still there when it is compiled, and what SENSITIVE operators
    read."""
    left = {name for op in lightnet.compiled_ops(path, target)
            for name in oracle.args_of(op, "tensors_out").values()} if target == "cpu" else set()
    left |= {name for op in ops if op["optype"] in SENSITIVE
             for name in oracle.args_of(op, "tensors_in").values()}
    return [name for name in computed(ops) if name in left]


def run_all(lightnet, path, ops, weights, inputs, truth, targets):
    """What the compiler makes of the model: its outputs, and on `cpu` also all tensors that are
    still there."""
    notes = []
    for target in targets:
        outputs = lightnet.run(path, weights, inputs, target)
        for name, array in outputs.items():
            check_lively(f"{name} on {target}", array)
        names = names_left(lightnet, path, ops, target)
        inside = run_probed(lightnet, ops, names, weights, inputs, target) if names else {}
        known, worst = truth_for(ops, truth, inside, target)
        worst = max(worst, check_all(outputs, ops, known, target, f"outputs on {target}"))
        notes.append(f"{target} {worst:.1e}")
        if target == "cpu":
            worst = check_all(inside, ops, known, target, f"inside on {target}")
            notes.append(f"{len(names)} tensors on {target} {worst:.1e}")
    return notes


def make_weights(lightnet, path):
    weights = lightnet.scratch / "weights.safetensors"
    lightnet("genwts", "--model", path, "--seed", SEED, "-o", weights)
    return weights


def test_small(lightnet, model):
    path = small_variant(lightnet, model)
    ops, weights = lightnet.ops(path), make_weights(lightnet, path)
    inputs, data = draw_inputs(ops), oracle.read_safetensors(weights)
    truth = oracle.evaluate(ops, data, inputs)
    names = computed(ops)
    tensors = run_probed(lightnet, ops, names, weights, inputs, "ref")
    constants = {name: truth[name] for name in truth if name not in tensors}
    check_operators(ops, {**constants, **tensors})
    notes = run_all(lightnet, path, ops, weights, inputs, truth, ("ref", "cpu"))
    return f"{len(names)} operators, " + ", ".join(notes)


def test_large(lightnet, model):
    path = MODELS / f"{model.name}.net"
    ops, weights = lightnet.ops(path), make_weights(lightnet, path)
    inputs = draw_inputs(ops)
    truth = oracle.evaluate(ops, oracle.read_safetensors(weights), inputs)
    targets = ("cpu",) if model.heavy else ("ref", "cpu")
    return ", ".join(run_all(lightnet, path, ops, weights, inputs, truth, targets))


def test_compiled(lightnet, model):
    path = small_variant(lightnet, model)
    inputs, weights = draw_inputs(lightnet.ops(path)), make_weights(lightnet, path)
    stored, bare = (lightnet.scratch / f"{name}.json" for name in ("stored", "bare"))
    lightnet("-c", "-f", weights, "-o", stored, path)
    lightnet("-c", "--no-weights", "-o", bare, path)
    wanted = lightnet.run(path, weights, inputs, "cpu")
    for form, file in (stored, None), (bare, weights):
        outputs = lightnet.run(form, file, inputs, "cpu")
        for name, array in wanted.items():
            check_lively(name, array)
            if outputs[name].shape != array.shape or outputs[name].tobytes() != array.tobytes():
                raise Failure(f"'{name}' of {form.name} is not bit-identical")
    return f"{len(wanted)} outputs"


def test_rename(lightnet):
    """rename_weights.py makes our names of published ones, and leaves the numbers alone."""
    ours = oracle.read_safetensors(make_weights(lightnet, MODELS / "squeezenet1_1.net"))
    published, renamed = (lightnet.scratch / f"{name}.safetensors" for name in ("theirs", "ours"))
    write_safetensors(published, {name.replace("_", "."): array for name, array in ours.items()})
    subprocess.run([sys.executable, MODELS / "rename_weights.py", published, renamed], check=True)
    got = oracle.read_safetensors(renamed)
    if got.keys() != ours.keys() or not all(np.array_equal(got[name], ours[name]) for name in ours):
        raise Failure("the renamed file is not the one that the model takes")
    inputs = draw_inputs(lightnet.ops(MODELS / "squeezenet1_1.net"))
    lightnet.run(MODELS / "squeezenet1_1.net", renamed, inputs, "cpu")


def fold_norms(ops, weights):
    """The weights of the same model without batch norms: each is done by the convolution before it."""
    makers = {name: op for op in ops for name in oracle.args_of(op, "tensors_out").values()}
    folded = dict(weights)
    for op in ops:
        if op["optype"] != "batchnorm":
            continue
        names = oracle.args_of(op, "tensors_in")
        conv = oracle.args_of(makers[names["src"]], "tensors_in")
        scale, offset, mean, var = (folded.pop(names[arg]).astype(np.float64)
                                    for arg in ("scale", "offset", "mean", "var"))
        factor = scale / np.sqrt(var + oracle.params_of(op)["epsilon"])
        folded[conv["weight"]] = folded[conv["weight"]] * factor[:, None, None, None]
        folded[conv["bias"]] = offset - mean * factor
    return {name: array.astype(np.float32) for name, array in folded.items()}


def test_no_bn(lightnet):
    """shuffledet_no_bn.net is shuffledet.net with its batch norms folded into the weights."""
    plain, folded = (MODELS / f"{name}.net" for name in ("shuffledet", "shuffledet_no_bn"))
    ops, weights = lightnet.ops(plain), make_weights(lightnet, plain)
    inputs = draw_inputs(ops)
    wanted = run_probed(lightnet, ops, ["conv6"], weights, inputs, "cpu")
    write_safetensors(weights, fold_norms(ops, oracle.read_safetensors(weights)))
    got = run_probed(lightnet, lightnet.ops(folded), ["conv6"], weights, inputs, "cpu")
    worst = check_all(got, ops, wanted, "cpu", "without batch norms")
    return f"cpu {worst:.1e}"


# ---- The table ----

START, END = "<!-- table: written by tests/models/zoo.py table -->", "<!-- end of table -->"


def table_row(lightnet, model):
    path = MODELS / f"{model.name}.net"
    ops = lightnet.ops(path)
    shape = "x".join(str(n) for n in next(iter(draw_inputs(ops).values())).shape)
    work = count_work(lightnet.compiled_ops(path, "cpu"))
    lightnet("opt", "-p", "expand", "-o", lightnet.scratch / "unfolded.json", path)
    plain = lightnet.memory(lightnet.scratch / "unfolded.json")
    folded = lightnet.memory(path)
    cells = [f"`{model.name}`", model.source, shape, f"{count_parameters(ops):,}",
             f"{work / 1e6:,.1f} M", *(f"{count:,}" for count in (*folded, *plain))]
    return "| " + " | ".join(cells) + " |"


def table(lightnet):
    rows = [START,
            "| model | paper; weights as in | input | parameters | multiply-accumulates | static | "
            "workspace | static, unfolded | workspace, unfolded |",
            "|---|---|---|---|---|---|---|---|---|"]
    return "\n".join([*rows, *(table_row(lightnet, model) for model in ZOO), END])


def split_readme():
    text = (MODELS / "README.md").read_text()
    before, rest = text.split(START)
    return before, START + rest.split(END)[0] + END, rest.split(END)[1]


def check_table(lightnet):
    if split_readme()[1] != table(lightnet):
        raise Failure("the table in models/README.md is out of date; run: tests/models/zoo.py table")


def write_table(lightnet):
    before, _, behind = split_readme()
    (MODELS / "README.md").write_text(before + table(lightnet) + behind)


# ---- The command ----

TESTS = {"plan": test_plan, "small": test_small, "large": test_large,
         "compiled": test_compiled}


def passes(name, test, *args):
    start = time.monotonic()
    try:
        note = test(*args) or "ok"
    except (Failure, NotImplementedError, ValueError, subprocess.CalledProcessError) as failure:
        note = f"FAILED: {failure}"
    print(f"{name}: {note} ({time.monotonic() - start:.1f} s)", flush=True)
    return not note.startswith("FAILED")


def run_tests(lightnet, kind, names, every):
    if every > 1:
        print(f"models 1, {1 + every}, {1 + 2 * every} and so on of {len(ZOO)}")
    results = [passes(model.name, TESTS[kind], lightnet, model)
               for model in ZOO[::every] if not names or model.name in names]
    if kind == "plan" and not names:
        results.append(passes("rename_weights.py", test_rename, lightnet))
        results.append(passes("shuffledet_no_bn", test_no_bn, lightnet))
        results.append(passes("README.md", check_table, lightnet))
    return all(results)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("kind", choices=[*TESTS, "table"])
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    unknown = set(args.models) - {model.name for model in ZOO}
    if unknown:
        sys.exit(f"no such model: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(dir=args.build) as scratch:
        lightnet = Lightnet(args.build, scratch)
        if args.kind == "table":
            write_table(lightnet)
            return 0
        return 0 if run_tests(lightnet, args.kind, args.models, args.every) else 1


if __name__ == "__main__":
    sys.exit(main())
