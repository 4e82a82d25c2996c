#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of lightnetrt from a build folder: one file, with the library inside.

Usage: wheel.py BUILD-FOLDER OUT-FOLDER. Prints the path of the wheel. Its platform tag names the newest version of the
C library whose symbols the module needs, so that no older system takes it.
"""
import base64
import hashlib
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def platform_tag(module):
    """manylinux_2_17_x86_64 where GLIBC_2.17 is the newest symbol version; no library but the C library's."""
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", subprocess.run(["readelf", "-dW", module], check=True, text=True,
                                                                  capture_output=True).stdout))
    if needed - ALLOWED:
        sys.exit(f"wheel: {module.name} needs {', '.join(sorted(needed - ALLOWED))}, which a wheel does not have")
    text = subprocess.run(["readelf", "-VW", module], check=True, text=True, capture_output=True).stdout
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", text)]
    if not versions:
        sys.exit(f"wheel: {module.name} has no symbols of glibc; wheels are made for Linux with glibc")
    major, minor = max(max(versions), (2, 17))
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def version():
    text = (ROOT / "include/lightnet/version.h").read_text()
    return re.search(r'LN_VERSION\s+"(.*)"', text)[1]


def main():
    package, out = Path(sys.argv[1]).resolve() / "python/lightnetrt", Path(sys.argv[2])
    module = package / "_core.abi3.so"
    if not module.exists():
        sys.exit(f"wheel: there is no {module}; build with -DLN_PYTHON=ON and the headers of Python (python3-dev)")
    tag, info = f"cp311-abi3-{platform_tag(module)}", f"lightnetrt-{version()}.dist-info"
    sources = ROOT / "python"
    files = {f"lightnetrt/{module.name}": module.read_bytes()}
    for path in sorted((sources / "lightnetrt").rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files[str(path.relative_to(sources))] = path.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: lightnetrt\nVersion: {version()}\nLicense: Apache-2.0\n"
        "Summary: LightNet: neural networks from ONNX files, on CPUs\nRequires-Python: >=3.11\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lightnet\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"lightnetrt-{version()}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(member, data)
    print(wheel)


if __name__ == "__main__":
    main()
