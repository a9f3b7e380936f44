#!/usr/bin/env python3
"""Checks that the documentation says what is there: the README's program is the example that the build compiles, and links between
documents lead to files."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def code_blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def check_example():
    example = (ROOT / "examples/train_fashion_mnist.cpp").read_text()
    if example not in code_blocks((ROOT / "README.md").read_text(), "cpp"):
        yield "README.md: the program differs from examples/train_fashion_mnist.cpp"


def check_links():
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            if not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: {target} is not there"


problems = [*check_example(), *check_links()]
print("\n".join(problems))
sys.exit(bool(problems))
