#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds an arch to a copy of the source tree as CONTRIBUTING.md says, to the letter, builds the
# command, and compares a model on it with `ref`.
# Usage: add_arch_test.sh [FOLDER]: where to build; a new one otherwise.
set -eu
cd "$(dirname "$0")/.."
work=${1:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work/source"
git ls-files -co --exclude-standard | while IFS= read -r file; do
    [ ! -f "$file" ] || echo "$file"
done | tar -cf - -T - | tar -xf - -C "$work/source"
cd "$work/source"

# Blocks of the recipe: `$ command` lines are run, other blocks begin with the name of their file.
python3 - <<'PYTHON'
import pathlib
import re
import subprocess

text = pathlib.Path("CONTRIBUTING.md").read_text()
recipe = text.split("## Add an arch\n")[1].split("\n## ")[0]
blocks = re.findall(r"^```text\n(.*?)^```", recipe, re.MULTILINE | re.DOTALL)
assert len(blocks) >= 6, "the recipe has lost its blocks"
for block in blocks:
    lines = block.splitlines()
    if lines[0].startswith("$ "):
        for line in lines:
            subprocess.run(line[2:], shell=True, check=True)
    else:
        path = pathlib.Path(lines[0].split()[1])
        assert str(path).startswith("src/arch/toy/"), path
        path.write_text("\n".join(lines[1:]) + "\n")
PYTHON

# Without the kernels of `cpu`, which take most of the time and are not what is tried.
cmake -S . -B build -G Ninja -DLN_TESTS=OFF -DLN_WITHOUT=arch/cpu -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build build -j "$(nproc)" --target lightnet >build.log 2>&1 || { tail -n 40 build.log; exit 1; }

build/lightnet archs | grep -qE '^toy +1 operators.* falls back to ref'
cat >model.net <<'IL'
input(| dst=x | dtype=TL_FLOAT, dims=[2, 8]);
relu(src=x | dst=y |);
softmax(src=y | dst=z | axis=1);
IL
build/lightnet opt -t toy model.net | grep -q ': relu_toy('
build/lightnet opt -t toy model.net | grep -q ': softmax_ref('
build/lightnet compare -b toy model.net
sed 's/TL_FLOAT/TL_INT32/; /softmax/d' model.net >ints.net
build/lightnet opt -t toy ints.net | grep -q ': act_ref('
echo "an arch was added as CONTRIBUTING.md says"
