#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of slots in docs/onnxruntime.md, from the lists in src/compat/ort.

Usage: ort_slots.py [check]. Writes the table, or says whether it is the one that is there.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/onnxruntime.md"
FIRST, LAST = "<!-- slots: written by tools/ort_slots.py -->", "<!-- end of slots -->"

NOUNS = {
    "status": "statuses", "env": "environments and threads", "memory": "memory and allocators", "pairs": "pairs",
    "session_options": "options of sessions", "initializers": "weights", "session": "sessions", "metadata": "metadata",
    "type": "types", "value": "values", "string": "strings", "container": "sequences, maps, optionals",
    "run_options": "options of runs", "run": "runs", "async": "asynchronous runs", "binding": "bindings",
    "device": "devices", "other_api": "other tables", "custom": "custom operators", "custom_kernel": "kernels",
    "custom_context": "runs of kernels", "custom_invoke": "operators that kernels run", "log": "loggers of kernels",
    "profile": "profiles",
}


def read_slots():
    """Numbers and kinds by name."""
    text = (ROOT / "src/compat/ort/slots.inc").read_text()
    return {name: (int(number), kind) for kind, number, name in re.findall(r"^([SRV])\((\d+), (\w+)\)$", text, re.M)}


def read_lists():
    """Names by file."""
    return {path.stem: re.findall(r"\bSLOT(?:_AS)?\((\w+)", path.read_text())
            for path in sorted((ROOT / "src/compat/ort").glob("*.c"))}


def fold(title, words):
    lines, line = [], title
    for word in words:
        if len(line) + len(word) + 2 > 150:
            lines.append(line.rstrip())
            line = ""
        line += word + ", "
    return "\n".join(lines + [line.removesuffix(", ") + ".\n"])


def table():
    slots, lists = read_slots(), read_lists()
    there = {name for names in lists.values() for name in names}
    unknown = [stem for stem in lists if lists[stem] and stem not in NOUNS] + sorted(there - set(slots))
    if unknown:
        sys.exit(f"ort_slots.py: no slot or no noun: {unknown}")

    def shown(title, names):
        return fold(title + ": ", (f"{slots[name][0]} {name}" for name in sorted(names, key=lambda n: slots[n][0])))

    parts = [f"{len(there)} of the {len(slots)} slots have a function:\n"]
    parts += [shown(f"**{title.capitalize()}**", lists[stem]) for stem, title in NOUNS.items() if lists.get(stem)]
    absent = {kind: [n for n in slots if slots[n][1] == kind and n not in there] for kind in "SRV"}
    parts += [shown(f"{len(absent['S'])} return `ORT_NOT_IMPLEMENTED` with their name", absent["S"]),
              shown(f"{len(absent['R'])} release what cannot be made here", absent["R"]),
              shown(f"{len(absent['V'])} return 0 or NULL, or do nothing", absent["V"])]
    return "\n".join(parts)


def main():
    page = PAGE.read_text()
    before, rest = page.split(FIRST)
    after = rest.split(LAST)[1]
    made = f"{before}{FIRST}\n\n{table()}\n{LAST}{after}"
    if sys.argv[1:] == ["check"]:
        if made != page:
            sys.exit("docs/onnxruntime.md: the table of slots is not what src/compat/ort has; run tools/ort_slots.py")
        return
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
