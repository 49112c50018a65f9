#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each recorded conversation under tasks/ must lead through every kind of outcome and end with the shipped candidate.

Plays write_file and edit_file on a copy in memory; prints what does not fit, exit 1.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUTCOMES = ["build_failed", "mismatch", "slower", "success"]


def play(path):
    """The workspace after the last reply, and the outcomes that the evaluate calls are recorded with."""
    files, outcomes = {}, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for call in json.loads(line).get("calls", []):
            given = call["arguments"]
            if call["tool"] == "write_file":
                files[given["path"]] = given["text"]
            elif call["tool"] == "edit_file":
                count = files[given["path"]].count(given["old"])
                if count != 1:
                    raise ValueError(f"{path.name}:{number}: the text to replace stands {count} times")
                files[given["path"]] = files[given["path"]].replace(given["old"], given["new"])
            elif call["tool"] == "evaluate":
                outcomes.append(call["expect"])
    return files, outcomes


def complaints():
    for task in sorted((ROOT / "tasks").glob("*.py")):
        for backend in ("cuda", "cpu"):
            path = ROOT / "tasks" / "conversations" / f"{task.stem}-{backend}.jsonl"
            if not path.exists():
                yield f"{path.relative_to(ROOT)} is missing"
                continue
            files, outcomes = play(path)
            if outcomes != OUTCOMES:
                yield f"{path.name}: outcomes {outcomes}, not {OUTCOMES}"
            shipped = ROOT / "tasks" / "candidates" / task.stem / backend
            there = {str(file.relative_to(shipped)) for file in shipped.rglob("*") if file.is_file()}
            if there != set(files):
                yield f"{path.name}: ends with {sorted(files)}, shipped are {sorted(there)}"
                continue
            for name, text in files.items():
                if (shipped / name).read_text(encoding="utf-8") != text:
                    yield f"{path.name}: ends with another {name} than {shipped.relative_to(ROOT)} holds"


def main():
    found = list(complaints())
    for complaint in found:
        print(complaint)
    print(f"conversations: {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
