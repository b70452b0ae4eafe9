#!/usr/bin/env bash
# Installs ptxas, the assembler of PTX, from NVIDIA's Python package into tools/, where the tests look for it. It needs
# python3 with pip, and neither a GPU nor a CUDA toolkit.
set -euo pipefail

version=${PTXAS_VERSION:-13.0.88}
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/tools
ptxas=$tools/ptxas

if [[ -x $ptxas ]] && "$ptxas" --version | grep -q "V${version//./\\.}"; then
    echo "ptxas $version is in $tools"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$tools"
if python3 -m pip --version >/dev/null 2>&1; then
    pip=(python3 -m pip)
else
    python3 -m venv "$scratch/venv"
    pip=("$scratch/venv/bin/pip")
fi
"${pip[@]}" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$scratch" "nvidia-cuda-nvcc==$version"
python3 - "$scratch" "$ptxas" <<'PYTHON'
import glob, os, shutil, sys, zipfile

scratch, ptxas = sys.argv[1:]
(wheel,) = glob.glob(os.path.join(scratch, "*.whl"))
with zipfile.ZipFile(wheel) as archive:
    (member,) = [name for name in archive.namelist() if name.endswith("/bin/ptxas")]
    with archive.open(member) as source, open(ptxas + ".new", "wb") as target:
        shutil.copyfileobj(source, target)
os.chmod(ptxas + ".new", 0o755)
os.replace(ptxas + ".new", ptxas)
PYTHON
"$ptxas" --version | tail -n 2
echo "ptxas is in $tools"
