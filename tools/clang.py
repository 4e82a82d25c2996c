#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What clang warns of in library and command, without making code: clang.py BUILD

Looks at the sources that have changed since the last time that all was well, and at all of them where a header has; the flags
are those of BUILD/compile_commands.json. Where there is no clang, says so.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = (".h", ".inc")
IS_KEPT = ("-I", "-D", "-std=", "-W", "-m", "-isystem")


def sources(build):
    """(source, flags) of each source of ours that is no test."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in ("src", "cli"):
            continue
        if not path.stem.endswith(("_test", "_fuzz", "_bench")):
            words = shlex.split(entry["command"])
            yield path, [word for word in words if word.startswith(IS_KEPT) and word not in ("-MD", "-MT", "-MF")]


def changed(build, stamp):
    found = dict(sources(build))
    if not stamp.exists():
        return found
    then = stamp.stat().st_mtime
    headers = (path for folder in ("src", "cli", "include", build / "generated") for path in (ROOT / folder).rglob("*")
               if path.suffix in HEADERS)
    if any(path.stat().st_mtime > then for path in headers):
        return found
    return {path: flags for path, flags in found.items() if path.stat().st_mtime > then}


def check(item):
    path, flags = item
    done = subprocess.run(["clang", "-fsyntax-only", *flags, "-Wno-unknown-warning-option", "-Werror", str(path)],
                          capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("clang"):
        print("there is no clang: not looked at")
        return
    stamp = build / "clang.stamp"
    begun = build / "clang.begun"
    begun.touch()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings = [text for text in pool.map(check, changed(build, stamp).items()) if text]
    if warnings:
        sys.exit("".join(warnings))
    begun.replace(stamp)  # of the time when it began


if __name__ == "__main__":
    main()
