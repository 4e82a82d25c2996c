#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs IL tests: a model whose comments say what happens to it.

    // run: lightnet opt --passes=fold     the command; the model's path and -o OUT.net are added
    // expect: conv2d(* | dst=y | *);      a statement of the output; those given come in this order
    // expect-not: batchnorm(*             no statement of the output
    // exact:                              the whole output is what follows, one `// ` a line, up to
    //                                     the first other line; --update writes it anew
    // prints: LINE                        the command's standard output, one line each, from the first
    // fails: TEXT                         the command fails with this in its message
    // same-result: rtol 1e-5 [atol 1e-6]  the model computes the same before and after, on arch
    //                                     `ref`, with the same random inputs; 0 means the same bits
    // result: y rtol 1e-5 = 1, 2.5, ...   the elements of output `y`, on archs `ref` and `cpu`, with all
    //                                     rules and these inputs: computed by others, as numpy

--rewrites leaves `same-result` and `result` out: for builds that are slow, and in which numbers are the same.

`*` in an expectation stands for any text. Blanks do not matter. A statement ends with `;`. The name
of an operator (`conv1: conv2d(...)`) counts only if the expectation has one.
"""
import argparse
import array
import math
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

DIRECTIVE = re.compile(r"^// (run|expect|expect-not|exact|prints|fails|same-result|result):[ \t]*(.*)$")
PRINTS = "// prints: "
NAMED = re.compile(r'^("(?:[^"\\]|\\.)*"|[\w./-]+): ')
INPUT = re.compile(r"^input\(.*\|\s*dst=(\w+)\s*\|(.*)\)\s*;?$", re.S)
NPY_TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b",
             "<u8": "Q", "<u4": "I", "<u2": "H", "|u1": "B", "|b1": "B"}
SIZES = {"TL_FLOAT": "f", "TL_DOUBLE": "d", "TL_INT32": "i", "TL_INT16": "h", "TL_INT8": "b",
         "TL_UINT32": "I", "TL_UINT16": "H", "TL_UINT8": "B"}


class Failure(Exception):
    pass


# ---- Texts ----

def squeeze(text):
    """Blanks that mean nothing go; strings stay as they are."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"\s*([(),|=\[\]])\s*", r"\1", re.sub(r"\s+", " ", parts[i]))
    return "".join(parts).strip().rstrip(";")


def statements(text):
    """The statements of an IL text, squeezed, without comments."""
    text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or " ", text,
                  flags=re.S)
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    text = "".join(p if i % 2 else p.replace(";", "\0") for i, p in enumerate(parts))
    return [s for s in map(squeeze, text.split("\0")) if s]


def matches(pattern, statement):
    if not NAMED.match(pattern):
        statement = NAMED.sub("", statement)
    words = [re.escape(squeeze(part)) for part in pattern.split("*")]
    # Squeezing each part alone keeps blanks beside a `*` out of the way.
    return re.fullmatch(".*".join(words), statement, re.S) is not None


def read_test(path):
    """[(directive, rest, line number)] and, for `exact:`, the lines below it."""
    directives, exact = [], []
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        found = DIRECTIVE.match(line)
        if found:
            directives.append((found.group(1), found.group(2).strip(), number))
            if found.group(1) == "exact":
                for below in lines[number:]:
                    if not below.startswith("//") or DIRECTIVE.match(below):
                        break
                    exact.append(below[3:])
    if not any(d[0] == "run" for d in directives):
        raise Failure("there is no `// run:` line")
    return directives, exact


# ---- Running ----

def call(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def call_well(arguments):
    code, _, errors = call(arguments)
    if code != 0:
        raise Failure(f"{' '.join(arguments)}: exit {code}: {errors.strip()}")


def command_of(lightnet, run, model, out):
    words = shlex.split(run)
    if not words or words[0] != "lightnet":
        raise Failure(f"`run: {run}` does not start with `lightnet`")
    return [lightnet, *words[1:], "-o", str(out), str(model)]


def passes_of(run):
    for word in shlex.split(run):
        if word.startswith("--passes="):
            return word[len("--passes="):]
    raise Failure("`same-result` needs --passes= in the `run` line")


# ---- The same result before and after ----

def write_inputs(model, folder):
    """Random data for each `input` of the model; the seed is the input's name."""
    arguments = []
    for statement in statements(model.read_text()):
        found = INPUT.match(statement)
        if not found:
            continue
        name, params = found.groups()
        dtype = re.search(r"dtype=\"?(\w+)", params).group(1)
        dims = [int(d) for d in re.search(r"dims=\[([^\]]*)\]", params).group(1).split(",")]
        generator = random.Random(name)
        is_float = SIZES[dtype] in "fd"
        data = array.array(SIZES[dtype], [
            generator.uniform(-1, 1) if is_float else generator.randrange(0, 100)
            for _ in range(math.prod(dims))])
        file = folder / f"{name}.raw"
        file.write_bytes(data.tobytes())
        arguments += ["-i", f"{name}={file}"]
    return arguments


def read_npy(path):
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise Failure(f"{path.name} is no .npy file")
    length = int.from_bytes(data[8:10] if data[6] == 1 else data[8:12], "little")
    start = (10 if data[6] == 1 else 12) + length
    header = data[:start].decode("latin-1")
    descr = re.search(r"'descr': *'([^']+)'", header).group(1)
    shape = re.search(r"'shape': *\(([^)]*)\)", header).group(1)
    values = array.array(NPY_TYPES[descr])
    values.frombytes(data[start:])
    return descr, shape.replace(" ", ""), values


def results(lightnet, model, passes, inputs, folder, name):
    lowered, outdir = folder / f"{name}.json", folder / name
    outdir.mkdir()
    call_well([lightnet, "opt", f"--passes={passes}", "--target=ref", "-o", str(lowered), str(model)])
    call_well([lightnet, "run", "--target=ref", "-o", str(outdir), *inputs, str(lowered)])
    return {p.name: read_npy(p) for p in sorted(outdir.glob("*.npy"))}


def is_near(a, b, rtol, atol):
    return a == b or (a != a and b != b) or abs(a - b) <= atol + rtol * max(abs(a), abs(b))


def check_same_result(lightnet, model, run, tolerances, folder):
    words = tolerances.split()
    if len(words) % 2 or words[0::2] not in (["rtol"], ["rtol", "atol"]):
        raise Failure(f"`same-result: {tolerances}`: expected `rtol NUMBER [atol NUMBER]`")
    rtol = float(words[1])
    inputs = write_inputs(model, folder)
    before = results(lightnet, model, "expand", inputs, folder, "before")
    after = results(lightnet, model, passes_of(run) + ",expand", inputs, folder, "after")
    if before.keys() != after.keys():
        raise Failure(f"outputs were {', '.join(before)} and are {', '.join(after)}")
    if not before:
        raise Failure("the model has no outputs to compare")
    for name, (descr, shape, values) in before.items():
        if after[name][:2] != (descr, shape):
            raise Failure(f"{name} was {descr} ({shape}) and is {after[name][0]} ({after[name][1]})")
        # Beside the relative tolerance, cancellation may leave its share of the largest value.
        largest = max((abs(v) for v in values if math.isfinite(v)), default=0)
        atol = float(words[3]) if len(words) > 2 else rtol * largest
        for i, (a, b) in enumerate(zip(values, after[name][2])):
            if not is_near(a, b, rtol, atol):
                raise Failure(f"{name}[{i}] was {a!r} and is {b!r}")


# ---- Stored results ----

def check_result(lightnet, model, rest, folder):
    found = re.fullmatch(r"(\w+) rtol (\S+) = (.+)", rest)
    if not found:
        raise Failure(f"`result: {rest}`: expected `NAME rtol NUMBER = NUMBER, ...`")
    name, rtol = found.group(1), float(found.group(2))
    wanted = [float(number) for number in found.group(3).split(",")]
    inputs = write_inputs(model, folder)
    for target in ("ref", "cpu"):
        outdir = folder / f"result_{name}_{target}"
        outdir.mkdir()
        call_well([lightnet, "run", f"--target={target}", "-o", str(outdir), *inputs, str(model)])
        values = read_npy(outdir / f"{name}.npy")[2]
        if len(values) != len(wanted):
            raise Failure(f"{name} has {len(values)} elements on {target}, not {len(wanted)}")
        atol = rtol * max((abs(number) for number in wanted if math.isfinite(number)), default=0)
        for i, (a, b) in enumerate(zip(wanted, values)):
            if not is_near(a, b, rtol, atol):
                raise Failure(f"{name}[{i}] should be {a!r} and is {b!r} on {target}")


# ---- One file ----

def check_expectations(directives, output):
    found_at = 0
    got = statements(output)
    for kind, rest, number in directives:
        if kind == "expect":
            while found_at < len(got) and not matches(rest, got[found_at]):
                found_at += 1
            if found_at == len(got):
                raise Failure(f"line {number}: not found (in this order): {rest}\n{output}")
            found_at += 1
        elif kind == "expect-not":
            for statement in got:
                if matches(rest, statement) or matches(rest + "(*", statement):
                    raise Failure(f"line {number}: found: {statement}")


def update_exact(path, output):
    lines, kept, skipping = path.read_text().splitlines(), [], False
    for line in lines:
        if skipping and line.startswith("//") and not DIRECTIVE.match(line):
            continue
        skipping = bool(DIRECTIVE.match(line)) and DIRECTIVE.match(line).group(1) == "exact"
        kept.append(line)
        if skipping:
            kept += [("// " + out).rstrip() for out in output.splitlines()]
    path.write_text("\n".join(kept) + "\n")


def run_test(lightnet, path, update, rewrites_only, folder):
    directives, exact = read_test(path)
    run = next(rest for kind, rest, _ in directives if kind == "run")
    prints = [line[len(PRINTS):] for line in path.read_text().splitlines()
              if line.startswith(PRINTS)]
    out = folder / "out.net"
    code, printed, errors = call(command_of(lightnet, run, path, out))
    fails = [rest for kind, rest, _ in directives if kind == "fails"]
    if fails:
        if code == 0 or not all(text in errors for text in fails):
            raise Failure(f"exit {code}, expected a failure with '{fails[0]}': {errors.strip()}")
        return
    if code != 0:
        raise Failure(f"exit {code}: {errors.strip()}")
    # What `print` operators print comes first; then the command shows the outputs.
    if prints and prints != printed.splitlines()[:len(prints)]:
        raise Failure(f"printed was\n{printed}")
    output = out.read_text() if out.exists() else ""
    check_expectations(directives, output)
    if any(kind == "exact" for kind, _, _ in directives) and \
            [line.rstrip() for line in exact] != [line.rstrip() for line in output.splitlines()]:
        if not update:
            raise Failure("the output is not what `// exact:` says (--update writes it):\n" + output)
        update_exact(path, output)
    for kind, rest, _ in directives:
        if kind == "same-result" and not rewrites_only:
            check_same_result(lightnet, path, run, rest, folder)
        if kind == "result" and not rewrites_only:
            check_result(lightnet, path, rest, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightnet", required=True, help="the command to test")
    parser.add_argument("--update", action="store_true", help="write the `// exact:` parts anew")
    parser.add_argument("--rewrites", action="store_true", help="do not run the models")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    for path in options.files:
        try:
            with tempfile.TemporaryDirectory() as folder:
                run_test(options.lightnet, path, options.update, options.rewrites,
                         pathlib.Path(folder))
            print(f"passed: {path}")
        except (Failure, OSError, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"FAILED: {path}: {failure}")
    print(f"{len(options.files) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
