#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that no symbol is defined twice among the objects of a static library, of which a linker
# would take the first it meets and say nothing.
#
# Usage: tools/symbols.sh LIBRARY.a
set -eu
export LC_ALL=C
library=$1
# nm -A prints `library:object:address type name`; W and V are weak, meant to be defined again.
defined=$(nm -A -g --defined-only "$library" | awk '$2 !~ /[WVwv]/ { split($1, at, ":"); print $3, at[2] }' | sort)
twice=$(printf '%s\n' "$defined" | awk '{ objects[$1] = objects[$1] " " $2; if (++count[$1] == 2) names[$1] }
    END { for (name in names) print name " is defined in" objects[name] }' | sort)
count=$(printf '%s\n' "$defined" | wc -l)
if [ -n "$twice" ]; then
    printf '%s\n' "$twice"
    exit 1
fi
# A library without symbols would pass anything.
[ "$count" -gt 100 ] || { echo "$library: only $count symbols"; exit 1; }
