#!/usr/bin/env bash
# Checks and measures on a GPU machine that has neither cargo nor Rust.
#
#   scripts/gpu.sh pack             builds tests, examples and benchmarks here and puts them, stripped, into carry/; with
#                                   LIBDEVICE=/path/to/libdevice.10.bc the accuracy of its functions is measured too
#   scripts/gpu.sh run [PART...]    runs what is in carry/, on the GPU machine; PART is tests, examples, bench, accuracy,
#                                   sanitize or checks (the tables of docs/checks.md), all of them if none is given
#
# Logs of tests and of compute-sanitizer are in $OUT, or in carry/log. The exit status is that of the first failure.
# NVRTC and compute-sanitizer are used where there are any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

examples=(vector_add saxpy dot matmul mandelbrot map_closure histogram heat inspect cuda_source formula pipeline devices panic)

# Test programs that run cargo, rustc or ptxas, or read the repository, and launch nothing.
without_launches='abort|cache|compile_fail|coverage|cuda_c_code|device_errors|instructions|ptx|ptx_warp|targets'

# Executables of cargo's JSON messages on standard input: "name path" a line.
executables() {
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["target"]["name"], message["executable"])'
}

# build_accuracy NAME LIBDEVICE: the program that measures the mathematical functions, with those of one library.
build_accuracy() {
    OXWARP_LIBDEVICE=$2 cargo build --release --bench accuracy --message-format=json | executables |
        while read -r _ path; do cp "$path" "carry/bench/accuracy_$1"; done
}

# The programs share most of their code, which a window over all of them finds: a tenth of the size.
pack() {
    rm -rf carry
    mkdir -p carry/test carry/example carry/bench
    CARGO_PROFILE_DEV_DEBUG=0 cargo test --workspace --exclude cargo-oxwarp --exclude cuda-loader \
        --exclude gpu-compiler --exclude gpu-macros --exclude gpu-sim --exclude gpu-std --exclude ptx-report \
        --tests --no-run --message-format=json | executables |
        while read -r name path; do
            [[ $name =~ ^($without_launches)$ ]] && continue
            [ ! -e "carry/test/$name" ] || { echo "two test programs are called $name" >&2; exit 1; }
            cp "$path" "carry/test/$name"
        done
    (cd tests/crates && cargo test --test crates --no-run --target-dir ../../target/crates --message-format=json) |
        executables | while read -r name path; do cp "$path" "carry/test/$name"; done
    cargo build --release --examples --message-format=json | executables | while read -r name path; do
        cp "$path" "carry/example/$name"
    done
    cargo build --release --benches --message-format=json | executables | while read -r name path; do
        case $name in cuda_c | first_launch | launch | memory) cp "$path" "carry/bench/$name" ;; esac
    done
    build_accuracy libm off
    if [[ -n ${LIBDEVICE:-} ]]; then
        build_accuracy libdevice "$LIBDEVICE"
    fi
    # Tests keep their symbols: without them the simulator interrupts no thread that spins.
    strip carry/example/* carry/bench/*
    strip --strip-debug carry/test/*
    tar -C carry -c test example bench | xz --lzma2=preset=6,dict=128MiB > carry.tar.xz
    rm -r carry/*
    mv carry.tar.xz carry/
    du -h carry/carry.tar.xz
}

unpack() {
    [ -d carry/test ] && return
    tar -C carry -xJf carry/carry.tar.xz || python3 -m tarfile -e carry/carry.tar.xz carry
}

# One line about one test program; its whole output is in the log.
test_program() {
    local program=$1 log=$log/$1 status=0
    timeout 300 "carry/test/$program" > "$log" 2>&1 || status=$?
    local failed
    failed=$(grep -E '^test .*FAILED|panicked at' "$log" || true)
    echo "test $program: $(grep '^test result:' "$log" || echo "ended with $status")${failed:+$'\n'$failed}"
    return $((status != 0))
}

tests() {
    ls carry/test | xargs -P 4 -I{} bash -c 'test_program {}'
}

examples() {
    local failed=0 name
    for name in "${examples[@]}"; do
        timeout 120 "carry/example/$name" || failed=1
    done
    return $failed
}

bench() {
    local failed=0
    carry/bench/launch || failed=1
    python3 benches/launch.py || true
    carry/bench/first_launch || failed=1
    carry/bench/memory || failed=1
    # The tables and the chart are with the logs.
    carry/bench/cuda_c --out "$log" || failed=1
    return $failed
}

# What becomes docs/accuracy.md is in accuracy.md.
accuracy() {
    local failed=0 name
    for name in libdevice libm; do
        : > "$log/$name.txt"
        if [ -x "carry/bench/accuracy_$name" ]; then
            "carry/bench/accuracy_$name" > "$log/$name.txt" || failed=1
        fi
    done
    carry/bench/accuracy_libm table "$log/libdevice.txt" "$log/libm.txt" | tee "$log/accuracy.md"
    return $failed
}

# Tests that launch nothing, but take time.
skipped=(ptxas_takes_it assembles)

# What a tool cannot judge, with the reason.
declare -A not_judged=(
    ["heap initcheck"]="a growing Vec copies its spare room, which nothing has written, as realloc does in C"
    ["core_library initcheck"]="sorting pairs of u8 and u16 copies their padding, which nothing has written"
    ["atomic_scopes initcheck"]="an atomic operation on 8 or 16 bits is one on the word around it, which may reach beyond the array"
    ["async_copy initcheck"]="a copy that fills up with zeros names 16 bytes and reads those that are there; the tool counts all"
    ["print initcheck"]="it takes minutes for the code that formats"
    ["print racecheck"]="it looks at shared memory, which text has none of, and takes minutes for the code that formats"
)

# One line about one test program under one tool, which follows the program into processes that it starts. Errors of the
# driver's calls are results that tests look at.
sanitize_program() {
    local program=$1 tool=$2 log=$log/$1.$2 status=0 start=$SECONDS what=ok found
    timeout 120 compute-sanitizer --tool "$tool" --target-processes all --report-api-errors no --error-exitcode 9 \
        --log-file "$log.%p" "carry/test/$program" --test-threads 2 $skips > "$log" 2>&1 || status=$?
    found=$(cat "$log" "$log".* | grep -E 'SUMMARY: [1-9]|^test .*FAILED|not supported' | head -n 3 | tr '\n' ' ' || true)
    if cat "$log" "$log".* | grep -q 'terminated before first instrumented API call'; then
        status=0 what="ok, nothing was launched"
    elif cat "$log" "$log".* | grep -q 'Internal Sanitizer Error'; then
        # It counts its own error as a finding.
        status=0 what="not judged: $(cat "$log" "$log".* | grep -m 1 'Internal Sanitizer Error')"
    elif [ "$status" != 0 ] || [ -n "$found" ]; then
        what="FAILED with $status: $found" status=1
    fi
    echo "sanitize $program $tool: $what ($((SECONDS - start)) s)"
    return $((status != 0))
}

sanitize() {
    if ! command -v compute-sanitizer > /dev/null; then
        echo "there is no compute-sanitizer on this machine"
        return
    fi
    local program tool
    for program in "${!not_judged[@]}"; do
        echo "sanitize $program: left out: ${not_judged[$program]}"
    done
    for tool in racecheck initcheck memcheck synccheck; do
        for program in $(ls carry/test); do
            [ -n "${not_judged["$program $tool"]:-}" ] || echo "$program $tool"
        done
    done | xargs -P 8 -L 1 bash -c 'sanitize_program "$@"' _
}

# docs/checks.md with what each tool finds, which is in checks.md.
checks() {
    if ! command -v compute-sanitizer > /dev/null; then
        echo "there is no compute-sanitizer on this machine"
        return
    fi
    python3 scripts/checks.py carry/test/checks "$log"
}

run() {
    local parts=("$@") part failed=0
    [ ${#parts[@]} -gt 0 ] || parts=(tests examples bench accuracy sanitize checks)
    export OXWARP_DEVICE=${OXWARP_DEVICE:-cuda} log=${OUT:-carry/log}
    export skips=${skipped[*]/#/--skip }
    export -f test_program sanitize_program
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    date -u +%F
    unpack
    mkdir -p "$log"
    for part in "${parts[@]}"; do
        local start=$SECONDS
        echo "=== $part"
        "$part" || failed=1
        echo "=== $part: $((SECONDS - start)) s"
    done
    return $failed
}

usage() {
    echo "usage: scripts/gpu.sh pack | run [tests] [examples] [bench] [accuracy] [sanitize] [checks]" >&2
    exit 2
}

action=${1:-}
shift || true
case $action in
pack) pack ;;
run)
    for part in "$@"; do
        case $part in tests | examples | bench | accuracy | sanitize | checks) ;; *) usage ;; esac
    done
    run "$@"
    ;;
*) usage ;;
esac
