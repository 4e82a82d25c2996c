#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# aarch64_test.sh COMMAND ARM_COMMAND MODEL:FLOATS...: models give the same bytes on this machine
# as on AArch64, in QEMU's user mode, with NEON and with generic C.
#
# COMMAND and ARM_COMMAND are the two builds of `lightnet`; FLOATS is the size of a model's only
# input. Weights and inputs are drawn here.
set -euo pipefail
command=$1
arm_command=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

write_input() {
    /usr/bin/python3 - "$1" "$scratch/input.bin" <<'PYTHON'
import array, random, sys
draw = random.Random(1)
array.array("f", (draw.uniform(-1, 1) for _ in range(int(sys.argv[1])))).tofile(open(sys.argv[2], "wb"))
PYTHON
}

# run NAME COMMAND...: the hash of the outputs' bytes.
run() {
    local out=$scratch/$1
    shift
    "$@" run "$model" -f "$scratch/w.safetensors" -i "$scratch/input.bin" --threads=2 -o "$out" >/dev/null
    cat "$out"/*.npy | sha256sum | cut -c 1-32
}

status=0
for pair; do
    model=${pair%:*}
    name=$(basename "$model" .net)
    "$command" genwts --model "$model" --seed 7 -o "$scratch/w.safetensors" >/dev/null
    write_input "${pair##*:}"
    here=$(run "$name.here" "$command")
    for isa in neon generic; do
        there=$(LN_CPU_ISA=$isa run "$name.$isa" qemu-aarch64 "$arm_command")
        echo "$name: $here here, $there with $isa"
        [ "$here" = "$there" ] || status=1
    done
done
exit $status
