#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the page on operators, docs/ops.md or the file that is named: what their descriptions say,
# and which of ONNX's test cases they pass.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C
page=${1:-docs/ops.md}
build/lightnet-gen docs -o "$page" src/op/*.op src/op/onnx/*.op
cat >>"$page" <<'END'

## The core

Which of ONNX's operators become operators of the core ([0012](decisions/0012-core.md)), and by which rules of
`src/op/onnx/from_onnx.rules`; written by `tools/lowering.py`. *Always*: nothing else computes them. *In some cases*: `ref` has an
implementation for what the rules' conditions leave, and for what is known before a run. *Never*: the core has no word for them.

END
tools/lowering.py >>"$page"
cat >>"$page" <<'END'

## Conformance

Cases of ONNX's own tests that pass on arch `ref`, for each operator by the operator set in which the tested form of it
came; written by `tests/conformance/run.py table`. What does not pass is named, with its reason, in
`tests/conformance/misses.txt`.

END
cat tests/conformance/table.md >>"$page"
