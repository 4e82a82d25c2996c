#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One table of options for all commands: a letter means one thing, help texts come from the table,
mistyped options and commands name what is near, and dynamic shapes are bound alike everywhere.

Usage: options_test.py FOLDER-OF-THE-COMMANDS
"""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

LIGHTNET = os.path.join(os.path.abspath(sys.argv[1]), "lightnet")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROW = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(\[?)(=\S+)?", re.MULTILINE)

# -o is where output goes, a file or a folder.
SHARED_LETTERS = {"o": {"outfile", "outdir"}}


def run(*arguments, code=0):
    done = subprocess.run([LIGHTNET, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def commands():
    return re.findall(r"^  ([a-z0-9-]+)  +\S", run("help").stdout.split("Commands")[1], re.MULTILINE)


def test_a_letter_means_one_thing():
    letters, names = {}, set()
    for command in [None] + commands():
        text = run(*["help", *([command] if command else [])]).stdout
        rows = ROW.findall(text)
        assert ("h", "help") in [row[:2] for row in rows], command
        assert len({row[1] for row in rows}) == len(rows), f"{command} takes an option twice"
        for letter, name, _, value in rows:
            names.add(name)
            if letter:
                letters.setdefault(letter, set()).add(name)
        for line in text.splitlines():
            assert len(line) <= 80, line
    assert len(names) > 50, names
    for letter, meant in letters.items():
        assert len(meant) == 1 or meant == SHARED_LETTERS.get(letter), (letter, meant)
    assert letters["s"] == {"shape"} and letters["t"] == {"target"}, letters


def test_help_has_three_ways():
    for command in commands():
        text = run("help", command).stdout
        assert text.startswith(f"Usage: lightnet {command}"), text
        assert run(command, "--help").stdout == text == run(command, "-h").stdout
    assert run("--help").stdout == run("help").stdout == run("-h").stdout
    done = run(code=2)
    assert not done.stdout and "  inspect " in done.stderr, done


def test_what_is_near_is_named():
    for arguments, words in (
        (["inpsect", "m.onnx"], "unknown command 'inpsect'; did you mean `lightnet inspect`?"),
        (["inpsect"], "did you mean `lightnet inspect`?"),
        (["info", "m.onnx"], "unknown command 'info'; did you mean `lightnet inspect`?"),
        (["version"], "did you mean `lightnet --version`?"),
        (["benchmark", "m.onnx"], "did you mean `lightnet bench`?"),
        (["run", "help"], "did you mean `lightnet help run`?"),
        (["-V", "m.onnx"], "unknown option -V; did you mean -v, --version?"),
        (["-x", "m.onnx"], "unknown option -x: --threads=COUNT;"),
        (["run", "-T", "cpu", "m.onnx"], "unknown option -T; did you mean -t, --target?"),
        (["run", "--intra_op_num_threads=4", "m"], "unknown option --intra_op_num_threads: --threads=COUNT;"),
        (["bench", "--iterations=4", "m"], "unknown option --iterations: `lightnet run --repeat=COUNT`"),
        (["bench", "--loop_count=4", "m"], "unknown option --loop_count: `lightnet run --repeat=COUNT`"),
        (["run", "--powersave=2", "m"], "unknown option --powersave: --threads=COUNT"),
        (["run", "--fp16", "m"], "unknown option --fp16: models of float16 run as they are"),
        (["opt", "--skip=0", "m"], "not '0': firings are numbered from 1"),
        (["opt", "--skip=9-3", "m"], "not '9-3': a range begins with the smaller number"),
        (["opt", "--skip=1-9999", "m"], "--skip takes at most 4096 numbers, and 1-9999 is beyond that"),
        (["help", "bnech"], "did you mean `lightnet bench`?"),
        (["run", "--laebls=x", "m"], "unknown option --laebls; did you mean --labels?"),
        (["run", "-v", "m"], "unknown option -v; did you mean --verbose?"),
        (["plan", "--labels=x", "m"], "unknown option --labels here; it is an option of lightnet run"),
        (["stats", "-i", "x", "m"], "-i, --input is an option of lightnet run, bench, compare, opt or blame"),
        (["stats", "-Q", "m"], "unknown option -Q;"),
        (["run", "--s=1", "m"], "option --s may be --shape, --scale, --skip, --signature or --strict"),
        (["run", "--tune=3", "m"], "option --tune takes no value"),
        (["run", "m", "--labels"], "option --labels needs a value"),
        (["-nonsense", "m"], "unknown option --nonsense"),
        (["run", "m.onnx", "photo.jpg"], "'photo.jpg' is too many; give inputs with -i"),
        (["bench", "--runs=0", "m"], "--runs takes 1 to 1000000, not '0'"),
        (["bench", "--min-time=-1", "m"], "--min-time takes a number from 0 on, not '-1'"),
        (["opt", "--seed=x", "m"], "--seed takes an integer from 0 to 2^64 - 1, not 'x'"),
    ):
        done = run(*arguments, code=2)
        assert words in done.stderr and not done.stdout, (arguments, done.stderr)
        assert re.search(r"try `lightnet( \w+)? --help`$", done.stderr.strip()), done.stderr


OPEN = """input(| dst=x | dtype=TL_FLOAT, dims=[-1, 8]);
Relu(X=x | Y=y |);
"""


def test_shapes_are_bound_alike(model):
    for command in (["run", "--zero"], ["bench", "--runs=1", "--warmup=1", "--min-time=0"], ["inspect"], ["plan"],
                    ["opt", "--verify"], ["blame"], ["compare"]):
        run(*command, "-s", "x=2x8", model)
    peak = [int(re.search(r"peak (\d+)", run("plan", "--short", "-s", f"x={n}x8", model).stdout)[1])
            for n in (64, 128)]
    assert peak[0] < peak[1], peak
    compiled = json.loads(run("-c", "-o", "-", "-s", "x=64x8", model).stdout)
    assert "64" in json.dumps(compiled), compiled
    for command in (["blame"], ["opt", "--verify"]):
        done = run(*command, model, code=3 if command[0] == "blame" else 1)
        assert "-s" in done.stderr and "-i" in done.stderr, done.stderr


def test_json_goes_to_a_file(model):
    for command in ("plan", "bench"):
        more = ["--runs=1", "--warmup=1", "--min-time=0"] if command == "bench" else []
        done = run(command, "-s", "x=2x8", *more, "--json=facts.json", model)
        with open("facts.json", encoding="utf-8") as file:
            json.load(file)
        os.remove("facts.json")
        assert command == "bench" or not done.stdout
    assert "facts.json" not in os.listdir(".")


def test_files_that_are_no_models_are_named():
    def write(name, data):
        with open(name, "wb") as file:
            file.write(data)
        return name

    lfs = write("lfs.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    for name, words in (
        (lfs, "a pointer of Git LFS in place of the file, not a model that LightNet reads; fetch"),
        (write("page.onnx", b"<!doctype html><body>(a|b)"), "this is a web page (HTML)"),
        (write("m.mlmodel", b"\x08\x01" + bytes(40)), "this is a Core ML model"),
        (write("m.onnx.gz", b"\x1f\x8b\x08" + bytes(40)), "unpack it: gunzip"),
        (write("symbol.json", b'{"nodes": [{"op": "null"}]}'), "as CVM and MXNet write it"),
        (write("p.jpg", b"\xff\xd8\xff\xe0" + bytes(40)), "give it to a model with -i"),
        (write("noise", bytes(range(200, 256))), "onnx (.onnx)"),
    ):
        for command in (["run"], ["inspect"], []):
            done = run(*command, name, code=1)
            assert words in done.stderr, (name, done.stderr)


def test_an_output_is_written_once(model):
    for command, more in (("run", ["--zero", "-s", "x=2x8"]), ("convert", []), ("opt", [])):
        done = run(command, *more, "-o", "first.net", "-o", "second.net", model, code=2)
        assert "-o is given twice, with 'first.net' and 'second.net'" in done.stderr, done.stderr


def test_a_value_is_given_once():
    """Every option of every command that takes one value."""
    given = 0
    for name in commands():
        for line in run(name, "--help").stdout.splitlines():
            found = re.match(r"  (?:-\w, |    )--([\w-]+)(?:=|\[=)", line)
            if not found or found[1] in ("input", "shape", "base", "rules", "skip"):
                continue
            value = VALUES.get(found[1], "2")
            done = run(name, *("--%s=%s" % (found[1], value),) * 2, code=2)
            words = ("-o" if found[1].startswith("out") and found[1] != "outputs" else "--" + found[1]) + " is given twice, with '%s' and '%s'" % (value, value)
            assert words in done.stderr, (name, done.stderr)
            given += 1
    assert given > 100, given
    run("run", "--verbose", "--verbose", "missing.onnx", code=1)  # nothing is lost of an option without a value


VALUES = {"json": "f.json", "type": "0", "layout": "nchw", "preset": "unit", "crop": "0.5", "profile": "run", "resize": "2x2"}


def test_formats_are_listed():
    text = run("formats").stdout
    for words in ("onnx         read  written  .onnx", ".net", ".json", "safetensors", "JPEG", "wav"):
        assert words in text, text
    run("formats", "x", code=2)


def test_endings_that_no_format_has(model):
    done = run("convert", model, "-o", "m.onxn", code=2)
    assert "did you mean .onnx?" in done.stderr and ".net" in done.stderr, done.stderr
    done = run("convert", model, "-o", "other.tflite", code=2)
    assert ".safetensors" in done.stderr and not os.path.exists("other.tflite"), done.stderr
    run("convert", model, "-o", "no_ending")
    assert "there is no file or folder /nosuch" in run("verify", "/nosuch", code=1).stdout


def test_words_in_a_model_that_are_near():
    start = "input(| dst=x | dtype=TL_FLOAT, dims=[1, 8]); "
    for text, words in (
        ("input(| dst=x | dtype=float32, dims=[1, 8]);", "'float32' is no element type; did you mean 'TL_FLOAT'?"),
        ("input(| dst=x | dtype=TL_FLOAT, dim=[1]);", "has no param 'dim'; known: dtype, dims, "),
        ("input(| dst=x | dtype=TL_FLOAT, dims=[100000, 100000, 100000]);", "shape [100000, 100000, 100000]"),
        ("create(| dst=x | dtype=f32, dims=[1]);", "'f32' is no element type; did you mean 'TL_FLOAT'?"),
        (start + 'maxreduce(src=x | dst=y | axis="one");', "param 'axis' should be a number, but is a text"),
        (start + "relu(srx=x | dst=y |);", "has no argument 'srx'; known: src; did you mean 'src'?"),
        (start + "elew(src1=x, src2=x | dst=y | elew_op=TL_MULT);", "did you mean 'TL_MUL'?"),
        (start + "Zyxw(x=x | y=y |);", "`lightnet ops` lists"),
    ):
        with open("words.net", "w", encoding="utf-8") as file:
            file.write(text)
        done = run("run", "words.net", code=1)
        assert words in done.stderr and "LN_PARAM" not in done.stderr, done.stderr
    for code, arguments, words in ((2, ["opt", "-p", "fodl"], "did you mean 'fold'?"),
                                   (2, ["opt", "--dump-after=fodl"], "did you mean 'fold'?"),
                                   (2, ["run", "--zero", "-s", "x=2x8", "-t", "cpuu"], "did you mean 'cpu'?"),
                                   (1, ["run", "--zero", "-s", "x=2x8", "--budget=1"], "raise the limit (`--budget=")):
        done = run(*arguments, "open.net", code=code)
        assert words in done.stderr, done.stderr
    assert "did you mean 'relu'?" in run("ops", "rleu", code=1).stderr


def test_completions_and_the_man_page_know_every_option():
    bash, zsh, fish = (run("completion", shell).stdout for shell in ("bash", "zsh", "fish"))
    with open(os.path.join(ROOT, "docs", "lightnet.1.in"), encoding="utf-8") as file:
        assert "@OPTIONS@\n" in file.read()
    man = run("completion", "man", os.path.join(ROOT, "docs", "lightnet.1.in")).stdout
    assert "\n@OPTIONS@\n" not in man and ".SH FILES" in man and ".SH OPTIONS" in man
    for command in commands():
        names = {row[1] for row in ROW.findall(run("help", command).stdout)}
        line = re.search(rf"^    {command}\) options='(.*)' ;;$", bash, re.MULTILINE)[1]
        assert {word.strip("-=") for word in line.split()} == names, (command, line)
        part = re.search(rf"^    {command}\)\n(.*?);;$", zsh, re.MULTILINE | re.DOTALL)[1]
        assert set(re.findall(r"'\*--([\w-]+)=?\[", part)) == names, (command, part)
        found = re.findall(rf"__fish_seen_subcommand_from {command}' -l ([\w-]+)", fish)
        assert set(found) == names, (command, found)
        section = man.split(".SS " + command.replace("-", "\\-") + "\n")[1].split("\n.S")[0]
        for name in names:
            assert "\\-\\-" + name.replace("-", "\\-") in section, (command, name)
    subprocess.run(["bash", "-n"], input=bash, text=True, check=True)
    # What bash proposes: commands, options of a command, files.
    script = bash + """
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _lightnet 2>/dev/null; echo "${COMPREPLY[*]}"; }
try lightnet insp
try lightnet plan --sh
try lightnet help verif
try lightnet run open.n
"""
    out = subprocess.run(["bash"], input=script, text=True, capture_output=True, check=True).stdout
    assert out.splitlines() == ["inspect", "--shape= --short", "verify", "open.net"], out
    run("completion", "ksh", code=2)
    run("completion", code=2)


def test_outputs_have_a_folder_before_the_run(model):
    run("run", "-s", "x=2x8", "--zero", model, "-o", "made/as/needed")
    assert os.path.exists("made/as/needed/y.npy")
    with open("a_file", "w", encoding="utf-8"):
        pass
    done = run("run", "-s", "x=2x8", "--zero", model, "-o", "a_file/below", code=1)
    assert "cannot make folder a_file/below" in done.stderr and "run time" not in done.stderr, done.stderr
    for command in (["run", "--zero"], ["plan", "--svg"]):
        if os.path.exists("/dev/full"):
            run(*command, "-s", "x=2x8", model, "-o", "/dev/full" if command[0] == "plan" else "/dev/full/x", code=1)
    assert not os.path.exists("/dev/full") or not os.path.isfile("/dev/full")


def test_progress_ends_with_the_seconds(model):
    """On a terminal of 60 columns, the path makes way for the news. Runs of a small shape reach their largest number within a second."""
    folder = "a_long_name_of_a_folder/" * 4
    os.makedirs(folder)
    path = shutil.copy(model, folder)
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run([LIGHTNET, "bench", "-s", "x=20000x8", "--runs=1", "--warmup=1", "--min-time=1.6", path], check=True,
                   stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    text = b""
    try:
        while part := os.read(control, 65536):
            text += part
    except OSError:
        pass  # the other end is closed
    os.close(control)
    lines = [line for line in re.split(r"\r|\x1b\[K", text.decode()) if line.startswith("measuring")]
    assert lines and all(re.search(r"\.\.\. \(\d+ s\)$", line) and len(line) <= 59 for line in lines), lines
    assert len(lines) == len(set(lines)), lines


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("open.net", "w", encoding="utf-8") as file:
            file.write(OPEN)
        test_a_letter_means_one_thing()
        test_help_has_three_ways()
        test_what_is_near_is_named()
        test_shapes_are_bound_alike("open.net")
        test_json_goes_to_a_file("open.net")
        test_an_output_is_written_once("open.net")
        test_files_that_are_no_models_are_named()
        test_formats_are_listed()
        test_endings_that_no_format_has("open.net")
        test_words_in_a_model_that_are_near()
        test_completions_and_the_man_page_know_every_option()
        test_outputs_have_a_folder_before_the_run("open.net")
        test_progress_ends_with_the_seconds("open.net")
        os.chdir("/")


if __name__ == "__main__":
    main()
