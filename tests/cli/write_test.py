#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that writes files is refused by every command that runs it, unless --allow-write names a folder.

Usage: write_test.py FOLDER-OF-THE-COMMANDS
"""

import os
import subprocess
import sys
import tempfile

LIGHTNET = os.path.join(os.path.abspath(sys.argv[1]), "lightnet")
MODEL = """input(| dst=x | dtype=TL_FLOAT, dims=[2]);
fprint(src=x | | msg="#!/bin/sh", file="build.sh");
relu(src=x | dst=y |);
"""
BRANCH = """input(| dst=c | dtype=TL_BOOL, dims=[1]);
If(cond=c | outputs1=y | then_branch="yes", else_branch="yes2");
graph yes {
create(| dst=a | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[7], from_file=false);
fprint(src=a | | msg="a:", file="build.sh");
output(src=a | |);
}
graph yes2 {
create(| dst=b | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[8], from_file=false);
output(src=b | |);
}
"""
SCRIPT = "#!/bin/sh\necho mine\n"


def run(*arguments, code):
    done = subprocess.run([LIGHTNET, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def script():
    with open("build.sh", encoding="utf-8") as file:
        return file.read()


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def check_refused(model):
    """What runs a model says what would allow it; what only looks at it, or compares it, works."""
    write("build.sh", SCRIPT)
    os.chmod("build.sh", 0o755)
    run("-c", "-o", "compiled.json", model, code=0)
    for command in (["run", "--zero", model], ["run", "--zero", "-t", "ref", model], ["bench", "--runs=1", model],
                    ["--zero", "-o", "!", model], ["--zero", "-r", "compiled.json"], ["run", "--zero", "compiled.json"]):
        message = run(*command, code=1)[1]
        assert "writes the file 'build.sh', which nothing allows" in message, message
        assert "--allow-write=DIR" in message and "ln_context_allow_write" in message, message
    for command in (["inspect"], ["plan"], ["opt"], ["opt", "--verify"], ["compare"], ["blame"],
                    ["convert", "-o", "model.json"], ["convert", "-o", "again.net"]):
        run(*command, model, code=0)
    assert script() == SCRIPT


def check_allowed():
    """A new file, below the folder that is named, is written by each run; one that is there is not touched."""
    os.mkdir("out")
    run("run", "--zero", "--allow-write=out", "-n", "2", "model.net", code=0)
    with open("out/build.sh", encoding="utf-8") as file:
        assert file.read() == 2 * "#!/bin/sh\n[0.000 0.000]\n"
    assert os.stat("out/build.sh").st_mode & 0o111 == 0
    message = run("run", "--zero", "--allow-write=out", "model.net", code=1)[1]
    assert "'build.sh' is there already" in message, message
    message = run("--zero", "--allow-write=.", "-r", "compiled.json", code=1)[1]
    assert "'build.sh' is there already" in message, message
    assert script() == SCRIPT
    os.remove("out/build.sh")
    run("bench", "--runs=1", "--min-time=0", "--warmup=1", "--allow-write", "out", "model.net", code=0)
    os.remove("out/build.sh")
    message = run("run", "--zero", "--allow-write=nowhere", "model.net", code=1)[1]
    assert "cannot open the folder 'nowhere'" in message, message


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("model.net", MODEL)
        write("branch.net", BRANCH)
        check_refused("branch.net")
        check_refused("model.net")
        check_allowed()
        os.chdir("/")


main()
