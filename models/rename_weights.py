#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a safetensors file with `_` for `.` in the names of its tensors, which IL names need.

    rename_weights.py FROM.safetensors TO.safetensors
"""
import json
import pathlib
import struct
import sys


def rename(data):
    """The file with its header rewritten; the tensors' bytes, and their order, stay."""
    header_size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + header_size])
    renamed = {}
    for name, entry in header.items():
        new = name if name == "__metadata__" else name.replace(".", "_")
        if new in renamed:
            sys.exit(f"two tensors would be called '{new}'")
        renamed[new] = entry
    text = json.dumps(renamed).encode()
    text += b" " * (-len(text) % 8)  # the tensors behind the header stay aligned
    return struct.pack("<Q", len(text)) + text + data[8 + header_size:]


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(argv[2]).write_bytes(rename(pathlib.Path(argv[1]).read_bytes()))


main(sys.argv)
