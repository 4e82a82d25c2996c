#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves src/LAYERS: a module includes only modules of lower layers, and nobody names a leaf, nor an
operator of a leaf: "relu_cpu" stands in src/arch/cpu alone. Each public header is in one circle. Passes and the arch cpu know the types of the
core (src/desc/core_types.inc), and those that they describe themselves, but none of a format's.

    tools/layers.py [BUILD]

With a build of the library, also that no module calls a function, nor names a variable, that is defined in its own
layer or above, whatever header declares it: seen from the symbols of the objects in its archives.

Silent when all is well; else one line a finding, and exit 1.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
IS_TEST = re.compile(r"_(test|fuzz|bench)\.c$|^(test|fake)_")


def read_layers():
    layers, headers = {}, {}
    for line in (ROOT / "src/LAYERS").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        layer, module, *public = words
        layers[module] = int(layer)
        for header in public:
            headers[header] = module
    return layers, headers


def module_of(path, layers):
    """src/arch/cpu/x.c -> arch/cpu; src/ir/x.c -> ir; cli/x.c -> cli."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "src":
        parts = parts[1:]
    if len(parts) > 2 and f"{parts[0]}/*" in layers:
        return f"{parts[0]}/{parts[1]}"
    return parts[0]


def layer_of(module, layers):
    return layers[module] if module in layers else layers[module.split("/")[0] + "/*"]


def target_of(quote, name, layers, headers):
    """The module that an included file belongs to; None for the system's."""
    if name.startswith("lightnet/"):
        stem = name[len("lightnet/"):].removesuffix(".h")
        if stem not in headers:
            sys.exit(f"layers: public header {name} is in no row of src/LAYERS")
        return headers[stem]
    if quote == "<" or name.startswith("tests/"):
        return None
    parts = name.split("/")
    if len(parts) > 2 and f"{parts[0]}/*" in layers:
        return f"{parts[0]}/{parts[1]}"
    return parts[0] if len(parts) > 1 else None


def leaf_op_finder():
    """Finds types of operators of an arch, and formats that make them, in the text of a string."""
    archs = sorted(p.name for p in (ROOT / "src/arch").iterdir() if p.is_dir() and p.name != "none")
    return re.compile(rf"(?:\w|%[.*]*s)_({'|'.join(archs)})\b")


def leaf_ops(path, module, line, finder):
    if path.suffix not in (".c", ".h", ".inc") or line.lstrip().startswith(("//", "*", "/*")):
        return
    for text in STRING.findall(line.split("//")[0]):
        for match in finder.finditer(text):
            if module not in (f"arch/{match.group(1)}", "cli"):
                yield f'"{text}" names an operator of arch {match.group(1)}'


# ---- The core ----

MOST_CORE_TYPES = 50
# Ends of a model, constants, names, what shows values, and what passes make for themselves: no words
# of the language that a model can be written in, so they do not count towards the bound.
PLUMBING = {"input", "output", "create", "zeros", "forward", "print", "fprint",
            "interleave", "put_channels", "bn_fold_weight", "bn_fold_bias"}
KNOW_THE_CORE_ONLY = ("src/pass", "src/arch/cpu")
# What the core has no word for, by the reasons in docs/decisions/0012-core.md; nothing may be added.
NO_WORD_YET = {"ml_SVMClassifier", "ml_SVMRegressor"}
DESCRIPTION = re.compile(r"^(\w+)(?:\s*:\s*\w+)?\s*\{", re.M)
CALL = re.compile(r"\b([A-Za-z]\w*)\s*\(")


def described(folder, pattern):
    """The types that files of descriptions in a folder describe, implementations left out."""
    return {name for path in (ROOT / folder).glob(pattern) for name in DESCRIPTION.findall(path.read_text())
            if not re.search(r"_(ref|cpu|none|null)$", name)}


def types_named(path):
    """(line, name) of what a source may mean as a type: whole strings of C, calls of rules, implementations."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0].split("#")[0] if path.suffix != ".c" else line.split("//")[0]
        if path.suffix in (".c", ".h", ".inc") and not INCLUDE.match(line):
            yield from ((number, text) for text in STRING.findall(code))
        elif path.suffix == ".rules":
            yield from ((number, name) for name in CALL.findall(code))
        elif path.suffix == ".op":
            yield from ((number, name.removesuffix("_cpu")) for name in DESCRIPTION.findall(code))


def beyond_the_core():
    core = set(re.findall(r"^W\((\w+)", (ROOT / "src/desc/core_types.inc").read_text(), re.M))
    counted = core - PLUMBING
    if len(counted) > MOST_CORE_TYPES:
        yield f"src/desc/core_types.inc: {len(counted)} types without plumbing; the core has {MOST_CORE_TYPES} at most"
    for name in sorted(PLUMBING - core):
        yield f"tools/layers.py: '{name}' is no type of the core: take it out of PLUMBING"
    words = set(re.findall(r'^\s*X\(\w+, "(\w+)"', (ROOT / "include/lightnet/act.h").read_text(), re.M))
    types = described("src/op", "**/*.op") - core
    met = set()
    for folder in KNOW_THE_CORE_ONLY:
        own = described(folder, "**/*.op")
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".inc", ".rules", ".op") or IS_TEST.search(path.name):
                continue
            for number, name in types_named(path):
                if name not in types or name in own or (path.suffix in (".c", ".h") and name in words):
                    continue
                met.add(name)
                if name not in NO_WORD_YET:
                    yield f"{path.relative_to(ROOT)}:{number}: '{name}' is no type of the core, nor described in {folder}"
    for name in sorted(NO_WORD_YET - met):
        yield f"tools/layers.py: '{name}' is named nowhere any more: take it out of NO_WORD_YET"


def circles():
    """Each public header is named by one of the three that make lightnet.h; none is lost, none stands twice."""
    umbrellas = ("use", "extend", "classic")
    named = []
    for circle in umbrellas:
        lines = (ROOT / f"include/lightnet/{circle}.h").read_text().splitlines()
        names = [m.group(2)[len("lightnet/"):-2] for m in map(INCLUDE.match, lines) if m]
        named += [name for name in names if name not in umbrellas]
    for name in sorted(p.stem for p in (ROOT / "include/lightnet").glob("*.h")):
        if name not in (*umbrellas, "lightnet") and named.count(name) != 1:
            yield f"include/lightnet/{name}.h: in {named.count(name)} of the circles {', '.join(umbrellas)}, not in one"


# ---- Links ----

def symbols_of(build):
    """({symbol: module that defines it}, [(module, object, symbol that it needs)]) of the archives of all modules."""
    defined, needed = {}, []
    for archive in sorted((build / "src").rglob("libln_*.a")):
        parts = archive.relative_to(build / "src").parts[:-1]
        module = "/".join(parts[:2] if parts[0] in ("arch", "serial", "compat") else parts[:1])
        text = subprocess.run(["nm", "-A", "-P", archive], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            where, symbol, kind = line.split()[:3]
            if kind == "U":
                needed.append((module, where.split("[")[-1].rstrip(":]"), symbol))
            elif kind in "TDBRV":
                defined[symbol] = module
    return defined, needed


def links(build, layers):
    defined, needed = symbols_of(build)
    if "ln_context_run" not in defined:
        sys.exit(f"layers: no archives of the library's modules in {build}; build it first")
    for module, where, symbol in needed:
        target = defined.get(symbol, module)
        if target != module and layer_of(target, layers) >= layer_of(module, layers):
            yield (f"src/{module} ({where}): {module} (layer {layer_of(module, layers)}) must not use {symbol} of "
                   f"{target} (layer {layer_of(target, layers)})")


def main():
    layers, headers = read_layers()
    finder = leaf_op_finder()
    findings = [*beyond_the_core(), *circles()]
    for build in sys.argv[1:]:
        findings += links(pathlib.Path(build), layers)
    files = [p for folder in ("src", "cli") for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h", ".inc")]
    for path in sorted(files):
        module = module_of(path, layers)
        is_test = IS_TEST.search(path.name)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not is_test:
                findings += [f"{path.relative_to(ROOT)}:{number}: {why}"
                             for why in leaf_ops(path, module, line, finder)]
            match = INCLUDE.match(line)
            target = match and target_of(*match.groups(), layers, headers)
            if not target or target == module:
                continue
            where = f"{path.relative_to(ROOT)}:{number}"
            if module == "cli" and match.group(2) in ("desc/opdesc_api.h", "pass/why_api.h"):
                continue  # what the command has of a module, and the library lacks
            if module == "cli" and not match.group(2).startswith("lightnet/"):
                findings.append(f"{where}: the command includes public headers only")
            elif layer_of(target, layers) >= layer_of(module, layers) and not is_test:
                findings.append(f"{where}: {module} (layer {layer_of(module, layers)}) must not "
                                f"include {target} (layer {layer_of(target, layers)})")
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
