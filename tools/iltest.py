#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs IL tests: a model whose comments say what happens to it.

    // run: lightnet opt --passes=fold     the command; the model's path and -o OUT.net are added
    // expect: conv2d(* | dst=y | *);      a statement of the output; those given come in this order
    // expect-not: batchnorm(*             no statement of the output
    // expect-count: 2 transpose(*         so many statements of the output
    // exact:                              the whole output is what follows, one `// ` a line, up to
    //                                     the first other line; --update writes it anew
    // prints: LINE                        the command's standard output, one line each, from the first
    // fails: TEXT                         the command fails with this in its message
    // same-result: rtol 1e-5 [atol 1e-6]  the model computes on arch `ref` what it computes as it was
    //                                     read (--rules=none), with three random inputs: the same
    //                                     bits if all rules that fired are `exact`, else so near;
    //                                     with --target=cpu in the `run` line also on `cpu` what
    //                                     it computes there without these passes
    // result: y rtol 1e-5 = 1, 2.5, ...   the elements of output `y`, on archs `ref` and `cpu`, with all
    //                                     rules and these inputs: computed by others, as numpy

--rewrites leaves `same-result` and `result` out: for builds that are slow, and in which numbers are the same.

What `same-result` says of a model holds of its variants as well: with all dimensions equal, and then
with one tensor in place of inputs of one shape and type; of other types; and with every tensor read once
more, so that most rules must not match. --variants=N runs these alone, and fails if there were fewer
than N: a variant that cannot be run as it was read is none.

`*` in an expectation stands for any text. Blanks do not matter. A statement ends with `;`. The name
of an operator (`conv1: conv2d(...)`) counts only if the expectation has one.
"""
import argparse
import array
import concurrent.futures
import math
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

DIRECTIVE = re.compile(r"^// (run|expect|expect-not|expect-count|exact|prints|fails|same-result|result):[ \t]*(.*)$")
PRINTS = "// prints: "
NAMED = re.compile(r'^("(?:[^"\\]|\\.)*"|[\w./-]+): ')
INPUT = re.compile(r"^input\(.*\|\s*dst=(\w+)\s*\|(.*)\)\s*;?$", re.S)
NPY_TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b",
             "<u8": "Q", "<u4": "I", "<u2": "H", "|u1": "B", "|b1": "B"}
SIZES = {"TL_FLOAT": "f", "TL_DOUBLE": "d", "TL_INT32": "i", "TL_INT16": "h", "TL_INT8": "b",
         "TL_UINT32": "I", "TL_UINT16": "H", "TL_UINT8": "B", "TL_BOOL": "B"}
# Numbers at which rules that hold for all others may fail: of a TL_FLOAT, the largest and subnormal ones.
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 2.0 ** -149, 3.4028234663852886e38,
           -3.4028234663852886e38]
SEEDS = ["", "2", "3"]
SPECIAL_SEEDS = ["special", "special2"]


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
    written = [] if "--run" in words else ["-o", str(out)] # which writes nothing
    return [lightnet, *words[1:], *written, str(model)]


def passes_of(run):
    for word in shlex.split(run):
        if word.startswith("--passes="):
            return word[len("--passes="):]
    raise Failure("`same-result` needs --passes= in the `run` line")


# ---- The same result before and after ----

def write_inputs(model, folder, seed=""):
    """Random data for each `input` of the model; the seed is the input's name, and `seed`."""
    arguments = []
    for statement in statements(model.read_text()):
        found = INPUT.match(statement)
        if not found:
            continue
        name, params = found.groups()
        dtype = re.search(r"dtype=\"?(\w+)", params).group(1)
        dims = [int(d) for d in re.search(r"dims=\[([^\]]*)\]", params).group(1).split(",")]
        generator = random.Random(name + seed)
        is_float = SIZES[dtype] in "fd"
        data = array.array(SIZES[dtype], [
            generator.choice(SPECIAL) if is_float and seed in SPECIAL_SEEDS and generator.random() < 0.4 else
            generator.uniform(-1, 1) if is_float else
            generator.randrange(0, 2 if dtype == "TL_BOOL" else 100)
            for _ in range(math.prod(dims))])
        file = folder / f"{name}{seed}.raw"
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


def lower(lightnet, model, passes, lowered, target="ref"):
    """The model after these passes; returns what was said on standard error."""
    arguments = [lightnet, "opt", "--verbose", f"--passes={passes}", f"--target={target}", "-o", str(lowered),
                 str(model)]
    code, _, errors = call(arguments)
    if code != 0:
        raise Failure(f"{' '.join(arguments)}: exit {code}: {errors.strip()}")
    return errors


def results(lightnet, model, inputs, outdir, *options, target="ref"):
    outdir.mkdir()
    call_well([lightnet, "run", f"--target={target}", *options, "-o", str(outdir), *inputs, str(model)])
    return {p.name: read_npy(p) for p in sorted(outdir.glob("*.npy"))}


def are_exact(errors, passes=r"(?!expand)\w+"):
    """Whether every rewrite that fired keeps the bits. What has no tag is no rule: equal operators
    that are merged keep them, layouts do not."""
    fired = re.findall(rf"firing \d+: {passes}: (\w+)(?: \[(\w+)\])? at ", errors)
    for name, tag in fired:
        if tag != "exact" and name not in ("computed_before", "dead"):
            return False
    return True


def is_near(a, b, rtol, atol):
    return a == b or (a != a and b != b) or abs(a - b) <= atol + rtol * max(abs(a), abs(b))


def are_same_bits(a, b):
    return (a != a and b != b) or (a == b and (a != 0 or math.copysign(1, a) == math.copysign(1, b)))


def compare(before, after, rtol, atol):
    # Constants that nothing reads any more are outputs of a text without `output`.
    if not before.keys() <= after.keys():
        raise Failure(f"outputs were {', '.join(before)} and are {', '.join(after)}")
    if not before:
        raise Failure("the model has no outputs to compare")
    for name, (descr, shape, values) in before.items():
        if after[name][:2] != (descr, shape):
            raise Failure(f"{name} was {descr} ({shape}) and is {after[name][0]} ({after[name][1]})")
        # Beside the relative tolerance, cancellation may leave its share of the largest value.
        largest = max((abs(v) for v in values if math.isfinite(v)), default=0)
        allowed = rtol * largest if atol is None else atol
        for i, (a, b) in enumerate(zip(values, after[name][2])):
            if not (is_near(a, b, rtol, allowed) if rtol or atol else are_same_bits(a, b)):
                raise Failure(f"{name}[{i}] was {a!r} and is {b!r}")


def check_model(lightnet, model, passes, tolerances, folder, seeds):
    """False if the model cannot be run as it was read."""
    rtol = None
    for seed in seeds:
        inputs = write_inputs(model, folder, seed)
        try:
            expected = results(lightnet, model, inputs, folder / f"before{seed}", "--rules=none")
        except Failure:
            return False
        if rtol is None:
            lowered = folder / "after.json"
            errors = lower(lightnet, model, passes + ",expand", lowered)
            exact = are_exact(errors)
            rtol, atol = (0, 0) if exact else tolerances
        if seed in SPECIAL_SEEDS and not exact:
            return True
        try:
            compare(expected, results(lightnet, lowered, inputs, folder / f"after{seed}"), rtol, atol)
        except Failure as failure:
            tags = "all rules that fired are tagged exact" if exact else "as `same-result` says"
            raise Failure(f"{model.name}, seed '{seed}', {tags}: {failure}")
    return True


def check_cpu(lightnet, model, passes, tolerances, folder):
    """What rules of arch `cpu` make of its operators is held against these operators: all rules in one
    go, or those of pass `fuse` against the passes before it."""
    before, after = folder / "before_cpu.json", folder / "after_cpu.json"
    names = passes.split(",")
    is_fused = "fuse" in names
    without = ",".join(name for name in names if name != "fuse") if is_fused else "core"
    lower(lightnet, model, without + ",expand", before, "cpu")
    exact = are_exact(lower(lightnet, model, passes + ",expand", after, "cpu"),
                      "fuse" if is_fused else r"(?!expand)\w+")
    for seed in SEEDS + (SPECIAL_SEEDS if exact else []):
        inputs = write_inputs(model, folder, seed)
        try:
            compare(results(lightnet, before, inputs, folder / f"before_cpu{seed}", target="cpu"),
                    results(lightnet, after, inputs, folder / f"after_cpu{seed}", target="cpu"),
                    *((0, 0) if exact else tolerances))
        except Failure as failure:
            tags = "all rules that fired are tagged exact" if exact else "as `same-result` says"
            raise Failure(f"{model.name} on cpu, seed '{seed}', {tags}: {failure}")


def equal_dimensions(text, size):
    """All dimensions but 1 become `size`."""
    def replace(match):
        return "dims=[" + ", ".join(d if int(d) == 1 else str(size)
                                    for d in re.findall(r"\d+", match.group(1))) + "]"
    return re.sub(r"dims=\[([\d, ]*)\]", replace, text)


def one_tensor(text):
    """The first of the inputs of one shape and type is in place of the others; None if there are none."""
    firsts, others = {}, {}
    for statement in re.findall(r"^input\([^;]*;", text, re.M):
        name, params = INPUT.match(statement.strip()).groups()
        key = re.sub(r"\s", "", params)
        if key in firsts:
            others[name] = firsts[key]
            text = text.replace(statement, "", 1)
        firsts.setdefault(key, name)
    for name, first in others.items():
        text = re.sub(rf"=(\s*){name}\b(?=[^;]*;)", rf"=\g<1>{first}", text)
    return text if others else None


def read_once_more(text):
    """What operators make is read by one operator more each, and so an output."""
    made = []
    for statement in statements(text):
        parts = NAMED.sub("", statement).split("|")
        if len(parts) == 3 and not re.match(r"input|create|output", parts[0]):
            made += re.findall(r"=(\w+)", parts[1])
    return text + "".join(f"\nelew(src1={name} | dst={name}_more | elew_op=TL_MAX);" for name in made)


def is_right(lightnet, model, text, words, passes, tolerances, folder):
    """False if the variant cannot be run as it was read; fails if it becomes another model."""
    inner = folder / words
    inner.mkdir()
    path = inner / f"{model.stem}_{words}.net"
    path.write_text(text)
    try:
        return check_model(lightnet, path, passes, tolerances, inner, [""])
    except Failure as failure:
        raise Failure(f"{failure}\n{text}")


def check_variants(lightnet, model, passes, tolerances, folder):
    """Returns how many were tried."""
    text = "\n".join(line for line in model.read_text().splitlines() if not line.startswith("//"))
    def is_tried(variant, words):
        return is_right(lightnet, model, variant, words, passes, tolerances, folder)
    count = is_tried(read_once_more(text), "more")
    for dtype in ("TL_DOUBLE", "TL_INT32", "TL_UINT8", "TL_BOOL") if "TL_FLOAT," in text else ():
        typed = text.replace("TL_FLOAT,", f"{dtype},")
        if dtype != "TL_DOUBLE":
            typed = typed.replace("ran=[-1, 1]", "ran=[-9, 9]")
        count += is_tried(typed, dtype)
    for size in (4, 2, 3, 6, 8):
        equal = equal_dimensions(text, size)
        one = one_tensor(equal)
        if equal != text and is_tried(equal, f"equal_{size}"):
            return count + 1 + (one is not None and is_tried(one, f"one_{size}"))
        if equal == text:
            return count + (one is not None and is_tried(one, f"one_{size}"))
    return count


def check_same_result(lightnet, model, run, words, folder, with_variants):
    """Returns how many variants were tried, which are all that is."""
    words = words.split()
    if len(words) % 2 or words[0::2] not in (["rtol"], ["rtol", "atol"]):
        raise Failure(f"`same-result: {' '.join(words)}`: expected `rtol NUMBER [atol NUMBER]`")
    tolerances = float(words[1]), float(words[3]) if len(words) > 2 else None
    passes = passes_of(run)
    if with_variants:
        return check_variants(lightnet, model, passes, tolerances, folder)
    if not check_model(lightnet, model, passes, tolerances, folder, SEEDS + SPECIAL_SEEDS):
        raise Failure("the model cannot be run as it was read")
    if "--target=cpu" in run:
        check_cpu(lightnet, model, passes, tolerances, folder)
    return 0


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
        elif kind == "expect-count":
            wanted, pattern = rest.split(maxsplit=1)
            count = sum(matches(pattern, statement) for statement in got)
            if count != int(wanted):
                raise Failure(f"line {number}: {count} statements are: {pattern}\n{output}")


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
            check_same_result(lightnet, path, run, rest, folder, False)
        if kind == "result" and not rewrites_only:
            check_result(lightnet, path, rest, folder)


def run_variants(lightnet, path, folder):
    directives, _ = read_test(path)
    run = next(rest for kind, rest, _ in directives if kind == "run")
    return sum(check_same_result(lightnet, path, run, rest, folder, True)
               for kind, rest, _ in directives if kind == "same-result")


def run_file(options, path):
    """Whether it passed, how many variants were tried, and what to say."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            if options.variants:
                count = run_variants(options.lightnet, path, pathlib.Path(folder))
                return True, count, f"passed: {path}: {count} variants"
            run_test(options.lightnet, path, options.update, options.rewrites, pathlib.Path(folder))
        return True, 0, f"passed: {path}"
    except (Failure, OSError, subprocess.TimeoutExpired) as failure:
        return False, 0, f"FAILED: {path}: {failure}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lightnet", required=True, help="the command to test")
    parser.add_argument("--update", action="store_true", help="write the `// exact:` parts anew")
    parser.add_argument("--rewrites", action="store_true", help="do not run the models")
    parser.add_argument("--variants", type=int, default=0, help="run the variants, at least so many")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = variant_count = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for passed, count, words in pool.map(lambda path: run_file(options, path), options.files):
            failed += not passed
            variant_count += count
            print(words, flush=True)
    print(f"{len(options.files) - failed} passed, {failed} failed, {variant_count} variants")
    return 1 if failed or variant_count < options.variants else 0


if __name__ == "__main__":
    sys.exit(main())
