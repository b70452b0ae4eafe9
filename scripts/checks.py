#!/usr/bin/env python3
"""Who finds what: the kernels of tests/checks on a GPU under each tool of compute-sanitizer.

    scripts/checks.py PROGRAM FOLDER     PROGRAM is the test program `checks`

docs/checks.md with the tools' columns in its tables is FOLDER/checks.md, written anew after each run, so that a run that is cut
off leaves what it knows; `?` stands for what was not judged yet. What the tools say is in FOLDER/checks.log.

The kernels that are right share one process for each tool, unless something is found in it. Each mistake has a process of its own,
since a finding is one of the whole process; so has each kernel that spins. Those that never end on a GPU are not run.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from queue import Queue

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# As many as the H200's host has cores. Each run is mostly the start of CUDA and of the tool.
AT_ONCE = 16
# Far more than a run takes: one that is ended by it spins.
SECONDS = 25
DOCS = os.path.join(os.path.dirname(__file__), "..", "docs", "checks.md")


class Checks:
    """The runs and what is known so far: a word for each kernel and tool."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.known = {}
        self.to_judge = Queue()
        self.lock = threading.Lock()
        self.log = open(os.path.join(folder, "checks.log"), "w", errors="replace")

    def run(self, cases, *under):
        """Runs the cases, and gives their output and exit status: none where it had to be ended."""
        environment = {**os.environ, "OXWARP_CHECK_CASE": ",".join(cases)}
        command = [*under, self.program, "--exact", "one_case", "--nocapture"]
        with tempfile.TemporaryFile("w+", errors="replace") as written:
            # A session of its own: the tool's children end with it, and with them what spins on the GPU.
            process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=written, stderr=written)
            try:
                status = process.wait(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = None
            written.seek(0)
            output = written.read()
        with self.lock:
            self.log.write(f"=== {' '.join(command[:3])} {','.join(cases)}: {status}\n{output}\n")
            self.log.flush()
        return output, status

    def list(self):
        """Each case's name, whether it `Ends`, `Spins` or is `Endless` on a GPU, and whether it is right."""
        output, _ = self.run(["list"])
        rows = re.findall(r"^case (\S+) (\S+) (\S+)", output, re.MULTILINE)
        return [(name, on_gpu, finder == "nothing") for name, on_gpu, finder in rows]

    def judge(self, tool, cases):
        """Enters a word for each of the cases, which share a process as long as nothing is found."""
        # The tool has ten ports by itself.
        output, status = self.run(cases, "compute-sanitizer", "--tool", tool, "--report-api-errors", "no",
                                  "--show-backtrace", "no", "--max-connections", "100", "--error-exitcode", "9")
        found = re.search(r"SUMMARY: [1-9]", output)
        if len(cases) > 1 and (found or status != 0):
            for case in cases:
                self.to_judge.put((tool, [case]))
            return
        word = "does not end" if status is None else "found" if found else f"fails ({status})" if status else "–"
        with self.lock:
            self.known.update({(case, tool): word for case in cases})
            self.write()

    def judge_what_waits(self):
        while True:
            try:
                self.judge(*self.to_judge.get())
            finally:
                self.to_judge.task_done()

    def write(self):
        with open(DOCS) as docs, open(os.path.join(self.folder, "checks.md"), "w") as written:
            written.writelines(with_columns(docs, self.known))


def with_columns(lines, known):
    """The lines of docs/checks.md; those of the tables of kernels with the tools' columns, in place of what they have."""
    kernel = None
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| "):
            kernel = None
        elif "kernel" in cells:
            kernel, width = cells.index("kernel"), cells.index("the simulator's check") + 1
            columns = TOOLS
        elif kernel is not None:
            name = cells[kernel].strip("`")
            columns = [name if name == "---" else known.get((name, tool), "?") for tool in TOOLS]
        yield line if kernel is None else f"| {' | '.join(cells[:width] + columns)} |\n"


def main():
    checks = Checks(*sys.argv[1:])
    cases = checks.list()
    together = [name for name, on_gpu, is_right in cases if is_right and on_gpu == "Ends"]
    alone = [name for name, on_gpu, _ in cases if on_gpu != "Endless" and name not in together]
    # Those that may last start first.
    alone.sort(key={name: on_gpu != "Spins" for name, on_gpu, _ in cases}.get)
    checks.known = {(name, tool): "not run" for name, on_gpu, _ in cases if on_gpu == "Endless" for tool in TOOLS}
    for names in [together] + [[name] for name in alone]:
        for tool in TOOLS:
            checks.to_judge.put((tool, names))
    for _ in range(AT_ONCE):
        threading.Thread(target=checks.judge_what_waits, daemon=True).start()
    checks.to_judge.join()
    for name, _, is_right in cases:
        print("right" if is_right else "wrong", f"{name}:", *(checks.known.get((name, tool), "?") for tool in TOOLS))


main()
