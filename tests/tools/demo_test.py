#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the demo says: right answers first, whole lines, and commands that work when they are copied.

Usage: demo_test.py FOLDER-OF-THE-COMMANDS, in the source tree
"""

import os
import re
import subprocess
import sys
import tempfile

program = os.path.join(os.path.abspath(sys.argv[1]), "digits")
root = os.getcwd()
text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
shown = text.replace(os.path.dirname(program) + "/", "build/")  # whatever the folder is called
assert all(len(line) <= 110 for line in shown.splitlines())
parts = [text.index(f"\n{n}. " if n > 1 else "1. ") for n in range(1, 5)]
assert parts == sorted(parts), parts
verdicts = re.findall(r"right|is a \d", text.split("probability.")[1].split(" are right")[0])
are_right = [verdict == "right" for verdict in verdicts]
assert len(are_right) == 6 and are_right == sorted(are_right, reverse=True), verdicts
assert "relu1 = relu(bn1)" in text and "act=relu" in text

commands = [line.strip() for line in text[parts[3]:].replace("\\\n", " ").splitlines() if "/lightnet " in line]
assert len(commands) == 4, commands
with tempfile.TemporaryDirectory() as folder:
    os.symlink(os.path.join(root, "models"), os.path.join(folder, "models"))
    for command in commands[:-1]:
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True)
        if " run " in command:
            assert re.search(r"^ +1\. .* 3$", done.stdout, re.MULTILINE), done.stdout
    assert os.path.getsize(os.path.join(folder, "plan.svg")) > 1000
