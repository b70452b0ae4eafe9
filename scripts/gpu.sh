#!/usr/bin/env bash
# Checks and measures on a GPU machine that has neither cargo nor Rust.
#
#   scripts/gpu.sh pack    builds tests, examples and benchmarks here and puts them, stripped, into carry/
#   scripts/gpu.sh run     runs what is in carry/, on the GPU machine; NVRTC and compute-sanitizer are used if found
#
# The first failure is the exit status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

examples=(vector_add saxpy dot matmul mandelbrot map_closure histogram panic)

# Executables of cargo's JSON messages on standard input: "name path" a line.
executables() {
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["target"]["name"], message["executable"])'
}

pack() {
    rm -rf carry
    mkdir -p carry/test carry/example carry/bench
    CARGO_PROFILE_DEV_DEBUG=0 cargo test -p oxwarp -p host-runtime -p gpu-kernels \
        -p launches-only -p launches-only-unregistered -p newer-targets --tests --no-run \
        --message-format=json | executables | while read -r name path; do
        # These run cargo, rustc or ptxas, and launch nothing.
        case $name in compile_fail | cuda_c_code | device_errors | ptx | ptx_warp) continue ;; esac
        cp "$path" "carry/test/$name"
    done
    cargo build --release --examples --message-format=json | executables | while read -r name path; do
        cp "$path" "carry/example/$name"
    done
    cargo build --release --benches --message-format=json | executables | while read -r name path; do
        case $name in cuda_c | launch) cp "$path" "carry/bench/$name" ;; esac
    done
    strip carry/*/*
    du -sh carry
}

run() {
    export OXWARP_DEVICE=cuda
    local failed=0 name
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    date -u +%F
    cd carry
    for name in test/*; do
        echo "=== $name"
        timeout 300 "./$name" > log 2>&1 || failed=1
        grep -E "FAILED|panicked|^test result" log || tail -n 5 log
    done
    for name in "${examples[@]}"; do
        timeout 120 "./example/$name" || failed=1
    done
    ./bench/launch || failed=1
    # The tables and the chart stay here.
    ./bench/cuda_c --out . || failed=1
    if command -v compute-sanitizer > /dev/null; then
        for name in "${examples[@]}"; do
            echo "=== compute-sanitizer $name"
            compute-sanitizer --error-exitcode 1 "./example/$name" | tail -n 1 || failed=1
        done
    fi
    return $failed
}

case ${1:-} in
pack | run) "$1" ;;
*)
    echo "usage: scripts/gpu.sh pack|run" >&2
    exit 2
    ;;
esac
