#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The official test cases of ONNX, and real models of ONNX and TensorFlow Lite, through `lightnet verify`.

    run.py [--build=DIR] [--target=ref] [SET...]      run sets: libonnx, node, node-legacy, simple,
                                                      pytorch-operator, pytorch-converted, light, real,
                                                      tflite, tflite-op
    run.py [--through=onnx] [SET...]                  the same after each model was written in these
                                                      formats, il, ir or onnx, and read again
    run.py [--rules=none] [SET...]                    the same with each model as it was read
    run.py [--compiled] [SET...]                      the same, and both compiled forms of each model
                                                      must compute the same bits
    run.py [--every=3] [SET...]                       only each third case of a set, by its order in
                                                      the index: for builds that are slow
    run.py [--isolate] [SET...]                       each case in a process of its own, which takes five
                                                      times as long: to see the others after a crash
    run.py [--build=DIR] table                        write table.md: cases for each operator
    run.py [--build=DIR] misses                       write misses.txt anew, to be reviewed as a diff

libonnx is Debian's package libonnx-testdata; the other sets are beside the checkout. A set that is
not there is skipped with a line that says so; exit 77 if none is.

misses.txt names each case that does not pass, with the reason. A case that fails and is not named
there, and a case that is named there and passes, make this test fail: the list can only shrink.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = ROOT.parent / "shared/conformance"
LIBONNX = pathlib.Path("/usr/share/libonnx-testdata/data")
SETS = ["libonnx", "node", "node-legacy", "simple", "pytorch-operator", "pytorch-converted", "light",
        "real", "tflite", "tflite-op"]

# Cases whose stored results nobody can meet but by chance: type and shape are compared.
RANDOM = re.compile(r"test_(bernoulli|training_dropout)")


class Case:
    def __init__(self, name, path, rtol=1e-3, atol=1e-7, is_random=False, versions=()):
        self.name, self.path = name, path
        self.rtol, self.atol, self.is_random, self.versions = rtol, atol, is_random, versions

    def line(self):
        return (f"{self.path}\trtol={self.rtol}\tatol={self.atol}"
                + ("\tshape-only" if self.is_random else ""))


def read_index():
    index = SHARED / "INDEX.json"
    return json.loads(index.read_text())["cases"] if index.exists() else []


def find_cases(set_name, index):
    if set_name == "libonnx":
        folders = sorted(p.parent for p in LIBONNX.glob("*/*/model.onnx"))
        return [Case(f"libonnx/{p.parent.name}/{p.name}", p, is_random=bool(RANDOM.match(p.name)))
                for p in folders]
    found = []
    for case in index:
        group = {"onnx-backend": case.get("group"), "onnx": "real", "tflite": case.get("group")}.get(case["kind"])
        group = "tflite" if group == "model" else group
        if group != set_name:
            continue
        is_random = bool(case.get("nondeterministic") or "nondeterministic" in case.get("flags", ()))
        found.append(Case(f"{group}/{case['name']}", SHARED / case["path"] / case.get("model", ""),
                          case["rtol"], case["atol"], is_random, case.get("ops_since", ())))
    return found


def run(lightnet, target, cases, through=None, is_compiled=False, rules=None, is_isolated=False):
    """Name -> what went wrong, None for a pass."""
    results = {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("".join(case.line() + "\n" for case in cases))
        listed.flush()
        done = subprocess.run([lightnet, "verify", "--target", target, "--summary",
                               *(["--isolate", "--timeout", "600"] if is_isolated else []),
                               *([f"--through={through}"] if through else []),
                               *(["--compiled"] if is_compiled else []),
                               *([f"--rules={rules}"] if rules else []),
                               "--list", listed.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines()
             if line.startswith(("pass", "WRONG", "FAILED", "CRASH", "TIMEOUT"))]
    if len(lines) != len(cases):
        sys.exit(f"{len(lines)} results for {len(cases)} cases; --isolate shows them all; the last: {lines[-1:]}\n"
                 f"{done.stderr[-2000:]}")
    for case, line in zip(cases, lines):
        if str(case.path).rstrip("/") not in line:
            sys.exit(f"the result of {case.path} is: {line}")
        problem = line.split(str(case.path).rstrip("/"), 1)[1].lstrip(": ")
        results[case.name] = None if line.startswith("pass") and not problem else problem[:300] or "fails"
    return results


def read_misses():
    misses = {}
    for line in (HERE / "misses.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(None, 1)
            misses[name] = reason
    return misses


def compare(set_name, target, names, results, misses):
    """Prints what is not as misses.txt says of the set's names; returns how many lines that were."""
    wrong = 0
    for name, problem in results.items():
        if problem and name not in misses:
            print(f"{target}: {name} fails: {problem}")
            wrong += 1
        elif not problem and name in misses:
            print(f"{target}: {name} passes: take it out of tests/conformance/misses.txt")
            wrong += 1
    for name in misses:
        if name.split("/")[0] == set_name and name not in names:
            print(f"{name} of tests/conformance/misses.txt is no case")
            wrong += 1
    passed = sum(problem is None for problem in results.values())
    print(f"{set_name} on {target}: {passed} of {len(results)} pass "
          f"({100 * passed / max(len(results), 1):.1f} %)"
          + ("" if len(results) == len(names) else f", chosen from {len(names)}"))
    return wrong


# ---- Table ----

def make_table(lightnet, index):
    """Cases of the single-operator sets for each operator and the opset of its form."""
    cases = [case for group in ("node", "node-legacy") for case in find_cases(group, index)
             if "_expanded" not in case.name]
    results = run(lightnet, "ref", cases)
    counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for case in cases:
        for version in case.versions:
            if "-" not in version:
                continue  # of a domain that says no version
            operator, since = version.rsplit("-", 1)
            count = counts[operator][int(since)]
            count[0] += results[case.name] is None
            count[1] += 1
    lines = ["| operator | form of opset: cases that pass |", "|---|---|"]
    for operator in sorted(counts, key=str.lower):
        forms = counts[operator]
        cells = [f"{since}: {forms[since][0]}" + ("" if forms[since][0] == forms[since][1]
                                                  else f" of {forms[since][1]}")
                 for since in sorted(forms)]
        lines.append(f"| {operator} | {', '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write_misses(lightnet, index):
    old = read_misses()
    lines = [line for line in (HERE / "misses.txt").read_text().splitlines()
             if line.startswith("#") or not line]
    while lines and not lines[-1]:
        lines.pop()
    for set_name in SETS:
        cases = find_cases(set_name, index)
        both = [run(lightnet, target, cases, is_isolated=True) for target in ("ref", "cpu")] if cases else []
        for case in cases:
            problem = both[0][case.name] or both[1][case.name]
            if problem:
                lines.append(f"{case.name}  {old.get(case.name, 'NEW: ' + problem)}")
    (HERE / "misses.txt").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--target", default="ref")
    parser.add_argument("--through", help="formats that each model goes through, such as il,ir,onnx")
    parser.add_argument("--compiled", action="store_true", help="run the compiled forms of each model too")
    parser.add_argument("--rules", help="none: the model as it was read")
    parser.add_argument("--isolate", action="store_true", help="each case in a process of its own")
    parser.add_argument("--every", type=int, default=1, help="only each so manyth case of a set")
    parser.add_argument("what", nargs="*", default=SETS)
    args = parser.parse_args()
    lightnet = f"{args.build}/lightnet"
    index = read_index()
    if args.what == ["table"]:
        (HERE / "table.md").write_text(make_table(lightnet, index))
        return 0
    if args.what == ["misses"]:
        write_misses(lightnet, index)
        return 0
    wrong = ran = 0
    misses = read_misses()
    for set_name in args.what:
        cases = find_cases(set_name, index)
        if not cases:
            where = LIBONNX if set_name == "libonnx" else SHARED
            print(f"skipped: {set_name}: there is no test data in {where}")
            continue
        if args.every > 1:
            print(f"{set_name}: cases 1, {1 + args.every}, {1 + 2 * args.every} and so on of the index")
        results = run(lightnet, args.target, cases[::args.every], args.through, args.compiled, args.rules,
                      args.isolate)
        wrong += compare(set_name, args.target, {case.name for case in cases}, results, misses)
        ran += 1
    return 1 if wrong else 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
