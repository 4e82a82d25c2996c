#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The wheel in an empty environment, without a network: it installs, and reads the digits.
# Usage: wheel_test.sh BUILD-FOLDER. Exits with 77 where the package was not built or venv is missing.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
[ -f "$build/python/lightnetrt/_core.abi3.so" ] || { echo "skipped: lightnetrt is not built (python3-dev)"; exit 77; }
/usr/bin/python3 -c "import ensurepip" 2>/dev/null || { echo "skipped: there is no python3-venv"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=$(/usr/bin/python3 tools/wheel.py "$build" "$work")
case $wheel in
*-cp311-abi3-manylinux_2_*.whl) ;;
*) echo "unexpected name: $wheel"; exit 1 ;;
esac
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-index --disable-pip-version-check "$wheel"
root=$PWD
cd "$work"
"$work/venv/bin/python" - "$root/models/digits" <<'PROGRAM'
import array
import sys
import lightnetrt
assert "venv" in lightnetrt.__file__, lightnetrt.__file__
try:
    import numpy
    sys.exit("the environment is not empty")
except ImportError:
    pass
folder = sys.argv[1]
model = lightnetrt.load(f"{folder}/digits.net", weights=f"{folder}/digits.safetensors")
rows = ["01797100", "03837700", "00028400", "00194000", "00179610", "00003840", "00302840", "00998410"]
image = model.inputs[0]
pixels = array.array("f", [int(digit) / 9 for row in rows for digit in row])
scores = memoryview(model(lightnetrt.Array(image.dtype, image.shape, pixels))).cast("B").cast("f").tolist()
assert scores.index(max(scores)) == 3, scores
PROGRAM
"$work/venv/bin/pip" uninstall -q -y lightnetrt
echo "$(basename "$wheel")"
