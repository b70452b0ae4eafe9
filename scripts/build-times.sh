#!/usr/bin/env bash
# How long builds take of a crate with 26 kernels (build-times.rs): the first, those after a change to the body of one kernel,
# and one after no change; in release and debug. Seconds of `cargo build`, and what the device pass compiled or took from its
# cache.
#
#   scripts/build-times.sh [CHANGES]    so many changes; default: 5
#
# The crate is in a temporary folder, and its dependencies, which are not counted, are built there first.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat > "$folder/Cargo.toml" << CRATE
[package]
name = "kernels"
version = "0.0.0"
edition = "2024"

[dependencies]
oxwarp = { path = "$here/.." }
CRATE
cp "$here/../Cargo.lock" "$folder"
export CARGO_TARGET_DIR=$folder/target OXWARP_VERBOSE=1
# For the toolchain and the configuration there.
cd "$here/.."

# build WHAT PROFILE: one line about one build.
build() {
    local start=$EPOCHREALTIME said seconds kernels=""
    said=$(cargo build --profile "$2" --manifest-path "$folder/Cargo.toml" 2>&1) || { echo "$said" >&2; exit 1; }
    seconds=$(bc <<< "$EPOCHREALTIME - $start")
    # Cargo repeats what was said by a build that it does not do again.
    [[ $said != *"Compiling kernels"* ]] || kernels=$(grep '^oxwarp:' <<< "$said" || true)
    printf '%-7s %-12s %6.2f s  %s\n' "$2" "$1" "$seconds" "$kernels"
}

for profile in release dev; do
    echo 'fn main() {}' > "$folder/src/main.rs"
    build dependencies "$profile" > /dev/null
    sed 's/x\[\*i\] \* 1.0/x[*i] * 0.5/' "$here/build-times.rs" > "$folder/src/main.rs"
    build "all kernels" "$profile"
    for ((number = 1; number <= ${1:-5}; number++)); do
        sed "s/x\[\*i\] \* 1.0/x[*i] * $number.25/" "$here/build-times.rs" > "$folder/src/main.rs"
        build "one changed" "$profile"
    done
    build "none changed" "$profile"
done
