#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints what each module adds to the shared library, and checks its budget: 2.9 MB when it is
# stripped, to a tenth. The budget holds for gcc on x86-64, with -DCMAKE_BUILD_TYPE=Release and
# everything in it.
#
# The modules' sizes come from the linker's map, beside the library: code, constants, data, and the
# tables for unwinding. What the linker adds (symbols, relocations) is the rest.
# Usage: size.sh BUILD_FOLDER
set -eu
budget=29 # tenths of a megabyte

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$1/liblightnet.so"
bytes=$(wc -c <"$stripped")

# A row of the map: section, address, size, object; a long name stands on a line of its own.
awk '
/^Linker script and memory map/ { is_map = 1 }
!is_map { next }
/^ \.[A-Za-z0-9_.$]+$/ { section = $1; next }
/^ \.[a-z]/ { section = $1; address = $2; size = $3; object = $4 }
/^ +0x/ && section != "" { address = $1; size = $2; object = $3 }
object != "" {
    if (object ~ /\/CMakeFiles\// && section ~ /^\.(text|rodata|data|eh_frame|tdata)/ && address !~ /^0x0+$/) {
        module = object
        sub(/\/CMakeFiles\/.*/, "", module)
        sub(/^(.*\/)?src\//, "", module)
        if (match(object, /__(generic|[a-z0-9]+_[a-z0-9]+)\.c\.o/))
            module = module " " substr(object, RSTART + 2, RLENGTH - 6)
        kind = section ~ /^\.text/ ? "code" : section ~ /^\.eh/ ? "unwind" : "data"
        sum[module, kind] += strtonum_hex(size)
        all[module] += strtonum_hex(size)
    }
    object = section = ""
}
function strtonum_hex(text,   i, n) {
    n = 0
    text = tolower(substr(text, 3))
    for (i = 1; i <= length(text); i++)
        n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
    return n
}
END {
    for (m in all)
        printf "%-32s %9d %9d %9d %9d\n", m, sum[m, "code"], sum[m, "data"], sum[m, "unwind"], all[m]
}' "$1/liblightnet.map" | sort -k1,1 | {
    printf '%-32s %9s %9s %9s %9s\n' module code data unwind bytes
    cat
}
tenths=$(((bytes + 50000) / 100000))
echo "$bytes bytes, $((tenths / 10)).$((tenths % 10)) MB of $((budget / 10)).$((budget % 10))"
[ "$(uname -m)" = x86_64 ] || exit 0
if [ "$tenths" -gt "$budget" ]; then
    echo "the library is over its budget (docs/decisions/0011-plain-tables.md)"
    exit 1
fi
