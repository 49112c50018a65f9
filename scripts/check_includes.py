#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the layers of docs/architecture.md: which folder may include which. Names file, line and the forbidden folder.

check_includes.py [ROOT]; exit 0 where all is well, 1 where an include goes the wrong way.
"""
import pathlib
import re
import sys

CORE = ["base", "sys", "sandbox", "wire"]
ENGINES = ["policy", "workspace", "tasks", "llm", "skills", "toolbox", "scoring", "store", "report"]
# Folder of src/ -> folders of src/ that it may include besides itself. include/kagent is open to all.
LAYERS = {
    "base": [],
    "sys": ["base"],
    "sandbox": ["base", "sys"],
    "wire": ["base", "sys"],
    **{engine: CORE for engine in ENGINES},
    # One evaluation is plan check, trials and score in one go: it stands on these two pure engines.
    "evaluator": CORE + ["policy", "scoring"],
    # Results of many tasks are summed up under each rule set, which scoring knows.
    "batch": CORE + ["scoring", "tasks", "store", "report"],
    # Documents about what runs and batches left on disk.
    "review": CORE + ["scoring", "store", "report", "batch"],
    "agent": CORE + ENGINES + ["evaluator"],
    "exchange": CORE + ["store", "agent", "report"],
    # Worker side.
    "builder": CORE,
    "plan": CORE,
    "cpu": CORE + ["plan"],
    "gpu": CORE + ["plan"],
    "reference": CORE + ["plan", "gpu"],
}
WORKERS = ["builder", "plan", "cpu", "gpu", "reference"]
# Program -> what it may include. kagent links neither torch nor CUDA; workers hold none of the core's engines.
PROGRAMS = {
    "kagent": CORE + ENGINES + ["evaluator", "agent", "batch", "review", "exchange"],
    "kagent-sandbox": ["base", "sys", "sandbox"],
    "kagent-recorder": ["sandbox"],
    "kagent-builder": CORE + ["builder"],
    "kagent-runner": CORE + ["plan", "cpu", "gpu"],
    "kagent-reference": CORE + ["plan", "gpu", "reference"],
}
# Headers that belong to one side only: pattern -> folders of src/ and tools/ that may name them.
FOREIGN = {
    r"(torch|ATen|c10|pybind11)/": WORKERS + ["kagent-runner", "kagent-reference", "kagent-builder"],
    r"(cuda|nvrtc|cupti|nvJitLink)[A-Za-z_]*\.h": WORKERS + ["kagent-runner", "kagent-reference", "kagent-builder"],
    r"curl/": ["llm"],
    r"CLI/": ["kagent"],
}
STANDARD_ONLY = re.compile(r"^(kagent/[a-z_]+\.h|[a-z_]+)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == '"', match[2]


def check_file(path, shown, folder, allowed):
    for number, quoted, name in includes(path):
        top = name.split("/")[0]
        if quoted and "/" in name and top in LAYERS and top != folder and top not in allowed:
            yield f"{shown}:{number}: {folder} must not include {top}/ ({name})"
        if quoted and name.startswith(".."):
            yield f"{shown}:{number}: includes are written from src/, not with .. ({name})"
        for pattern, owners in FOREIGN.items():
            if re.match(pattern, name) and folder not in owners:
                yield f"{shown}:{number}: {folder} must not include {name}"


def check_contracts(root):
    for path in sorted((root / "include").rglob("*.h")):
        for number, _, name in includes(path):
            if not STANDARD_ONLY.match(name):
                yield f"{path.relative_to(root)}:{number}: contracts use the standard library only ({name})"


def check(root):
    yield from check_contracts(root)
    for parent, table in (("src", LAYERS), ("tools", PROGRAMS)):
        for folder in sorted(path for path in (root / parent).iterdir() if path.is_dir()):
            sources = [path for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".cpp")]
            if sources and folder.name not in table:
                yield f"{parent}/{folder.name}: not in the table of scripts/check_includes.py; say what it may include"
                continue
            for path in sources:
                yield from check_file(path, path.relative_to(root), folder.name, table[folder.name])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    complaints = list(check(root))
    for complaint in complaints:
        print(complaint)
    print(f"layers: {len(complaints)} includes go the wrong way" if complaints else "layers: all includes go one way")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
