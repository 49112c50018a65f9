# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/candidates.md as files."""
import os
import re

_PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "candidates.md")


def documented_example(kind):
    """kind: "cuda" or "cpp", the language of the kernel. File name -> text, as the first line of each block names it."""
    with open(_PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```(\w+)\n(.*?)```", file.read(), re.S)
    index = [language for language, _ in blocks].index(kind)
    return {re.match(r"(?:#|//) (\S+)\n", text).group(1): text for _, text in blocks[index - 1:index + 1]}
