#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the documentation shows, so that no page promises what does not work.

Usage: snippets.py [--update] BUILD-FOLDER PAGE.md...

The pages of docs/README.md's table have only blocks of these kinds; each page has a folder of its
own, in which its blocks are carried out in order:

    ```il file=NAME     a model, kept as NAME; it must be read, and its operators be known
    ```json file=NAME   the same in JSON
    ```op file=NAME     operator descriptions, kept and turned into C
    ```rules file=NAME  rewrite rules, kept and checked
    ```c file=NAME      a program, kept and compiled with all warnings, which are errors
    ```c                statements of a function that has an `ln_context *ctx`; compiled
    ```cmake file=NAME  kept
    ```sh               `$ command` lines are run by sh; the lines below must be their output, where
                        `...` alone stands for any lines, and in a line for any text. A last line
                        `(exit N)` is the exit status, else it must be 0.
    ```text             a picture; not tested

--update rewrites the outputs in `sh` blocks that have no `...`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^```(.*)$")
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]

STATEMENTS = """\
#include <lightnet/lightnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
%s
int example(ln_context *ctx);
int example(ln_context *ctx)
{
(void)ctx;
%s
return 0;
}
"""


class Failure(Exception):
    """What is wrong with a block."""


class Block:
    def __init__(self, line, info, lines):
        self.line, self.lines = line, lines
        words = info.split()
        self.kind = words[0] if words else ""
        self.options = dict(w.partition("=")[::2] for w in words[1:])

    def text(self):
        return "".join(l + "\n" for l in self.lines)


def read_blocks(path):
    blocks, current = [], None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f.read().split("\n"), 1):
            fence = FENCE.match(line)
            if current is None and fence:
                current = Block(number, fence.group(1), [])
            elif current is not None and fence:
                blocks.append(current)
                current = None
            elif current is not None:
                current.lines.append(line)
    if current is not None:
        raise Failure("%s: the block of line %d has no end" % (path, current.line))
    return blocks


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
                          shell=isinstance(command, str), check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def must(command, folder, environment):
    code, output = run(command, folder, environment)
    if code != 0:
        raise Failure("%s\n%s" % (" ".join(command), output))


# ---- Blocks ----

def keep(block, folder):
    name = block.options.get("file")
    if not name:
        raise Failure("a block of this kind needs file=NAME")
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(block.text())
    return name


def check_model(block, folder, environment):
    must(["lightnet", "inspect", keep(block, folder)], folder, environment)


def check_op(block, folder, environment):
    must(["lightnet", "gen-op", "-o", os.devnull, keep(block, folder)], folder, environment)


def check_rules(block, folder, environment):
    must(["lightnet-gen", "rules", "--name", "snippet", "-o", os.devnull, keep(block, folder)], folder, environment)


def check_c(block, folder, environment):
    flags = subprocess.run(["pkg-config", "--cflags", "lightnet"], env=environment, capture_output=True, text=True,
                           check=True).stdout.split()
    name = block.options.get("file")
    if name:
        keep(block, folder)
    else:
        includes = [l for l in block.lines if l.startswith("#")]
        statements = [l for l in block.lines if not l.startswith("#")]
        name = "snippet.c"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(STATEMENTS % ("\n".join(includes), "\n".join(statements)))
    must(["cc", *WARNINGS, "-c", "-o", "snippet.o", name, *flags], folder, environment)


def matches(wanted, got):
    """Lines against lines; `...` is any text, and alone in its line any lines."""
    pattern = ""
    for line in wanted:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(l + "\n" for l in got)) is not None


def commands_of(block):
    """Pairs of a command, which may go on behind a backslash, and the lines below it."""
    pairs = []
    for line in block.lines:
        if pairs and not pairs[-1][1] and pairs[-1][0].endswith("\\"):
            pairs[-1][0] += "\n" + line
        elif line.startswith("$ "):
            pairs.append([line[2:], []])
        elif pairs:
            pairs[-1][1].append(line)
        else:
            raise Failure("the block does not begin with `$ command`")
    return pairs


def check_sh(block, folder, environment, update):
    result = []
    for command, wanted in commands_of(block):
        code, output = run(command, folder, environment)
        got = output.rstrip("\n").split("\n") if output.strip() else []
        if code != 0:
            got.append("(exit %d)" % code)
        if not matches(wanted, got):
            if not update or any("..." in l for l in wanted):
                raise Failure("$ %s\ngives\n%s\nnot\n%s" % (command, "\n".join(got), "\n".join(wanted)))
            wanted = got
        result += ["$ " + command] + wanted
    return result


CHECKS = {"il": check_model, "json": check_model, "op": check_op, "rules": check_rules, "c": check_c,
          "cmake": lambda block, folder, environment: keep(block, folder),
          "text": lambda block, folder, environment: None}


# ---- Pages ----

def rewrite(path, results):
    """`results` are pairs of a block and its new lines."""
    with open(path, encoding="utf-8") as f:
        page = f.read().split("\n")
    for block, lines in reversed(results):
        page[block.line:block.line + len(block.lines)] = lines
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(page))


def check_page(path, environment, update):
    """Returns how many blocks failed, and how many there are."""
    failures, results, blocks = 0, [], read_blocks(path)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("models", "examples"):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))
        for block in blocks:
            try:
                if block.kind == "sh":
                    results.append((block, check_sh(block, folder, environment, update)))
                elif block.kind in CHECKS:
                    CHECKS[block.kind](block, folder, environment)
                else:
                    raise Failure("a block of kind '%s' is tested by nobody" % block.kind)
            except (Failure, subprocess.SubprocessError) as reason:
                failures += 1
                print("%s:%d: %s\n" % (os.path.relpath(path), block.line, reason))
    if update:
        rewrite(path, results)
    return failures, len(blocks)


def environment_of(build, prefix):
    """What a user has who installed the library to `prefix`."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    environment = dict(os.environ)
    libraries = [root for root, _, files in os.walk(prefix) if any(f.startswith("liblightnet.so") for f in files)]
    environment["PATH"] = os.pathsep.join([os.path.join(prefix, "bin"), build, environment["PATH"]])
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
    environment["PKG_CONFIG_PATH"] = os.pathsep.join(os.path.join(l, "pkgconfig") for l in libraries)
    environment["CMAKE_PREFIX_PATH"] = prefix
    return environment


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    build, pages = os.path.abspath(arguments[0]), arguments[1:]
    for tool in ("cc", "pkg-config", "cmake"):
        if not shutil.which(tool):
            print("skipped: there is no %s" % tool)
            sys.exit(77)
    failures = count = 0
    with tempfile.TemporaryDirectory() as prefix:
        environment = environment_of(build, prefix)
        for page in pages:
            page_failures, page_count = check_page(page, environment, update)
            failures += page_failures
            count += page_count
    print("%d of %d blocks failed" % (failures, count))
    sys.exit(1 if failures else 0)


main()
