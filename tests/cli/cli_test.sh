#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands as a user meets them: output, exit codes, messages with a remedy.
# Usage: cli_test.sh FOLDER-OF-THE-COMMANDS
set -u
bin=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $1"
    echo "  stdout: $(head -c 400 out)"
    echo "  stderr: $(head -c 400 err)"
    failures=$((failures + 1))
}

# expect CLAIM EXIT-CODE COMMAND...: runs it; standard output in `out`, standard error in `err`.
expect() {
    claim=$1
    code=$2
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$code" ] || fail "$claim: exit $got, not $code"
}

has_out() { grep -qF -- "$1" out || fail "$claim: no '$1' on standard output"; }
has_err() { grep -qF -- "$1" err || fail "$claim: no '$1' on standard error"; }
is_quiet() { [ ! -s out ] || fail "$claim: standard output is not empty"; }

example=$here/example.json

# ---- The document's example ----

expect "the document's example" 0 "$bin/lightnet" "$example"
printf 'tensor2:\n[[2.000 3.000 4.000]\n [6.000 7.000 8.000]]\n' >wanted
cmp -s wanted out || fail "the example prints exactly its message"
grep -qE '^info: run time: [0-9]+\.[0-9]{6}s$' err || fail "the run time goes to standard error"
[ ! -f out.json ] || fail "nothing is written unless it is asked for"
echo mine >out.json
expect "a file of the user stays" 0 "$bin/lightnet" "$example"
[ "$(cat out.json)" = mine ] || fail "a file of the user stays"
expect "-c writes out.json" 0 "$bin/lightnet" -c "$example"
grep -q lightnet-compiled out.json || fail "the compiled form goes to out.json"
expect "-o writes, and runs" 0 "$bin/lightnet" -o named.json "$example"
cmp -s named.json out.json || fail "-o writes what -c writes"
cmp -s wanted out || fail "-o runs"

expect "the compiled form runs" 0 "$bin/lightnet" -r out.json
cmp -s wanted out || fail "the compiled form prints the same"
expect "so it does without -r" 0 "$bin/lightnet" out.json
cmp -s wanted out || fail "a compiled form runs without -r"
expect "a compiled form is not compiled again" 1 "$bin/lightnet" -o again.json out.json
has_err "lightnet -r out.json"
expect "a plain model cannot only be run" 1 "$bin/lightnet" -r "$example"
has_err "leave out -r"

cat >ops.net <<'IL'
create(| dst=c | dtype=TL_FLOAT, dims=[2, 4], ran=[0, 0], data=[1, 2, 3, 4, 5, 6, 7, 8], from_file=false);
slice(src=c | dst=s | axis=1, start=1, len=3);
reshape(src=s | dst=r | dims=[3, 2]);
maxreduce(src=r | dst=m | axis=0);
elew(src1=m, src2=m | dst=e | elew_op=TL_MUL);
transpose(src=e | dst=t | axes=[1, 0]);
zeros(| dst=z | dims=[2, 4], dtype=TL_FLOAT);
print(src=t | | msg="transpose1");
print(src=z | | msg="zeros1");
IL
for target in cpu ref; do
    expect "a chain of operators on $target" 0 "$bin/lightnet" -o '!' -t $target ops.net
    printf 'transpose1\n[[49.000]\n [64.000]]\nzeros1\n[[0.000 0.000 0.000 0.000]\n [0.000 0.000 0.000 0.000]]\n' >chain
    cmp -s chain out || fail "the chain prints what it computes"
done

expect "the example prints to itself" 0 "$bin/lightnet" convert "$example" -o -
cmp -s "$example" out || fail "the example prints to itself"

# ---- Options ----

rm -f out.json
expect "! writes nothing" 0 "$bin/lightnet" -o '!' "$example"
[ ! -f out.json ] || fail "! writes nothing"
expect "-c only compiles" 0 "$bin/lightnet" -c -o compiled.json "$example"
is_quiet
expect "-o - prints the compiled form" 0 "$bin/lightnet" -c -o - "$example"
has_out '"format": "lightnet-compiled"'
expect "- reads standard input" 0 sh -c "'$bin/lightnet' -o '!' - <'$example'"
cmp -s wanted out || fail "standard input gives the same"
expect "long options take one dash" 0 "$bin/lightnet" -outfile '!' -target ref "$example"
cmp -s wanted out || fail "target ref prints the same"
expect "-h" 0 "$bin/lightnet" -h
has_out "Usage: lightnet"
expect "-v" 0 "$bin/lightnet" -v
has_out "lightnet 0.1.0"

cat >weights.net <<'IL'
input(| dst=x | dtype=TL_FLOAT, dims=[2]);
create(| dst=w | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[0], from_file=true);
elew(src1=x, src2=w | dst=y | elew_op=TL_SUM);
IL
expect "weights without a data file are an error" 1 "$bin/lightnet" -o '!' weights.net
has_err "--zero"
expect "zeros are warned about" 0 "$bin/lightnet" --zero weights.net
has_out "y: float32 [2] min 0 max 0"
has_err "warning: 1 tensor should come from a data file"
expect "unless warnings are hidden" 0 "$bin/lightnet" --zero -w -o '!' weights.net
! grep -q warning err || fail "-w hides warnings"

# ---- The environment ----

expect "an unknown instruction set is said and ignored" 0 env LN_CPU_ISA=abacus "$bin/lightnet" -o '!' "$example"
has_err "warning:"
has_err "abacus"
expect "a slower instruction set" 0 env LN_CPU_ISA=generic "$bin/lightnet" -o '!' "$example"
cmp -s wanted out || fail "a slower instruction set gives the same"

# ---- Wrong command lines: exit 2 with a remedy ----

expect "no source" 2 "$bin/lightnet"
has_err "no command and no input file"
expect "an unknown option" 2 "$bin/lightnet" --nonsense "$example"
has_err "unknown option --nonsense"
expect "an option without its value" 2 "$bin/lightnet" "$example" -o
has_err "needs a value"
expect "two sources" 2 "$bin/lightnet" "$example" "$example"
for command in run plan inspect convert opt stats genwts gen-op; do
    expect "$command without arguments" 2 "$bin/lightnet" $command
    has_err "--help"
    expect "$command --help" 0 "$bin/lightnet" $command --help
    has_out "Usage: lightnet $command"
done

# ---- Wrong input: exit 1 with a place ----

expect "a missing file" 1 "$bin/lightnet" missing.json
has_err "missing.json"
expect "an unknown target" 2 "$bin/lightnet" -t quantum "$example"
has_err "quantum"
has_err "cpu"
expect "an unknown pass" 2 "$bin/lightnet" opt -p fold,frobnicate "$example"
has_err "'frobnicate'"
has_err "dead, core, widen, fold, place, layout, "
: >empty.json
expect "an empty file" 1 "$bin/lightnet" empty.json
printf '{\n  "ops": [,]\n}\n' >syntax.json
expect "a syntax error" 1 "$bin/lightnet" syntax.json
has_err "syntax.json:2:11"
sed 's/"slice"/"slcie"/' "$example" >unknown.json
expect "an unknown operator" 1 "$bin/lightnet" unknown.json
has_err "did you mean 'slice'"
sed 's/"value": 3}/"value": 9}/' "$example" >range.json
expect "a parameter out of range" 1 "$bin/lightnet" range.json
has_err "range.json:19:9"
has_err "slice1"
sed 's/"slice1"/"create1"/' "$example" >twice.json
expect "a name given twice" 1 "$bin/lightnet" twice.json
has_err "create1"

# ---- Verbs ----

expect "archs" 0 "$bin/lightnet" archs
has_out "cpu"
has_out "falls back to ref"

plugin=$bin/tests/plugins/slot_good.so
expect "archs of a plug-in" 0 "$bin/lightnet" archs --plugin "$plugin"
has_out "groups of act and elew, of a plug-in (plug-in 'slot', $plugin)"
has_out "slot     2 operators, main memory, falls back to ref: groups"
has_out "plug-in 'slot' from $plugin: one of everything"
expect "ops of a plug-in" 0 "$bin/lightnet" ops --plugin="$plugin" twice
has_out "Each element times 2."
printf 'input(| dst=x | dtype=TL_FLOAT, dims=[2]);\ntwice(src=x | dst=y |);\nact(src=y | dst=z | act=relu);\n' >twice.net
expect "a model of a plug-in" 0 "$bin/lightnet" opt -t slot --plugin "$plugin" twice.net
has_out "act_slot"
for verb in run bench plan inspect compare verify blame; do
    "$bin/lightnet" help "$verb" >out
    claim="help $verb"
    has_out "--plugin"
done
expect "a model runs on a plug-in" 0 "$bin/lightnet" run -t slot --plugin "$plugin" -i "[-1,4]" twice.net
expect "without it there is no such operator" 1 "$bin/lightnet" run twice.net
has_err "twice"
expect "a plug-in once" 1 "$bin/lightnet" archs --plugin "$plugin" --plugin "$plugin"
has_err "loaded already"
expect "a plug-in that is none" 1 "$bin/lightnet" archs --plugin twice.net
has_err "--plugin: 'twice.net' cannot be loaded as a plug-in"

expect "ops" 0 "$bin/lightnet" ops
has_out "conv_ref"
expect "ops NAME" 0 "$bin/lightnet" ops slice
has_out "axis"
has_out "NaN and infinity: moved as they are"
expect "plan" 0 "$bin/lightnet" plan "$example"
has_out "peak"
expect "inspect" 0 "$bin/lightnet" inspect "$example"
has_out "operators  3"

cat >sum.net <<'IL'
input(| dst=x | dtype=TL_FLOAT, dims=[2, 2]);
create(| dst=w | dtype=TL_FLOAT, dims=[2, 2], ran=[0, 0], data=[10, 20, 30, 40], from_file=false);
elew(src1=x, src2=w | dst=y | elew_op=TL_SUM);
IL
python3 -c "import struct,sys; sys.stdout.buffer.write(struct.pack('<4f', 1, 2, 3, 4))" >x.raw
expect "run with raw input" 0 "$bin/lightnet" run sum.net -i x=x.raw -o results
has_out "y: float32 [2, 2] min 11 max 44 mean 27.5"
[ -f results/y.npy ] || fail "the output is saved as .npy"
grep -q '"name": "y", "file": "y.npy", "dtype": "FLOAT", "shape": \[2, 2\]' results/outputs.json ||
    fail "outputs.json lists it"
expect "a saved output is an input" 0 "$bin/lightnet" run sum.net -i results/y.npy
has_out "min 21 max 84"
expect "an input by position" 0 "$bin/lightnet" run sum.net -i 0=x.raw
expect "an unknown input" 1 "$bin/lightnet" run sum.net -i q=x.raw
has_err "'x'"
printf 'abc' >short.raw
expect "input of the wrong size" 1 "$bin/lightnet" run sum.net -i x=short.raw
has_err "16"

expect "convert to JSON" 0 "$bin/lightnet" convert sum.net -o sum.json
expect "convert to IL" 0 "$bin/lightnet" convert sum.json -o back.net
expect "and back" 0 "$bin/lightnet" convert back.net -o again.json
cmp -s sum.json again.json || fail "IL to JSON to IL to JSON is the same"
expect "il2json" 0 "$bin/il2json" sum.net
cmp -s sum.json out || fail "il2json and convert agree"
expect "il2json of a wrong file" 1 "$bin/il2json" sum.json
expect "convert without -o" 2 "$bin/lightnet" convert sum.net

# ---- Hostile files and circumstances ----

# within SECONDS COMMAND...: the command, stopped if it hangs.
within() { timeout "$@"; }

# Little address space, where the build can do with it: sanitizers cannot.
little="ulimit -v 1000000"
sh -c "$little; '$bin/lightnet' -v" >/dev/null 2>&1 || little=:

mkdir folder
mkfifo pipe
printf 'secret' >locked.json
expect "a folder as model" 1 within 10 "$bin/lightnet" folder
has_err "folder"
expect "a pipe that nobody writes" 1 within 10 "$bin/lightnet" pipe
has_err "not a regular file"
expect "an endless device" 1 within 10 "$bin/lightnet" /dev/zero
has_err "not a regular file"
expect "an endless standard input" 1 within 60 sh -c "$little; yes '{' | '$bin/lightnet' -"
expect "a file of /proc" 1 within 10 "$bin/lightnet" /proc/self/maps
expect "a folder as output" 1 "$bin/lightnet" -c -o folder "$example"
has_err "folder"
expect "an output below a file" 1 "$bin/lightnet" -c -o "$example/out.json" "$example"
printf x >plain
expect "a folder of outputs that is a file" 1 "$bin/lightnet" run sum.net -i x=x.raw -o plain
expect "a pipe as input" 1 within 10 "$bin/lightnet" run sum.net -i x=pipe
has_err "not a regular file"
expect "an endless input" 1 within 10 "$bin/lightnet" run sum.net -i x=/dev/zero
has_err "not a regular file"
expect "a pipe as data file" 1 within 10 "$bin/lightnet" run sum.net -f pipe
expect "a folder as data file" 1 within 10 "$bin/lightnet" run sum.net -f folder
if [ "$(id -u)" != 0 ]; then
    chmod 0 locked.json
    expect "a file without permission" 1 "$bin/lightnet" locked.json
    has_err "locked.json"
fi
python3 - <<'PY'
import struct
def npy(name, dict_, data=b"12345678"):
    text = dict_.encode()
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data)
npy("huge.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2147483647,), }")
npy("overflow.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (65536, 65536), }")
npy("negative.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -2), }")
npy("ranks.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }")
npy("cut.npy", "{'fortran_order': False, 'shape': (2, 2), 'descr':", b"")
npy("object.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }")
open("header.npy", "wb").write(b"\x93NUMPY\x01\x00\xff\xff{")
open("brace.raw", "wb").write(b"12345678{1234567")
PY
for file in huge overflow negative ranks cut object header; do
    expect "a lying header: $file.npy" 1 sh -c "$little; '$bin/lightnet' run sum.net -i x=$file.npy"
    has_err "$file.npy"
done
expect "raw bytes that look like safetensors" 0 "$bin/lightnet" run sum.net -i x=brace.raw

printf '{"ops": [{"name": "a\\u001b[2J", "optype": "relu"}]}' >escape.json
expect "a name with an escape" 1 "$bin/lightnet" escape.json
printf '{"ops": [{"name": "a\033[2J' >raw_escape.json
expect "a raw escape" 1 "$bin/lightnet" raw_escape.json
expect "an argument with an escape" 1 "$bin/lightnet" "$(printf 'no\033[2Jsuch')"
has_err 'no\x1b[2Jsuch'
name=$(printf 'not-utf8-\377.json')
cp "$example" "$name"
expect "a file name that is not UTF-8" 0 "$bin/lightnet" -o '!' "$name"
expect "an input name that is not UTF-8" 1 "$bin/lightnet" run sum.net -i "$(printf '\377')=x.raw"
expect "a thousand times an option" 2 "$bin/lightnet" run $(yes -- '-i a=b' | head -n 1000) sum.net
has_err "more than 256"

expect "standard output is closed" 1 sh -c "'$bin/lightnet' -o closed.json '$example' >&-"
grep -qF '[2.000' closed.json && fail "what is printed does not land in a file"
"$bin/lightnet" -r closed.json >/dev/null 2>&1 || fail "the file of a closed output is whole"
expect "all standard files are closed" 1 sh -c "'$bin/lightnet' archs <&- >&- 2>&-"
expect "standard error is closed" 0 sh -c "'$bin/lightnet' archs 2>&-"

if [ -e /dev/full ]; then
    expect "a full disk is a failure" 1 sh -c "'$bin/lightnet' archs >/dev/full"
fi

[ "$failures" = 0 ] && echo "all claims hold"
[ "$failures" = 0 ]
