#!/usr/bin/env python3
"""Finds words that have no place in the sources: the real clock, sleeping, loops without an owner, other machines' paths.

    tools/check_source.py [ROOT]

Prints each line that breaks a rule, and fails if there is one. A line that must break one carries `// allowed: REASON`.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

CPP = {".h", ".cpp"}


@dataclass(frozen=True)
class Rule:
    pattern: re.Pattern
    reason: str
    inside: tuple[str, ...]  # where it holds; "" is everywhere
    outside: tuple[str, ...]  # except here
    of_cpp: bool  # only C++ files, and in those neither comments nor strings


def rule(pattern: str, reason: str, inside=("",), outside=(), of_cpp=True) -> Rule:
    return Rule(re.compile(pattern), reason, tuple(inside), tuple(outside), of_cpp)


REAL_TIME = ("src/runtime/system_clock", "src/server/", "src/lab/")
RULES = [
    rule(r"\b(system|steady|high_resolution)_clock::now\b|\bgettimeofday\b|\bclock_gettime\b|[^\w.>]time\(nullptr\)",
         "time comes from the injected Clock, so that it can be virtual", ["src/"], REAL_TIME),
    rule(r"\bthis_thread::sleep_|\bu?sleep\(|\bnanosleep\b", "no sleeps; wait for the condition itself, with a deadline",
         ["src/", "tests/", "bench/"]),
    rule(r"\brandom_device\b|\bs?rand\(\)", "randomness is injected (base/random.h)", ["src/"],
         ("src/base/random",) + REAL_TIME),
    rule(r"\bdetached\b", "a TaskScope owns every loop", ["src/", "tests/", "bench/"]),
    rule(r"^\s*(//|#)\s*(-{4,}|={4,}|\*{4,}|/{4,}|#{4,})", "no banners", ["src/", "tests/", "bench/", "cmake/", "tools/"],
         of_cpp=False),
    rule(r"(^|[\s\"'=(:])/(work|home|root|Users)/", "a path of one machine", of_cpp=False),
    rule(r"\"resolved\"\s*:|\bregistry\.[a-z]|\bpkg\.dev\b|\bproxy\.golang\b|\bfiles\.pythonhosted\b",
         "a package registry; the machine's own configuration says where packages come from", of_cpp=False),
]
SKIPPED = {".git", "build", "data", "node_modules", "corpus", "__pycache__"}
THIS = ("tools/check_source.py", "tools/tests/")


def text_files(root: Path):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if SKIPPED.isdisjoint(name.parts) and path.is_file() and not str(name).startswith(THIS):
            try:
                yield str(name), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                pass  # not text


def without_strings_and_comment(line: str) -> str:
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def check_file(name: str, text: str) -> list[str]:
    rules = [r for r in RULES if name.startswith(r.inside) and not (r.outside and name.startswith(r.outside))
             and (Path(name).suffix in CPP or not r.of_cpp)]
    wrong = []
    for number, line in enumerate(text.splitlines(), 1):
        if "// allowed: " in line:
            continue
        code = without_strings_and_comment(line)
        for r in rules:
            if r.pattern.search(code if r.of_cpp else line):
                wrong.append(f"{name}:{number}: {r.reason}: {line.strip()[:100]}")
    return wrong


def check(root: Path) -> list[str]:
    return [line for name, text in text_files(root) for line in check_file(name, text)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    wrong = check(root)
    print("\n".join(wrong) if wrong else "The sources follow the rules.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
