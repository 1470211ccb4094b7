#!/usr/bin/env python3
"""Which tests need not run again, because nothing they run has changed since they passed.

    tools/unchanged_tests.py look BUILD      before ctest: notes what every test consists of
    tools/unchanged_tests.py skip BUILD      prints a regular expression of their names for ctest -E; nothing if there are none
    tools/unchanged_tests.py keep BUILD      after ctest: remembers those that passed, and forgets those that failed
    tools/unchanged_tests.py forget BUILD    after ctest: only forgets, because those that passed did not run as they usually do

A test is its own program and, unless it is a unit or contract test, every other program of the build that is not a test
and what lies in deploy/. Tests that a script runs, fuzzing among them, consist of more than can be told: they are quick,
and always run. One that left something out for want of an engine has not passed: it may be there the next time.
"""
import json
import pathlib
import re
import subprocess
import sys

ALONE = {"unit", "contract"}
DEPLOY = pathlib.Path(__file__).resolve().parent.parent / "deploy"


def tests(build):
    """Names of tests that are programs, with their labels."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    found = {}
    for test in json.loads(listed.stdout)["tests"]:
        program = test.get("command", [""])[0]
        if pathlib.Path(program).resolve() != (build / "bin" / test["name"]).resolve():
            continue
        labels = [value for item in test.get("properties", []) if item["name"] == "LABELS" for value in item["value"]]
        found[test["name"]] = set(labels)
    return found


def stamp(file):
    state = file.stat()
    return f"{file.name} {state.st_size} {state.st_mtime_ns}"


def stamps(build):
    """What each test consists of now."""
    programs = tests(build)
    others = [one for one in (build / "bin").iterdir() if one.is_file() and one.name not in programs]
    others = sorted(stamp(one) for one in others + [file for file in DEPLOY.rglob("*") if file.is_file()])
    return {
        name: [stamp(build / "bin" / name)] + ([] if labels & ALONE else others)
        for name, labels in programs.items()
    }


def verdicts(log):
    """What ctest says of each test that it ran."""
    for block in re.split(r"^\d+/\d+ Testing: ", log, flags=re.MULTILINE)[1:]:
        name = block.split("\n", 1)[0]
        passed = re.search(r"^Test Passed\.$", block, re.MULTILINE) and "*** NOT TESTED ***" not in block
        yield name, bool(passed)


def load(file):
    return json.loads(file.read_text()) if file.exists() else {}


def main():
    command, build = sys.argv[1], pathlib.Path(sys.argv[2])
    memory, seen, log = build / "passed.json", build / "seen.json", build / "Testing/Temporary/LastTest.log"
    if command == "look":
        log.unlink(missing_ok=True)  # of a run before; where there is nothing to run ctest leaves it
        seen.write_text(json.dumps(stamps(build), indent=1))
        return
    passed, now = load(memory), load(seen)
    if command == "skip":
        unchanged = sorted(name for name in now if passed.get(name) == now[name])
        if unchanged:
            print("^(" + "|".join(unchanged) + ")$")
        return
    for name, good in verdicts(log.read_text(errors="replace") if log.exists() else ""):
        if not good:
            passed.pop(name, None)
        elif command == "keep" and name in now:
            passed[name] = now[name]
    memory.write_text(json.dumps(passed, indent=1))


if __name__ == "__main__":
    main()
