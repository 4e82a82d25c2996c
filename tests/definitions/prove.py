#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves definitions: rules that say, in operators of the core, what an operator is that `ref` has no function for.

    prove.py BUILD               runs all cases with the model as it was read; compares the table in docs/definitions.md
    prove.py BUILD --write       writes the table

A definition is proved cell by cell: each of its rules, each parameter at another value than its default, each word that one may say, each input that may be
left out, each element type of the first input that it accepts. Where it has several rules, each parameter and input in each rule
that passes it on. A cell is proved by a case that has it and gives what is stored:
ONNX's own cases (Debian's package libonnx-testdata), those of tests/oracle, and the formulas beside this file. The case of a cell
is the first of those with the fewest operators. A cell without a case, and a case that is not right, make this test fail. What is
exempt is named in exempt.txt, with the reason; a line there that is not needed fails too. Exit 77 where the package is not there.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import cases as of_cases
import formulas
import networks

LIBONNX = pathlib.Path("/usr/share/libonnx-testdata/data/node")
ORACLE = ROOT / "tests/oracle"
TABLE = ROOT / "docs/definitions.md"

HEAD = """# Definitions

Operators that arch `ref` has no function for are defined in others, each by rules of one operator (`src/op/onnx/from_onnx.rules`,
`src/op/from_lightnet.rules`): that is what [the model as it was read](run.md#the-model-as-it-was-read) runs. Behind each cell stands
the stored result that proves it; written by `tests/definitions/prove.py`, which runs them all. `node/` is ONNX's own case of
that name, `oracle/` one of ONNX Runtime or of formulas in `tests/oracle`, `formula/` one of `tests/definitions/formulas.py`.

"""


# Of several cases the one in floats is shown first, and halves, which say least, last.
RANKS = {"TL_FLOAT": 0, "TL_FLOAT16": 2, "TL_BFLOAT16": 3}


# Words that a parameter may say, other than its default; of a parameter of that name, or of that operator.
SAME = ("VALID", "SAME_UPPER", "SAME_LOWER")
GATES = ("Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus")
VALUES = {
    "auto_pad": SAME, "autopad": SAME, "act": ("relu",), "approximate": ("tanh",), "direction": ("reverse", "bidirectional"),
    "activation": ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip", "HardSigmoid"), "activations": GATES,
    "qk_matmul_output_mode": ("1", "2", "3"), "dir": ("TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING"),
    "Resize.mode": ("linear", "cubic"), "Upsample.mode": ("linear", "bilinear"), "upsample.mode": ("TL_NEAREST", "TL_LINEAR"),
    "coordinate_transformation_mode": ("half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
                                       "tf_half_pixel_for_nn"),
    "nearest_mode": ("round_prefer_ceil", "floor", "ceil"), "keep_aspect_ratio_policy": ("not_larger", "not_smaller"),
}


def census(build, what, lines=()):
    done = subprocess.run([f"{build}/tests/test_census", what], input="".join(line + "\n" for line in lines), capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def verify(build, lines):
    """Path -> what is wrong with the model as it was read; None for what passes."""
    results = {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("".join(line + "\n" for line in lines))
        listed.flush()
        done = subprocess.run([f"{build}/lightnet", "verify", "--rules=none", "--summary", "--list", listed.name],
                              capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.startswith(("pass", "WRONG", "FAILED"))]
    assert len(said) == len(lines), done.stdout[-2000:] + done.stderr[-2000:]
    for line, result in zip(lines, said):
        path = line.split("\t")[0]
        assert path in result, (path, result)
        results[path] = None if result.startswith("pass") else result.replace(path, "")
    return results


class Proofs:
    def __init__(self):
        self.cells = {}  # (operator, kind, word) -> the best (operators, rank of its type, name)
        self.given = {}  # path -> (operator, what it is given that may be left out), for one such operator
        self.first = {}  # path -> element type of the last operator's first input
        self.base = {}   # operator -> (operators, path) of a case whose inputs are those of the model

    def add(self, cell, count, dtype, name):
        rank = (count, RANKS.get(dtype, 1), name)
        self.cells[cell] = min(self.cells.get(cell, rank), rank)

    def take(self, line, name_of):
        path, count, optype, ins, params = line.split("\t")
        name, count = name_of(path), int(count)
        given = [word.split("=") for word in ins.split()]
        first = given[0][1].rstrip("*") if given else ""
        for arg_name, _ in given:
            self.add((optype, "input", arg_name), count, first, name)
        self.add((optype, "type", first), count, first, name)
        words = re.findall(r"\w+=.*?(?= +\w+=| *$)", params)  # an equation has spaces
        for word in words:
            param, value = word.split("=", 1)
            self.add((optype, "parameter", param), count, first, name)
            for one in value.split(","):
                self.add((optype, "value", f"{param}={one}"), count, first, name)
        self.first[path] = first
        names = [arg_name for arg_name, _ in given] + [word.split("=", 1)[0] for word in words]
        self.given[path] = (optype, names) if path not in self.given else (None, ())
        if given and not any(dtype.endswith("*") for _, dtype in given):
            rank = (given[0][1] != "TL_FLOAT", count, path)
            self.base[optype] = min(self.base.get(optype, rank), rank)


def name_of(path):
    parts = pathlib.Path(path).parts
    if "oracle" in parts:
        return "oracle/" + (parts[-1][:-4] if parts[-1].endswith(".net") else parts[-2])
    if str(LIBONNX) in path:
        return "node/" + parts[-2]
    return "formula/" + parts[-2]


def rules_taken(build, paths):
    """Path -> rules that fire at it."""
    found = collections.defaultdict(set)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("".join(path + "\n" for path in paths))
        listed.flush()
        done = subprocess.run([f"{build}/lightnet", "verify", "--rules=none", "--verbose", "--list", listed.name, "--summary"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, errors="replace")
    fired = set()
    for line in done.stdout.splitlines():
        if line.startswith("info: firing") and ": core: " in line:
            fired.add((line.rsplit("(", 1)[1].rstrip(")"), line.split(": core: ", 1)[1].split(" ", 1)[0]))
        elif line.startswith(("pass", "WRONG", "FAILED")):
            found[line.split()[1].rstrip(":")] = fired
            fired = set()
    return found


def read_exempt():
    lines = [line for line in (HERE / "exempt.txt").read_text().splitlines() if line and not line.startswith("#")]
    return {tuple(line.split("  ")[0].split()): line.split("  ", 1)[1].strip() for line in lines}


def wanted_cells(operators, accepted):
    for optype, operator in operators.items():
        for rule in operator.rules:
            yield optype, "rule", rule
        for rule, passed in operator.rules.items() if len(operator.rules) > 1 else ():
            for name in passed:
                yield optype, "passed", f"{rule}.{name}"
        for name in operator.params:
            yield optype, "parameter", name
            for value in VALUES.get(f"{optype}.{name}", VALUES.get(name, ())):
                yield optype, "value", f"{name}={value}"
        for name in operator.optional_inputs():
            yield optype, "input", name
        for dtype in accepted.get(optype, ()):
            yield optype, "type", dtype


def table(operators, wanted, proofs, exempt):
    rows = collections.defaultdict(lambda: collections.defaultdict(list))
    for cell in wanted:
        optype, kind, word = cell
        word = word[3:].lower() if kind == "type" else word
        proof = proofs.cells.get(cell)
        rows[optype][kind].append(f"{word}: {proof[2] if proof else exempt.get(cell, '**no case**')}")
    lines = []
    for optype in operators:
        lines.append(f"## {optype}\n")
        for kind, title in (("rule", "Rules"), ("passed", "In each rule"), ("parameter", "Parameters"), ("value", "Words"), ("input", "Optional inputs"), ("type", "Element types")):
            if rows[optype][kind]:
                lines.append(f"- {title}: " + "; ".join(rows[optype][kind]))
        lines.append("")
    return HEAD + "\n".join(lines).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", help="a folder for the formulas' cases, which stay there")
    args = parser.parse_args()
    if not LIBONNX.is_dir():
        print(f"skipped: there is no {LIBONNX} (Debian's package libonnx-testdata)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        return prove(args, args.keep or folder)


def prove(args, folder):
    build = args.build
    operators = {one.name: one for one in map(of_cases.Operator, census(build, "definitions"))}
    made = of_cases.Cases(folder, operators)
    for formula in formulas.ALL + networks.ALL:
        formula(made)
    wrong = []

    # What there is, and whether it is right.
    node = sorted(str(path) for path in LIBONNX.glob("*/model.onnx"))
    lists = {"rtol=1e-3\tatol=1e-7": node, "rtol=1e-4\tatol=1e-5": sorted(map(str, ORACLE.glob("onnx/*/*.onnx")))}
    about = [line for path_list in lists.values() for line in census(build, "models", path_list)]
    used = {line.split("\t")[0] for line in about}
    lines = [f"{path}\t{allowed}" for allowed, path_list in lists.items() for path in path_list if path in used]
    results = verify(build, lines + made.lines)
    about += census(build, "models", [line.split("\t")[0] for line in made.lines])
    listed = sorted(map(str, [*ORACLE.glob("cases/*.net"), *ORACLE.glob("formulas/*.net")]))
    about_listed = census(build, "models", listed)
    if about_listed:
        done = subprocess.run([f"{build}/tests/test_oracle_cases", "as_read*"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            wrong.append("tests/oracle: not all cases are right as they were read; run test_oracle_cases 'as_read*'")
    for path, problem in results.items():
        if problem:
            wrong.append(f"{name_of(path)} is wrong: {problem}")
    refusals = verify(build, list(made.refused))
    for path, problem in refusals.items():
        if not problem or not problem.startswith("FAILED"):
            wrong.append(f"{name_of(path)} is not refused")

    # What that proves.
    proofs = Proofs()
    for path, cell in made.refused.items():
        if (refusals[path] or "").startswith("FAILED"):
            proofs.add(cell, 0, None, name_of(path))
    for line in about + about_listed:
        if not results.get(line.split("\t")[0]):
            proofs.take(line, name_of)
    paths = [path for path, problem in results.items() if not problem]
    counts = {line.split("\t")[0]: int(line.split("\t")[1]) for line in about + about_listed}
    for path, fired in {**rules_taken(build, paths), **rules_taken_of_list(build, listed)}.items():
        for optype, rule in fired:
            proofs.add((optype, "rule", rule), counts.get(path, 99), proofs.first.get(path), name_of(path))
            only, names = proofs.given.get(path, (None, ()))
            for name in names if only == optype else ():
                proofs.add((optype, "passed", f"{rule}.{name}"), counts.get(path, 99), proofs.first[path], name_of(path))
    accepted = {}
    for line in census(build, "accepted", [f"{path}\t{optype}" for optype, (_, _, path) in proofs.base.items()]):
        optype, dtypes = line.split("\t")
        accepted[optype] = dtypes.split()
    exempt = read_exempt()
    wanted = list(wanted_cells(operators, accepted))
    for cell in wanted:
        if cell not in proofs.cells and cell not in exempt:
            wrong.append("no case: " + " ".join(cell))
    for optype in operators:
        if optype not in proofs.base:
            wrong.append(f"no case has all inputs of {optype} from outside, so its element types are not known")
    for cell in exempt:
        if cell in proofs.cells or cell not in wanted:
            wrong.append("exempt.txt: not needed: " + " ".join(cell))
    text = table(operators, wanted, proofs, exempt)
    if args.write:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        wrong.append("docs/definitions.md is out of date; run tests/definitions/prove.py BUILD --write")
    for line in wrong:
        print(line)
    proved = sum(cell in proofs.cells for cell in wanted)
    print(f"{len(operators)} definitions, {len(wanted)} cells: {proved} proved, {len(exempt)} exempt; "
          f"{len(results)} cases, {len(made.names)} of them formulas, and {len(listed)} of tests/oracle; {len(wrong)} faults")
    return 1 if wrong else 0


def rules_taken_of_list(build, paths):
    found = {}
    for path in paths:
        if not any(f"{word}(" in pathlib.Path(path).read_text() for word in LIST_OPERATORS):
            continue
        done = subprocess.run([f"{build}/lightnet", "opt", "--rules=none", "--verbose", "-o", os.devnull, path], capture_output=True,
                              text=True, check=False)
        found[path] = {(line.rsplit("(", 1)[1].rstrip(")"), line.split(": core: ", 1)[1].split(" ", 1)[0])
                       for line in done.stderr.splitlines() if line.startswith("info: firing") and ": core: " in line}
    return found


LIST_OPERATORS = ("maxreduce", "upsample", "deconv2d")


if __name__ == "__main__":
    sys.exit(main())
