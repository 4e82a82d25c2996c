#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random models as they are read against ONNX Runtime with its optimization off.

Usage: ort_test.py BUILD-FOLDER [SEED [COUNT]]. test_differential makes COUNT models and says how far roundings may take
each number (tests/differential/sides.h); our ONNX writer writes them; onnxruntime-node computes them. A number may be off by
SAFETY times that and by SAFETY units in its last place, and by 4 units of the largest number of the tensor, or of 1, beside
which functions there lose what is near 0. What saturates at 32 or 64 bits here is undefined in ONNX. Models that ONNX cannot say or ONNX Runtime does not take are
counted. LN_ORT_NODE names a folder with node_modules where the package is installed already. Exits with 77, and says
why, where npm does not answer.
"""
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
HERE = Path(__file__).resolve().parent
sys.argv[1:2] = [str(BUILD)]
sys.path.insert(0, str(HERE.parent / "compat"))
from ort_node_test import install  # noqa: E402

SAFETY = 16
UNITS = {"TL_FLOAT": 2.0**-24, "TL_DOUBLE": 2.0**-53}

# What ONNX Runtime computes in its own way: what the model has (an expression, or a function of its text), why, and which pairs of
# numbers, here and there, it explains; ANY explains shapes too. Each pair that differs in a model needs a reason.
ANY = lambda here, there: True  # noqa: E731


def steps_over_inputs(text):
    """Whether a convolution that pads by SAME has windows smaller than their strides, so that inputs between them are in none."""
    for line in re.findall(r"Conv\w*\(.*auto_pad=\"?SAME.*", text):
        strides, dilations = (list(map(int, found[1].split(","))) if (found := re.search(word + r"=\[([\d, ]+)\]", line)) else []
                              for word in ("strides", "dilations"))
        weights = re.search(r"\b[Ww]=(\w+)", line)
        dims = weights and re.search(rf"dst={weights[1]} \| dtype=\w+, dims=\[\d+, \d+, ([\d, ]+)\]", text)
        if not dims:
            return True
        sizes = list(map(int, dims[1].split(",")))
        if any(stride > 1 + (size - 1) * dilation
               for stride, size, dilation in zip(strides, sizes, dilations or [1] * len(sizes))):
            return True
    return False


BOUNDS = {0.0} | {float(x) for bits in (8, 16, 32, 64) for x in (2**bits - 1, 2**(bits - 1) - 1, -(2**(bits - 1)))}
KNOWN = [
    (r"(keepdims|noop_with_empty_axes|saturate|largest|sorted|select_last_index|exclusive|reverse|upper|ceil_mode|count_include_pad|exclude_outside|unidirectional)=(-\d|[2-9])", "a switch that is neither 0 nor 1", ANY),
    (r"ml_\w+\(.*post_transform=LOGISTIC", "a probability near 0 is 1 minus another one there, which loses digits", ANY),
    (r"ml_LinearRegressor\(.*post_transform=", "a linear regressor has no function after it there", ANY),
    (steps_over_inputs, "SAME pads by less than 0 there where a stride is larger than its window", ANY),
    (r"dims=\[\d+\](.|\n)*(ms_TransposeMatMul|ms_FusedMatMul)\(.*transA=", "A is not transposed before a vector there", ANY),
    # Times x, of which -88 is the least whose sigmoid is not 0.
    (r"act=silu|Swish\(|ms_QuickGelu\(|(?i:\bsigmoid\(|act=sigmoid\b)(.|\n)*(TL_MUL|\bMul\()", "a sigmoid is off by a unit of 1 near 0 there",
     lambda here, there: abs(here - there) <= (88 if abs(here) < 2.0**-10 else 8) * 2.0**-24),
    (r"TL_DOUBLE(.|\n)*ms_FastGelu\(", "its doubles have constants of six digits there",
     lambda here, there: abs(here - there) <= 2.0**-21 * max(1, abs(here))),
    (r"groupnorm\(|GroupNorm(alization)?\(", "the mean of equal numbers is another one there, and a norm divides by almost nothing",
     lambda here, there: abs(here - there) <= 2.0**-6 * max(1, abs(here))),
    (r"(?i:\"-?(nan|inf)\"|pow|log|sqrt|div|mod|reciprocal)(.|\n)*(quantize_dynamic|DynamicQuantizeLinear)\(", "a range that is infinite has any zero point there",
     lambda here, there: here in BOUNDS),
    (r"elew_op=TL_REST(.|\n)*(quantize_dynamic|DynamicQuantizeLinear)\(", "a NaN, as of a remainder by zero, makes the scale one there, all bytes 0 and the zero point 255",
     lambda here, there: there in (0, 255) or math.isnan(there)),
    (r"to=TL_U?INT", "what no integer is near becomes any integer there", lambda here, there: here in BOUNDS),
    (r"\"-?(nan|inf)\"|e\+?3\d|(?i:pow|log|sqrt|div|mod|reciprocal)", "maxima, casts, TopK, Clip and zeros around images treat NaN in their own way there",
     lambda here, there: math.isnan(here) != math.isnan(there)),
    (r"\"-?(nan|inf)\"(.|\n)*(compare|Less|LessOrEqual|Greater|GreaterOrEqual|Equal|IsNaN|IsInf)\(", "and so comparisons of it",
     lambda here, there: {here, there} == {0, 1}),
]


def number(x):
    return float(x) if isinstance(x, str) else x


def is_near(output, i, got, most):
    want, slack, unit = number(output["data"][i]), number(output["slack"][i]), UNITS.get(output["type"], 0)
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) == math.isnan(got) or math.isinf(slack)
    if want == got or math.isinf(slack):
        return True
    if unit == 0:
        if re.fullmatch(r"TL_INT(32|64)", output["type"]) and abs(want) >= 2.0**(int(output["type"][6:]) - 1) - 1:
            return True
        return abs(want - got) <= max(1, SAFETY if slack > 1 else 1) * slack
    return abs(want - got) <= SAFETY * (slack + unit * abs(want)) + 4 * unit * max(most, 1)


def difference(stated, answer, text):
    """What differs, and why it may: None, and no reason, where nothing does."""
    reasons = [(reason, explains) for has, reason, explains in KNOWN
               if (has(text) if callable(has) else re.search(has, text))]
    all_known = None, None
    for output in stated["outputs"]:
        got = answer["outputs"].get(output["name"])
        if got is None:
            return f"no output {output['name']}", None
        if got["dims"] != output["dims"]:
            return (f"{output['name']} has the shape {got['dims']} instead of {output['dims']}",
                    next((reason for reason, explains in reasons if explains is ANY), None))
        most = max((abs(number(x)) for x in output["data"] if math.isfinite(number(x))), default=0)
        wrong = [i for i, x in enumerate(got["data"]) if not is_near(output, i, number(x), most)]
        for i in wrong:
            here, there = number(output["data"][i]), number(got["data"][i])
            known = next((reason for reason, explains in reasons if explains(here, there)), None)
            what = (f"{output['name']}[{i}] is {got['data'][i]} there and {output['data'][i]} here; "
                    f"{len(wrong)} of {len(got['data'])} elements differ")
            if not known:
                return what, None
            all_known = what, known
    return all_known


def compute(modules, models, folder):
    """The answers, by model; a process that dies takes one model along."""
    answers, left = {}, list(models)
    while left:
        lines = folder / "answers"
        lines.unlink(missing_ok=True)
        subprocess.run(["node", str(HERE / "ort.js"), str(modules), str(lines), *map(str, left)], capture_output=True,
                       timeout=3000)
        for line in lines.read_text().splitlines() if lines.exists() else []:
            answer = json.loads(line)
            answers[answer["model"]] = {"error": "ONNX Runtime dies"} if answer.get("begun") else answer
        before, left = len(left), [model for model in left if str(model) not in answers]
        if len(left) == before:
            break
    return answers


def main():
    seed = sys.argv[2] if len(sys.argv) > 2 else str(random.randrange(10**9))
    count = sys.argv[3] if len(sys.argv) > 3 else "300"
    print("seed:", seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        modules = install(folder)
        subprocess.run([str(BUILD / "tests/test_differential"), f"--export={folder}", f"--seed={seed}", f"--models={count}"],
                       stdout=subprocess.DEVNULL, check=True)
        models, counts = [], Counter()
        for text in sorted(folder.glob("*.net"), key=lambda path: int(path.stem)):
            written = subprocess.run([str(BUILD / "lightnet"), "convert", str(text), "-o", str(text.with_suffix(".onnx"))],
                                     capture_output=True, text=True)
            if written.returncode == 0:
                models.append(text.with_suffix(".onnx"))
            else:
                counts["not in ONNX"] += 1
        answers = compute(modules, models, folder)
        for model in models:
            answer, text = answers.get(str(model), {"error": "no answer"}), model.with_suffix(".net").read_text()
            if "error" in answer:
                counts["refused: " + re.sub(r"/\S+/", "", answer["error"])[:160]] += 1
                continue
            what, reason = difference(json.loads(model.with_suffix(".json").read_text()), answer, text)
            counts["known: " + reason if reason else "differs" if what else "agrees"] += 1
            if what and not reason:
                print(f"DIFFERENCE in model {model.stem} of seed {seed}: {what}\n"
                      f"  again: test_differential --seed={seed} --only={model.stem} --verbose\n{text[:3000]}")
    for what, n in counts.most_common():
        print(f"{n:6} {what}")
    if counts["agrees"] < int(count) // 20:
        print("too few models were compared")
        return 1
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
