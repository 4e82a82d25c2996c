#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries in the place of others are opened by their path alone, from a folder that is on no path.

Usage: open_test.py BUILD-FOLDER
"""
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def check_ort(path):
    class Base(ctypes.Structure):
        _fields_ = [("get_api", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
                    ("get_version", ctypes.CFUNCTYPE(ctypes.c_char_p))]

    library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    library.OrtGetApiBase.restype = ctypes.POINTER(Base)
    base = library.OrtGetApiBase().contents
    assert base.get_api(17) and not base.get_api(1000) and base.get_version().startswith(b"1.")


def check_cvm(path):
    library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    library.CVMGetLastError.restype = ctypes.c_char_p
    array = ctypes.c_void_p()
    shape = (ctypes.c_int64 * 1)(-1)
    assert library.CVMArrayAlloc(shape, 1, 0, 32, 1, 1, 0, ctypes.byref(array)) != 0 and library.CVMGetLastError()


CHECKS = {"liblightnet-ort.so.1": check_ort, "lightnet-ort/libonnxruntime.so.1": check_ort, "liblightnet-cvm.so": check_cvm}


STUB = "const void *OrtGetApiBase(void) { return 0; }"
PROGRAM = """
#include <stdint.h>
typedef struct base { const void *(*get_api)(uint32_t version); const char *(*get_version)(void); } base;
const base *OrtGetApiBase(void);
int main(void) { return OrtGetApiBase()->get_api(17) ? 0 : 1; }
"""


def check_linked(folder, version, work):
    """A program that was linked with another release finds its version of the function."""
    (work / "stub.c").write_text(STUB)
    (work / "program.c").write_text(PROGRAM)
    (work / "stub.map").write_text(f"VERS_{version} {{ global: OrtGetApiBase; local: *; }};")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libonnxruntime.so.1", "-Wl,--version-script=stub.map",
                    "-o", "libonnxruntime.so", "stub.c"], cwd=work, check=True)
    subprocess.run(["cc", "-o", "program", "program.c", "-L.", "-lonnxruntime"], cwd=work, check=True)
    subprocess.run([str(work / "program")], env={"LD_LIBRARY_PATH": folder}, cwd="/", check=True)
    print("ran a program of", version)


def main():
    if sys.argv[1] == "open":
        CHECKS[sys.argv[2]](sys.argv[3])
        folder = str(Path(sys.argv[3]).resolve().parent)
        maps = Path("/proc/self/maps").read_text()
        assert folder in maps, "the library is from elsewhere"
        others = {line.split()[-1] for line in maps.splitlines() if "liblightnet" in line and folder not in line}
        assert not others, f"it brought {others}"
        return
    build = Path(sys.argv[1]).resolve()
    environment = {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["cmake", "--install", str(build), "--prefix", f"{work}/made"], check=True, capture_output=True)
        os.rename(f"{work}/made", f"{work}/moved")
        for name in CHECKS:
            found = list(Path(work, "moved").glob(f"lib*/**/{name}"))
            if not found and "ort" not in name and not list(build.glob("liblightnet-cvm*")):
                continue  # built without it
            assert found, f"{name} is not installed"
            subprocess.run([sys.executable, __file__, "open", name, str(found[0])], cwd="/", env=environment, check=True)
            print("opened", name)
        for version in ("1.8.1", "1.17.1", "1.22.0", "1.30.0"):
            check_linked(str(next(Path(work, "moved").glob("lib*/**/libonnxruntime.so.1")).parent), version, Path(work))


if __name__ == "__main__":
    main()
