#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`bench/check` on a small model: a baseline is written, kept, and missed.

Usage: bench_check_test.py BUILD-FOLDER
"""

import json
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
CHECK = os.path.abspath("bench/check")
DIGITS = os.path.abspath("models/digits/digits.net")


def run(*arguments, code=0):
    done = subprocess.run([sys.executable, CHECK, "--build", BUILD, "--rounds=1", "--min-time=0", *arguments],
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def rewrite(path, change):
    with open(path, encoding="utf-8") as f:
        ratio = json.load(f)["digits"]["1"]
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"digits": {"1": ratio * change}}, f)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "baseline.json")
        baseline = "--baseline=" + path
        assert "no baseline" in run(baseline, DIGITS, code=77)[0]
        run(baseline, "--renew", DIGITS)
        rewrite(path, 1000)
        assert "faster" in run(baseline, DIGITS)[0]
        rewrite(path, 1e-6)
        assert "slower than the baseline: digits" in run(baseline, DIGITS, code=1)[1]
        found = json.loads(run(baseline, "--tolerance=1e9", "--json=-", DIGITS)[0])
        assert found["models"][0]["model"] == "digits" and found["models"][0]["ratio"] > 0, found
        assert "there is no model 'nobody'" in run(baseline, "nobody", code=1)[1]
        run("--rounds=0", code=2)


main()
