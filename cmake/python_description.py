# SPDX-License-Identifier: Apache-2.0
"""python_description.py COMPILER: prints python.json: the interpreter, the C++ compiler that it was built with (inductor and
the CPU backend call it), and the folders outside /usr that both need."""
import json
import os
import sys

compiler = os.path.realpath(sys.argv[1])
folders = []
site = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
for prefix in (sys.prefix, sys.base_prefix, *site, os.path.dirname(os.path.dirname(compiler))):
    prefix = os.path.abspath(prefix)
    inside = any(prefix == other or prefix.startswith(other + "/") for other in ("/usr", *folders))
    if not inside and os.path.isdir(prefix) and prefix != "/":
        folders.append(prefix)
print(json.dumps({"python": os.path.abspath(sys.executable), "compiler": compiler, "mounts": folders}, indent=1))
