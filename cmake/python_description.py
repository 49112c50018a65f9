# SPDX-License-Identifier: Apache-2.0
"""Prints python.json: the interpreter and its folders outside /usr."""
import json
import os
import sys

folders = []
for prefix in (sys.prefix, sys.base_prefix, *(p for p in sys.path if p.endswith(("site-packages", "dist-packages")))):
    prefix = os.path.abspath(prefix)
    inside = any(prefix == other or prefix.startswith(other + "/") for other in ("/usr", *folders))
    if not inside and os.path.isdir(prefix):
        folders.append(prefix)
print(json.dumps({"python": os.path.abspath(sys.executable), "mounts": folders}, indent=1))
