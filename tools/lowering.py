#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes, to standard output, which of ONNX's operators become operators of the core: always, in some cases or never.

Read from the descriptions, the rules into the core, and the implementations, so that nobody has to keep it. An operator that
nothing computes, and that no rule takes, is a mistake: it is named on standard error, and exit 1.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DESCRIPTION = re.compile(r"^(\w+)(?:\s*:\s*\w+)?\s*\{(.*?)(?=^\w|\Z)", re.M | re.S)
IMPLEMENTATION = re.compile(r"^(\w+)_ref(?:\s*:\s*\w+)?\s*\{", re.M)
RULE = re.compile(r"^rule (\w+) \[\w+\]\n(.*?)(?=^rule |^# ----|\Z)", re.M | re.S)
CALL = re.compile(r"=\s*(\w+)\(")


def described():
    """Type -> description, of those that can be in a model."""
    types = {}
    for path in sorted((ROOT / "src/op/onnx").glob("*.op")):
        types.update((name, text) for name, text in DESCRIPTION.findall(path.read_text()) if "base: true" not in text)
    core = set(re.findall(r"^W\((\w+)", (ROOT / "src/desc/core_types.inc").read_text(), re.M))
    return {name: text for name, text in types.items() if name not in core}


def implemented():
    return {name for path in (ROOT / "src/arch/ref").rglob("*.op") for name in IMPLEMENTATION.findall(path.read_text())}


def split_rows(text):
    """The first word of each row of `for T, k in A "x", B "y"`."""
    return [row.split()[0] for row in text.replace("\n", " ").split(",") if row.split()]


def rules_of():
    """Type -> rules that take one operator alone. Those of several fuse, and need not apply."""
    found = {}
    for name, body in RULE.findall((ROOT / "src/op/onnx/from_onnx.rules").read_text()):
        pattern = re.sub(r"#.*", "", body.partition("=>")[0])
        rows = re.match(r"\s*for (\w+)(?:, \w+)* in ((?:.*\n)(?:    .*\n)*?)(?=  \w)", pattern)
        calls = CALL.findall((pattern[rows.end():] if rows else pattern).partition("where")[0])
        if len(calls) != 1:
            continue
        for optype in split_rows(rows.group(2)) if rows and calls[0] == rows.group(1) else calls:
            found.setdefault(optype, []).append(name)
    return found


def answer(rules, has_ref):
    if not rules:
        return "never"
    return "in some cases" if has_ref else "always"


def main():
    types, refs, rules = described(), implemented(), rules_of()
    lost = [name for name in types if name not in refs and name not in rules and f"`{name}_ref`" not in types[name]]
    for name in sorted(rules.keys() - types.keys()):
        lost.append(f"{name} (no operator of ONNX)")
    if lost:
        sys.exit("lowering: neither a rule into the core nor an implementation on ref: " + ", ".join(lost))
    print("| operator | becomes core | by |\n|---|---|---|")
    for name in sorted(types, key=str.lower):
        print(f"| {name} | {answer(rules.get(name), name in refs)} | {', '.join(rules.get(name, []))} |")


if __name__ == "__main__":
    main()
