#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What must be green before every commit, in under two minutes: format, layers, generated files,
# symbols, exports, size, a build without warnings, the fast tests.
set -eu
cd "$(dirname "$0")/.."

step() {
    echo "== $1"
}

step "format"
git ls-files '*.c' '*.h' ':!tests/golden' | xargs clang-format --dry-run --Werror ||
    { echo "run: make format"; exit 1; }

step "tree"
tools/tree.sh

step "layers"
python3 tools/layers.py

step "build"
cmake --preset release -DLN_TESTS=ON -DLN_WERROR=ON >/dev/null
cmake --build build -j "$(nproc)"

step "layers of what is linked"
python3 tools/layers.py build

step "warnings of clang"
tools/clang.py build

if [ -z "$(tools/deps.sh aarch64 --missing)" ]; then
    step "kernels for aarch64"
    cmake --preset aarch64 >/dev/null
    cmake --build --preset aarch64 -j "$(nproc)" --target ln_cpu_kernels
fi

step "generated files"
tools/ops.sh build/ops.md
cmp -s build/ops.md docs/ops.md || { echo "docs/ops.md is out of date; run: tools/ops.sh"; exit 1; }
tools/accuracy.sh build/accuracy.md
cmp -s build/accuracy.md docs/accuracy.md ||
    { echo "docs/accuracy.md is out of date; run: tools/accuracy.sh"; exit 1; }

step "symbols"
tools/symbols.sh build/liblightnet.a

step "exports"
tools/exports.sh build/liblightnet.so
tools/exports.sh build/liblightnet-cvm.so src/compat/cvm/include CVM_DLL
tools/exports.sh build/liblightnet-classic.so src/compat/classic/include LN_CLASSIC_API
tools/exports.sh build/liblightnet-ort.so.1 src/compat/ort ORT_EXPORT

step "size"
tools/size.sh build

step "tests"
ctest --test-dir build -L fast -j "$(nproc)" --output-on-failure
