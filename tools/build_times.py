#!/usr/bin/env python3
"""The slowest steps of a build, and where the slowest files spend their time.

    tools/build_times.py BUILD [--count N] [--trace N]

The list comes from ninja's log: the last time that each step ran, which is short for a file that the compiler cache had.
The N slowest files (5 unless told) are then compiled once more, without the cache and with -ftime-trace.
"""
import argparse
import collections
import json
import os
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile

PARTS = {"ExecuteCompiler": "all", "Frontend": "front end", "Source": "headers", "Backend": "back end"}
DETAILS = {"Source": "header", "InstantiateFunction": "template", "InstantiateClass": "template", "OptFunction": "optimize"}


def steps(build):
    """Seconds of each output by the last step that made it; a step with several outputs counts once."""
    found = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, command = line.split("\t")
        found[output] = ((int(end) - int(start)) / 1000, start, command)
    seen, times = set(), []
    for output, (seconds, start, command) in found.items():
        if (start, command) not in seen and (build / output).exists():
            seen.add((start, command))
            times.append((seconds, output))
    return sorted(times, reverse=True)


def commands(build):
    """How each object file is compiled: the source, the folder to do it in, the arguments without the cache."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1]
        compiler = next(i for i, word in enumerate(words) if "clang" in pathlib.Path(word).name)
        found[output] = (entry["file"], entry["directory"], words[compiler:])
    return found


def trace(directory, words):
    """The CPU seconds of one compilation, and the events of its time trace."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "traced.o"
        words = list(words)
        words[words.index("-o") + 1] = str(out)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([*words, "-ftime-trace"], cwd=directory, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return cpu, json.loads(out.with_suffix(".json").read_text())["traceEvents"]


def where(events):
    """Seconds of each part of the compilation, and the five largest details of it."""
    parts = {event["name"].removeprefix("Total "): event["dur"] / 1e6 for event in events if event["name"].startswith("Total ")}
    details = collections.Counter()
    for event, end in zip(events, events[1:] + [{}]):
        kind = DETAILS.get(event["name"])
        if kind and event["ph"] != "e":  # a header's end is an event of its own, right behind its begin
            took = end["ts"] - event["ts"] if event["ph"] == "b" else event["dur"]
            details[kind, event["args"]["detail"]] += took / 1e6
    return {name: parts.get(key, 0) for key, name in PARTS.items()}, details.most_common(5)


def shortened(text, root):
    text = os.path.normpath(text) if text.startswith("/") else text
    text = text.removeprefix(f"{root}/").removeprefix("/usr/include/")
    return text if len(text) <= 110 else text[:107] + "..."


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=20, help="how many steps to list")
    parser.add_argument("--trace", type=int, default=5, help="how many files to look into")
    options = parser.parse_args()
    if not (options.build / ".ninja_log").exists():
        print(f"{options.build} has no ninja log: nothing was built there yet.", file=sys.stderr)
        return 1
    root = pathlib.Path(__file__).resolve().parent.parent
    times, compiled = steps(options.build), commands(options.build)
    print(f"{len(times)} steps, {sum(seconds for seconds, _ in times):.0f} s in all. The slowest:")
    for seconds, output in times[: options.count]:
        print(f"{seconds:7.1f} s  {shortened(compiled[output][0] if output in compiled else output, root)}")
    for _, output in [step for step in times if step[1] in compiled][: options.trace]:
        source, directory, words = compiled[output]
        cpu, events = trace(directory, words)
        parts, details = where(events)
        spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items() if name != "all")
        print(f"\n{shortened(source, root)}: {cpu:.1f} CPU s; {spent}")
        for (kind, detail), seconds in details:
            print(f"{seconds:7.1f} s  {kind} {shortened(detail, root)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
