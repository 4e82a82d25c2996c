#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole suite: each build below runs its tests; the last line counts them all.
#
#   release   gcc, all tests; for each lower instruction set those in which its kernels compute, and a few
#             random models; then random models for two minutes (LN_DIFFERENTIAL_SECONDS). Their seed is a
#             new one each time (LN_DIFFERENTIAL_SEED is another one)
#   clang     clang, all tests but long ones in which the compiler is all the same
#   asan      address and undefined-behaviour sanitizers, all tests but those of large models; a sixth
#             or less of what is a list of models; fuzz targets on their seeds and changes of them
#   tsan      thread sanitizer, the tests in which threads meet
#   aarch64   cross-compiled; the tests of the kernels and two models in QEMU's user mode
#   leaves    the library without each leaf folder
#   package   installed, and used from outside with pkg-config and CMake; Debian packages
#
# With LN_LONG=1 nothing is shortened: whole lists under sanitizers, all tests with clang, libFuzzer for
# a minute a target (LN_FUZZ_SECONDS), random models for an hour with each instruction set, all pairs of
# operators, and the Debian packages in a Debian that has nothing else.
set -uo pipefail
cd "$(dirname "$0")/.."

# Several builds compile the same: a wheel, a project that takes LightNet in, the library without a leaf.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi

jobs=$(nproc)
passed=0
failed=0
skipped=0

# note STAGE: its title, behind the minutes that those before it took.
note() {
    printf '\n== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

# count NAME COMMAND...: one test that is a command.
count() {
    local name=$1 log
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "passed: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        tail -n 40 "$log"
    fi
    rm -f "$log"
}

# beside NAME COMMAND...: the same, while others run; `together` waits for all of them and counts them.
names=() logs=() pids=()
beside() {
    local log
    log=$(mktemp)
    names+=("$1") logs+=("$log")
    shift
    "$@" >"$log" 2>&1 &
    pids+=($!)
}

# ended PID LOG: waits for it; its exit status, and what it printed.
ended() {
    local status=0
    wait "$1" || status=$?
    cat "$2"
    rm -f "$2"
    return "$status"
}

together() {
    local i
    for i in "${!pids[@]}"; do
        count "${names[i]}" ended "${pids[i]}" "${logs[i]}"
    done
    names=() logs=() pids=()
}

# may_skip NAME COMMAND...: the same of a command that exits with 77 where it cannot run, and says why.
may_skip() {
    local name=$1 said status=0
    shift
    said=$("$@" 2>&1) || status=$?
    if [ "$status" = 77 ]; then
        skipped=$((skipped + 1))
        echo "$name: $said"
    else
        count "$name" sh -c 'printf "%s\n" "$1"; exit "$2"' sh "$said" "$status"
    fi
}

# suite BUILD OPTION...: CTest in a build folder, its tests counted one by one. What was skipped,
# whole tests and parts of some, says why.
suite() {
    local build=$1 log total fail skip
    shift
    log=$(mktemp)
    ctest --test-dir "$build" -j "$jobs" --output-on-failure "$@" 2>&1 | tee "$log" | grep -v '^ *Start '
    sed -n 's/.*Testing: /in /p; /^skipped:/p' "$build/Testing/Temporary/LastTest.log" |
        awk '/^in /{test = $2; next} {print test ": " $0}'
    total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p; s/.*tests passed.* out of \([0-9]*\)$/\1/p' "$log" | tail -n 1)
    fail=$(sed -n 's/.*, \([0-9]*\) tests failed out of.*/\1/p' "$log" | tail -n 1)
    skip=$(grep -c '\*\*\*Skipped' "$log")
    if [ -z "$total" ] || [ "$total" = 0 ]; then
        echo "FAILED: no tests ran in $build"
        failed=$((failed + 1))
    else
        failed=$((failed + ${fail:-0}))
        skipped=$((skipped + skip))
        passed=$((passed + total - skip - ${fail:-0}))
    fi
    rm -f "$log"
}

build() {
    local preset=$1
    shift
    cmake --preset "$preset" "$@" && cmake --build --preset "$preset" -j "$jobs"
}

# build_targets PRESET TARGET...: only these.
build_targets() {
    local preset=$1
    shift
    cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" --target "$@"
}

# A locale with a decimal comma, for the tests that such a one changes nothing.
locales=$(mktemp -d)
trap 'rm -rf "$locales"' EXIT
count "a locale" localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8"
export LOCPATH=$locales

# labels NAME...: a choice for ctest -L and -LE. A test's labels are its tier (fast, full), its group (the name
# up to the point) and what tests/CMakeLists.txt gives it with ln_label.
labels() {
    local IFS='|'
    echo "^($*)$"
}

# Plans are the same with each instruction set (docs/decisions/0010), kernels try all sets themselves, and hashes
# hold the bits of models with one against another: what is left are operators and small models on the kernels.
isa_tests=(-L "$(labels each_isa arch_cpu)")
# Results that do not depend on the compiler.
no_compiler=(any_compiler docs cli il python cxx tools large hashes_full once long_form)
# Long tests, and long forms of tests whose short ones run with sanitizers too.
no_sanitizer=(long_form large hashes_full once numbers)
# Long forms, which `make test-long` runs.
no_release=(long_form)
if [ "${LN_LONG:-0}" = 1 ]; then
    isa_tests=(-LE "$(labels any_kernel il serial_il docs cli cpu_kernels large hashes)")
    no_compiler=(large)
    no_sanitizer=(large hashes_full)
    no_release=(none)
fi

# Instruction sets that this build has kernels for, from slow to fast, but for the last.
lower_isas() {
    build/lightnet archs | sed -n 's/^cpu .*LN_CPU_ISA forces a slower set: //p' | tr ' ' '\n' | sed '$d'
}

note "release: gcc"
count "build with gcc" build release -DLN_TESTS=ON -DLN_WERROR=ON
suite build -LE "$(labels "${no_release[@]}")"
isas=$(lower_isas)
for isa in $isas; do
    note "release: instruction set $isa"
    LN_CPU_ISA=$isa suite build "${isa_tests[@]}"
done
seed=${LN_DIFFERENTIAL_SEED:-$(date +%s)}
note "release: random models, seed $seed"
for isa in $isas; do
    LN_CPU_ISA=$isa beside "random models, seed $seed, instruction set $isa" \
        build/tests/test_differential --seed="$seed" --models=400
done
together
if [ "${LN_LONG:-0}" = 1 ]; then
    for isa in $isas ''; do
        LN_CPU_ISA=$isa beside "random models, seed $seed, instruction set ${isa:-best}" \
            build/tests/test_differential --seed="$seed" --seconds=900 --long
    done
    together
    for ((job = 1; job <= jobs; job++)); do
        beside "pairs of operators, seed $seed, part $job of $jobs" build/tests/test_differential --seed="$seed" \
            --kind=pairs --slice="$job/$jobs"
    done
    together
else
    slice=$((seed % 1000 + 1))/1000
    count "pairs of operators, seed $seed, part $slice" build/tests/test_differential --seed="$seed" --kind=pairs \
        --slice="$slice"
    for ((job = 0; job < jobs; job++)); do
        beside "random models, seed $((seed + job))" build/tests/test_differential --seed=$((seed + job)) \
            --seconds=$((${LN_DIFFERENTIAL_SECONDS:-120} / jobs))
    done
    together
fi
count "tree" tools/tree.sh
count "layers" python3 tools/layers.py build
count "exports" tools/exports.sh build/liblightnet.so
count "symbols" tools/symbols.sh build/liblightnet.a
count "exports of lightnet-cvm" tools/exports.sh build/liblightnet-cvm.so src/compat/cvm/include CVM_DLL
count "exports of lightnet-classic" tools/exports.sh build/liblightnet-classic.so src/compat/classic/include LN_CLASSIC_API
count "exports of lightnet-ort" tools/exports.sh build/liblightnet-ort.so.1 src/compat/ort ORT_EXPORT

note "clang"
count "build with clang" build clang
suite build-clang -LE "$(labels "${no_compiler[@]}")"

note "asan: address and undefined behaviour"
count "build with sanitizers" build asan -DLN_LONG="${LN_LONG:-0}"
ASAN_OPTIONS=detect_leaks=1 suite build-asan -LE "$(labels "${no_sanitizer[@]}")"

note "tsan: threads"
count "build with the thread sanitizer" build_targets tsan thread_tests
suite build-tsan -L threads

note "aarch64: NEON"
lacks=$(tools/deps.sh aarch64 --missing)
if [ -n "$lacks" ]; then
    echo "skipped: aarch64: not installed:$lacks (tools/deps.sh aarch64 installs them)"
    skipped=$((skipped + 1))
else
    count "build for aarch64" build_targets aarch64 lightnet cpu_kernel_tests
    suite build-aarch64 -L "$(labels cpu_kernels)"
    count "same bytes of models on aarch64" tools/aarch64_test.sh build/lightnet build-aarch64/lightnet \
        models/shufflenet_v2_x0_5.net:150528 models/squeezenet1_1.net:150528
fi

if [ "${LN_LONG:-0}" = 1 ]; then
    note "fuzz: ${LN_FUZZ_SECONDS:=60} seconds a target"
    count "build of the fuzz targets" build_targets fuzz fuzz_targets
    found=$(mktemp -d)
    trap 'rm -rf "$locales" "$found"' EXIT
    # fuzz_one TARGET: runs it from its seeds; what it prints, and then its exit status, go to a file.
    fuzz_one() {
        local name
        name=$(basename "$1" _fuzz)
        mkdir "$found/$name.corpus"
        "$1" -max_total_time="$LN_FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
            -verbosity=0 "$found/$name.corpus" "tests/fuzz/$name" \
            >"$found/$name" 2>&1
        echo "exit status $?" >>"$found/$name"
        rm -rf "$found/$name.corpus"
    }
    # found_nothing NAME: shows what it printed, and whether it ended well.
    found_nothing() {
        cat "$found/$1"
        [ "$(tail -n 1 "$found/$1")" = "exit status 0" ]
    }
    export found LN_FUZZ_SECONDS
    export -f fuzz_one
    printf '%s\n' build-fuzz/fuzz/*_fuzz | xargs -P "$jobs" -I {} bash -c 'fuzz_one {}'
    for target in build-fuzz/fuzz/*_fuzz; do
        name=$(basename "$target" _fuzz)
        count "fuzz $name" found_nothing "$name"
    done
fi

note "leaves: the library without each"
leaves=$(mktemp -d) # one folder, so that each build makes only what its leaf changes
trap 'rm -rf "$locales" "${found:-}" "$leaves"' EXIT
for leaf in src/arch/*/ src/serial/*/ src/compat/*/; do
    leaf=${leaf#src/}
    leaf=${leaf%/}
    count "build without $leaf" tools/without.sh "$leaf" "$leaves"
done

note "package: installed and used from outside"
count "install and use" tools/package_test.sh
count "an arch added" tools/add_arch_test.sh
lacks=$(tools/deps.sh deb --missing)
if [ -n "$lacks" ]; then
    echo "skipped: Debian packages: not installed:$lacks (tools/deps.sh deb installs them)"
    skipped=$((skipped + 1))
else
    count "Debian packages" tools/deb.sh
    # In CI the packages' tests run where they are unpacked; a Debian of their own takes three minutes more.
    if [ "${LN_LONG:-0}" = 1 ]; then
        may_skip "packages in a bare Debian" tools/chroot_test.sh
    fi
fi

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
