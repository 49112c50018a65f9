#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quickstart_figures.py LOG RUNS: what scripts/quickstart printed is what its only run folder under RUNS holds.

Its first and last line must say that a recording plays the model and, on the CPU backend, that figures say nothing
about a GPU; every figure of the score table must equal result.json's, printed the same way.
"""
import json
import pathlib
import re
import sys


def duration(microseconds):
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f} s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f} ms"
    return f"{microseconds:.2f} us"


def row_of(text, name):
    """The last table's row: the figures printed behind `name`."""
    rows = re.findall(rf"^  {re.escape(name)} +(\S+ \S+) +(\S+ \S+) \.\. (\S+ \S+)(.*)$", text, re.MULTILINE)
    return rows[-1] if rows else None


def differences(text, result):
    lines = text.strip().splitlines()
    for which, line in (("first", lines[0]), ("last", lines[-1])):
        if "recorded conversation" not in line:
            yield f"the {which} line does not say that a recorded conversation plays the model: {line}"
        if result["backend"] == "cpu" and "nothing about a GPU" not in line:
            yield f"the {which} line does not say what CPU figures are worth: {line}"
    if not re.search(rf"^{re.escape(result['outcome'])}: ", text, re.MULTILINE):
        yield f"the outcome {result['outcome']} is not printed"
    if result["best"] is None:
        yield "result.json holds no correct candidate"
        return
    times = result["best"]["evaluation"]["measurement"]
    for name, arm, speedup in (("candidate", "candidate", None), ("eager", "eager", "over_eager"),
                               ("torch.compile", "compiled", "over_compiled")):
        printed = row_of(text, name)
        if printed is None:
            yield f"the table has no row {name}"
            continue
        expected = tuple(duration(times[arm][figure]) for figure in ("median_us", "low_us", "high_us"))
        if printed[:3] != expected:
            yield f"{name}: printed {printed[:3]}, result.json has {expected}"
        if speedup and f"{times[speedup]['point']:.3f}x" not in printed[3]:
            yield f"{name}: {printed[3].strip()} printed, result.json has {times[speedup]['point']:.3f}x"


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    results = list(pathlib.Path(sys.argv[2]).glob("*/result.json"))
    if len(results) != 1:
        sys.exit(f"{sys.argv[2]} holds {len(results)} runs with a result.json, not one")
    found = list(differences(text, json.loads(results[0].read_text(encoding="utf-8"))))
    for difference in found:
        print(difference)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
