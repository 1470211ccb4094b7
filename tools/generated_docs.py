#!/usr/bin/env python3
"""Checks that the generated documents and the list of error codes match the program.

    tools/generated_docs.py [--write]

Runs `sluice` from $SLUICE_BIN. With --write it brings commands.md, configuration.md and metrics.md in docs/
up to date.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = re.compile(r'(?:\{\s*(?:\.status = )?[45]\d\d,\s*(?:\.code = )?|\.code = )"([a-z]+(?:-[a-z]+)*)"')

GENERATED = {
    "commands.md": (
        ["commands", "docs"],
        "# Commands\n\n"
        "Every command explains itself with `--help`. The exit code is 0 (done), 1 (failed) or 2 (wrong flags or\n"
        "configuration). Written by `./dev docs`.\n\n",
    ),
    "configuration.md": (
        ["config", "docs"],
        "# Configuration\n\n"
        "`sluice.toml`; every value has a default. A flag beats `SLUICE_SECTION_KEY`, which beats the file. Durations are\n"
        "written `\"250ms\"`, `\"10s\"`, `\"5m\"`, `\"30d\"`, sizes `\"64MiB\"`. Secrets come from the environment or from a\n"
        "file named by `KEY_file`, never from the file itself. Written by `./dev docs`.\n\n",
    ),
    "metrics.md": (
        ["metrics", "docs"],
        "# Metrics\n\nServed at `/metrics` in Prometheus' text format. Written by `./dev docs`.\n\n",
    ),
}


def generated(name):
    command, head = GENERATED[name]
    sluice = pathlib.Path(os.environ.get("SLUICE_BIN", ROOT / "build/release/bin")) / "sluice"
    done = subprocess.run([sluice, *command], check=True, capture_output=True, text=True, timeout=60)
    return head + done.stdout


def error_codes():
    codes = set()
    for source in sorted((ROOT / "src").rglob("*.cpp")):
        if not source.name.endswith("_test.cpp"):
            codes.update(CODE.findall(source.read_text()))
    return codes


def main():
    wrong = []
    for name in GENERATED:
        file = ROOT / "docs" / name
        text = generated(name)
        if "--write" in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(f"docs/{name} is out of date; run ./dev docs")
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/errors.md").read_text(), re.M))
    wrong += [f"docs/errors.md lacks the code {code}" for code in sorted(error_codes() - listed)]
    wrong += [f"docs/errors.md lists {code}, which no source has" for code in sorted(listed - error_codes())]
    print("\n".join(wrong) or "The generated documents are up to date.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
