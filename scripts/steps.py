#!/usr/bin/env python3
"""What each of the compiler's own optimisations is worth: the kernels of benches/cuda_c without it.

    scripts/steps.py [STEP...]     all if none is given; needs tools/ptxas (scripts/install-ptxas.sh), and no GPU

Builds the benchmark once for each step, without that step, and writes the differences of what its `--code` says into the table
of docs/optimisations.md.
"""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCS = os.path.join(ROOT, "docs", "optimisations.md")
BUILD = ["cargo", "build", "--offline", "--quiet", "--release", "--bench", "cuda_c", "--message-format=json"]
# The row of a step, up to what is measured.
ROW = re.compile(r"^(\| `?(\w+)`? \| [^|]* \| [^|]* \|)( .* \|)$")


def code(skipped):
    """What each kernel has without some steps: instructions, checks in loops, those in slow copies, registers, spills."""
    environment = {**os.environ, "OXWARP_SKIP": skipped}
    messages = subprocess.run(BUILD, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True).stdout
    built = [json.loads(line) for line in messages.splitlines()]
    [program] = [message["executable"] for message in built if message.get("executable")]
    table = subprocess.run([program, "--code"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {kernel: [int(number) for number in numbers] for _, kernel, *numbers in rows[2:]}


def difference(whole, without):
    """The cells of a step's row."""
    changed = sum(whole[kernel] != without[kernel] for kernel in whole)
    instructions, in_loops, _, registers, spills = (
        sum(without[kernel][column] - whole[kernel][column] for kernel in whole) for column in range(5)
    )
    return f" {changed} | {instructions:+} | {registers:+} | {spills:+} | {in_loops:+} |"


def write(cells):
    """Puts the cells of the steps that are known into the document."""
    with open(DOCS) as file:
        lines = file.read().splitlines()
    for place, line in enumerate(lines):
        row = ROW.match(line)
        if row and row[2] in cells:
            lines[place] = row[1] + cells[row[2]]
    with open(DOCS, "w") as file:
        file.write("\n".join(lines) + "\n")


def steps():
    with open(DOCS) as file:
        rows = [ROW.match(line) for line in file.read().splitlines()]
    return [row[2] for row in rows if row and row[2] != "step"]


def main():
    whole = code("")
    for step in sys.argv[1:] or steps():
        cells = difference(whole, code(step))
        print(f"{step}:{cells}", flush=True)
        write({step: cells})


main()
