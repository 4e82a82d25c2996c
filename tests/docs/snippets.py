#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the documentation shows, so that no page promises what does not work.

Usage: snippets.py [--update] BUILD-FOLDER [PAGE.md...]

Without pages: all of the source tree. They have only blocks of these kinds; each page has a folder
of its own, in which its blocks are carried out in order:

    ```il file=NAME     a model, kept as NAME; it must be read, and its operators be known
    ```json file=NAME   the same in JSON
    ```il               IL, of which the preprocessor and the parser think well; or not, with
    ```message          behind it: what it is refused with; or with
    ```json             behind it: what it gives
    ```il of=MODEL by=RULES fires=A,B
                        what the pass `fold` makes of MODEL with the rules of the file RULES: these
                        operators, `...` is any text; the rules A and B have fired, in that order
                        and no others; the numbers are as before
    ```op [file=NAME] [base=NAME]
                        operator descriptions, turned into C that compiles; a file to inherit from
    ```rules [file=NAME]  rewrite rules, checked
    ```rules refused    files of rules, each with the message below it that refuses it
    ```c file=NAME      a program, kept and compiled with all warnings, which are errors
    ```c                statements of a function that has an `ln_context *ctx`; compiled
    ```cpp file=NAME    a program in C++20, likewise
    ```cmake file=NAME  kept
    ```sh               `$ command` lines are run by sh; the lines below must be their output, where
                        `...` alone stands for any lines, and in a line for any text. A last line
                        `(exit N)` is the exit status, else it must be 0.
    ```ebnf             a grammar; what it defines is used, and its quotes and brackets close
    ```text             a picture; not tested
    ```KIND from=FILE   what stands in FILE of the source tree, `...` alone for any lines

A number of a sentence that is decided in the source stands before what it is there, in a comment with its file:

    at most 4 <!-- LN_FEW_OUTPUTS_MAX of src/arch/cpu/kernels/few_outputs/few_outputs.h --> output channels
    better by 26 % <!-- 100 * (COST_PENALTY * COST_PENALTY_6 - 1) of src/arch/cpu/conv_choice.c -->
    at most 48 <!-- `o <= 48` of src/arch/cpu/cpu.rules --> products

Names are those of `#define NAME number` and `NAME = number` there; what is between backquotes stands there.

Blocks begin and end with a fence: text that is only indented is refused. Links lead to files that
are there, and to headings; files that are named `below/a/folder.c` are there.

--update rewrites the outputs in `sh` blocks that have no `...`.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^ *```(.*)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
VALUE = re.compile(r"(\d+(?:\.\d+)?)[^\d<]*<!-- (.+?) of ([\w./]+) -->")
COMMENT = re.compile(r"<!-- [^>]* of [^>]*/")
FOLDERS = "cli|cmake|docs|examples|include|models|src|tests|tools"
NAMED_FILE = re.compile(r"`((?:%s)/[\w./*{},-]+)`" % FOLDERS)
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
GENERATED_WARNINGS = ["-D_POSIX_C_SOURCE=200809L", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wcast-qual",
                      "-Wvla", "-Wwrite-strings", "-Wmissing-prototypes", "-Wundef"]

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
        self.given = set(self.options)
        self.leader = self.follower = None  # the blocks before and behind

    def text(self):
        return "".join(l + "\n" for l in self.lines)


def read_page(path):
    """The blocks, and the other lines with their numbers."""
    blocks, prose, current = [], [], None
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
            else:
                prose.append((number, line))
    if current is not None:
        raise Failure("%s: the block of line %d has no end" % (path, current.line))
    return blocks, prose


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


def keep_as(block, folder, name):
    """For blocks that need no name of their own."""
    block.options.setdefault("file", name)
    return keep(block, folder)


def check_model(block, folder, environment):
    if "of" in block.options:
        check_rewrite(block, folder, environment)
    elif "file" in block.options:
        must(["lightnet", "inspect", keep(block, folder)], folder, environment)
    else:
        check_parse(block, folder, environment)


def check_parse(block, folder, environment):
    code, output = run(["il2json", keep_as(block, folder, "model.net")], folder, environment)
    follower = block.follower
    if follower and follower.kind == "message":
        output, wanted = output.replace("error: ", "", 1), follower.text()
    elif follower and follower.kind == "json" and not follower.options:
        wanted = follower.text()
    elif code != 0:
        raise Failure(output)
    else:
        return
    if output != wanted:
        raise Failure("gives\n%s\nnot\n%s" % (output, wanted))


def check_json(block, folder, environment):
    if "file" in block.options:
        must(["lightnet", "inspect", keep(block, folder)], folder, environment)
    else:
        check_message(block, folder, environment)


def check_message(block, _folder, _environment):
    """The block before looks at it."""
    if not block.leader or block.leader.kind != "il" or "file" in block.leader.given:
        raise Failure("there is no ```il before, which gives this")


def check_rewrite(block, folder, environment):
    rules, model = block.options["by"], block.options["of"]
    command = ["lightnet", "opt", "--verbose", "--verify", "--passes=fold", "--rules", rules, "-o", "rewritten.net", model]
    code, output = run(command, folder, environment)
    if code != 0:
        raise Failure("%s\n%s" % (" ".join(command), output))
    fired = ",".join(re.findall(r"firing \d+: fold: (\w+) ", output))
    if fired != block.options.get("fires", ""):
        raise Failure("fires '%s', not '%s'" % (fired, block.options.get("fires", "")))
    with open(os.path.join(folder, "rewritten.net"), encoding="utf-8") as f:
        got = f.read().splitlines()
    # A name in front counts only where the page has one.
    got = [re.sub(r"^\w+: ", "", g) if not re.match(r"\w+: ", w) else g for g, w in zip(got, block.lines)] + \
        got[len(block.lines):]
    if not matches(block.lines, got):
        raise Failure("gives\n%s\nnot\n%s" % ("\n".join(got), block.text()))


def check_op(block, folder, environment):
    base = ["--base", block.options["base"]] if "base" in block.options else []
    must(["lightnet", "gen-op", *base, "-o", "snippet.c", keep_as(block, folder, "snippet.op")], folder, environment)
    must(["cc", *WARNINGS, *GENERATED_WARNINGS, "-c", "-o", "snippet.o", "snippet.c", *include_flags(environment)],
         folder, environment)


def check_rules(block, folder, environment):
    if "refused" in block.options:
        check_refusals(block, folder, environment)
        return
    must(["lightnet-gen", "rules", "--name", "snippet", "-o", os.devnull, keep_as(block, folder, "snippet.rules")],
         folder, environment)


def check_refusals(block, folder, environment):
    rules = []
    for line in block.lines:
        if not line.startswith("fold.rules:"):
            rules += [line] if line or rules else []  # an empty line parts two files
            continue
        with open(os.path.join(folder, "fold.rules"), "w", encoding="utf-8") as f:
            f.write("".join(l + "\n" for l in rules))
        with open(os.path.join(folder, "any.net"), "w", encoding="utf-8") as f:
            f.write("input(| dst=x | dtype=TL_FLOAT, dims=[1]);\n")
        code, output = run(["lightnet", "opt", "--rules", "fold.rules", "-o", os.devnull, "any.net"], folder,
                           environment)
        if code == 0 or output != "error: %s\n" % line:
            raise Failure("\n".join(rules) + "\ngives\n%s\nnot\n%s" % (output, line))
        rules = []
    if rules:
        raise Failure("nothing refuses the last rules")


def include_flags(environment):
    return subprocess.run(["pkg-config", "--cflags", "lightnet"], env=environment, capture_output=True, text=True,
                          check=True).stdout.split()


def check_c(block, folder, environment):
    name = block.options.get("file")
    if name:
        keep(block, folder)
    else:
        includes = [l for l in block.lines if l.startswith("#")]
        statements = [l for l in block.lines if not l.startswith("#")]
        name = "snippet.c"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(STATEMENTS % ("\n".join(includes), "\n".join(statements)))
    must(["cc", *WARNINGS, "-c", "-o", "snippet.o", name, *include_flags(environment)], folder, environment)


def check_cpp(block, folder, environment):
    name = keep(block, folder)
    must(["c++", "-std=c++20", *WARNINGS[1:], "-c", "-o", "snippet.o", name, *include_flags(environment)], folder,
         environment)


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


def check_grammar(block, _folder, _environment):
    """Productions `name = ... ;` or `name = ... .` where the first defines the whole."""
    text = re.sub(r"\(\*.*?\*\)|#.*", "", block.text())
    literal = r"\"[^\"]*\"|'[^']*'"
    bare = re.sub(literal, "", text)
    for left, right in ("()", "[]", "{}"):
        if bare.count(left) != bare.count(right):
            raise Failure("'%s' and '%s' do not pair" % (left, right))
    if re.search(r"['\"]", bare):
        raise Failure("a quote does not close")
    defined = re.findall(r"^(\w+) *=", bare, re.M)
    used = re.findall(r"\w+", re.sub(r"^\w+ *=", "", bare, flags=re.M))
    for name in defined[1:]:
        if name not in used:
            raise Failure("nothing uses '%s'" % name)


def check_excerpt(block, _folder, _environment):
    def plain(lines):
        return [" ".join(l.split()) for l in lines]
    with open(os.path.join(SOURCE, block.options["from"]), encoding="utf-8") as f:
        if not matches(["...", *plain(block.lines), "..."], plain(f)):
            raise Failure("this does not stand in %s" % block.options["from"])


CHECKS = {"il": check_model, "json": check_json, "message": check_message, "op": check_op, "rules": check_rules,
          "c": check_c, "cpp": check_cpp, "ebnf": check_grammar,
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


def anchors(path):
    """Of the headings, as they are made for links."""
    with open(path, encoding="utf-8") as f:
        headings = [l.lstrip("#").strip().lower() for l in f if l.startswith("#")]
    seen, found = {}, set()
    for heading in headings:
        anchor = re.sub(r"[^\w -]", "", heading).replace(" ", "-")
        number = seen.get(anchor, 0)
        seen[anchor] = number + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def check_target(path, target):
    """What a link of the page leads to."""
    name, _, anchor = target.partition("#")
    file = os.path.join(os.path.dirname(path), name) if name else path
    if not os.path.exists(file):
        raise Failure("the link leads to '%s', which is not there" % target)
    if anchor and anchor not in anchors(file):
        raise Failure("'%s' has no heading '%s'" % (file, anchor))


def value_of(expression, text, file):
    """The value of an expression of numbers and of names that `text` defines."""
    def number_of(name):
        found = re.search(rf"(?:#define\s+{name}\s+|\b{name}\s*=\s*)\(?(?:\(\w+\))?\s*([\d.]+)\s*(<<\s*\d+)?", text)
        if not found:
            raise Failure("'%s' defines no number '%s'" % (file, name))
        return "(%s %s)" % (found.group(1), found.group(2) or "")
    terms = re.sub(r"[A-Za-z_]\w*", lambda name: number_of(name.group()), expression)
    if not re.fullmatch(r"[\d.\s()*/+<-]+", terms):
        raise Failure("'%s' is no expression of numbers and names" % expression)
    return eval(terms, {"__builtins__": {}})  # nothing but arithmetic


def check_value(number, expression, name):
    file = os.path.join(SOURCE, name)
    if not os.path.exists(file):
        raise Failure("there is no '%s'" % name)
    with open(file, encoding="utf-8") as f:
        text = f.read()
    if expression.startswith("`"):
        if expression.strip("`") not in text or not re.search(rf"\b{re.escape(number)}\b", expression):
            raise Failure("%s does not stand in '%s' with the number %s" % (expression, name, number))
        return
    found = value_of(expression, text, name)
    decimals = len(number.partition(".")[2])
    if round(found, decimals) != float(number):
        raise Failure("'%s' of %s is %.6g, and the page says %s" % (expression, name, found, number))


def check_line(path, line, before):
    values = VALUE.findall(line)
    if len(values) != len(COMMENT.findall(line)):
        raise Failure("a comment that is not `NUMBER ... <!-- EXPRESSION of FILE -->`")
    for value in values:
        check_value(*value)
    if line.startswith("    ") and not before.strip():
        raise Failure("an indented block is tested by nobody; it needs fences and a kind")
    if re.match(r"<<<<<<< |=======$|>>>>>>> ", line):
        raise Failure("a mark of a merge")
    for target in LINK.findall(line):
        if "://" not in target:
            check_target(path, target)
    for name in NAMED_FILE.findall(line):
        alternatives = re.sub(r"\{[^}]*\}", "*", name).rstrip("/")
        is_made = re.search(r"/(x|name)\b", name)
        if not is_made and not any(glob.glob(os.path.join(root, alternatives)) for root in (SOURCE, SOURCE + "/src")):
            raise Failure("there is no '%s'" % name)


def check_prose(path, prose):
    failures, before = 0, ""
    for number, line in prose:
        try:
            check_line(path, line, before)
        except Failure as reason:
            failures += 1
            print("%s:%d: %s\n" % (os.path.relpath(path), number, reason))
        before = line
    return failures


def check_block(block, folder, environment):
    if "from" in block.options:
        check_excerpt(block, folder, environment)
    elif block.kind in CHECKS:
        CHECKS[block.kind](block, folder, environment)
    else:
        raise Failure("a block of kind '%s' is tested by nobody" % block.kind)


def check_page(path, environment, update):
    """Returns how many blocks failed, how many other lines, and how many blocks there are."""
    blocks, prose = read_page(path)
    for leader, follower in zip(blocks, blocks[1:]):
        leader.follower, follower.leader = follower, leader
    failures, wrong_lines, results = 0, check_prose(path, prose), []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("models", "examples"):
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(folder, name))
        for block in blocks:
            try:
                if block.kind == "sh":
                    results.append((block, check_sh(block, folder, environment, update)))
                else:
                    check_block(block, folder, environment)
            except (Failure, subprocess.SubprocessError) as reason:
                failures += 1
                print("%s:%d: %s\n" % (os.path.relpath(path), block.line, reason))
    if update:
        rewrite(path, results)
    return failures, wrong_lines, len(blocks)


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


def all_pages():
    for folder, folders, files in os.walk(SOURCE):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith(".md"))


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    if not arguments:
        sys.exit(__doc__)
    build, pages = os.path.abspath(arguments[0]), arguments[1:] or list(all_pages())
    for tool in ("cc", "c++", "pkg-config", "cmake"):
        if not shutil.which(tool):
            print("skipped: there is no %s" % tool)
            sys.exit(77)
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory() as prefix:
        environment = environment_of(build, prefix)
        for page in pages:
            totals = [t + n for t, n in zip(totals, check_page(page, environment, update))]
    failures, wrong_lines, count = totals
    print("%d of %d blocks failed, and %d other lines" % (failures, count, wrong_lines))
    sys.exit(1 if failures or wrong_lines else 0)


main()
