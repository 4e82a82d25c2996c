#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a handwritten digit. Usage: digits.py [FOLDER], where FOLDER holds digits.net."""
import array
import pathlib
import sys

import lightnetrt

# 0 is paper, 9 is ink.
ROWS = ["01797100", "03837700", "00028400", "00194000", "00179610", "00003840", "00302840", "00998410"]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "models/digits")
    pixels = array.array("f", [int(digit) / 9 for row in ROWS for digit in row])
    with lightnetrt.load(folder / "digits.net", weights=folder / "digits.safetensors") as model:
        image = model.inputs[0]
        print(f"{image.name}: {image.dtype} {image.shape}")
        scores = memoryview(model(lightnetrt.Array(image.dtype, image.shape, pixels))).tolist()
    while isinstance(scores[0], list):
        scores = scores[0]
    best = scores.index(max(scores))
    print(f"This is a {best} ({100 * scores[best]:.0f} %).")


if __name__ == "__main__":
    main()
