#!/usr/bin/env python3
"""Runs clang-tidy over our sources, and only over those for which the answer may have changed.

    tools/tidy.py --build build/asan [--jobs 2] [--root ROOT] [FILE...]

A file that was found good is remembered by a hash of everything the answer depends on: the file, each header of ours it
reaches, how it is compiled, the configuration and the program. The hashes hold no absolute path, so that a cache may be
shared between clones: SLUICE_TIDY_CACHE names another folder than build/tidy-cache.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from includes import Sources

PROGRAM = "clang-tidy-19"


class Tidy:
    def __init__(self, root: Path, build: Path):
        self.root = root
        self.build = build
        self.sources = Sources(root)
        self.cache = Path(os.environ.get("SLUICE_TIDY_CACHE") or root / "build" / "tidy-cache")
        self.cache.mkdir(parents=True, exist_ok=True)
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.common = version.encode() + b"".join(
            path.read_bytes() for path in (root / ".clang-tidy", root / "cmake" / "pch.h") if path.exists())

    def files(self) -> dict[Path, str]:
        """Our translation units, each with the command that compiles it."""
        commands = json.loads((self.build / "compile_commands.json").read_text())
        mine = {Path(entry["file"]): entry["command"] for entry in commands}
        return {file: command for file, command in sorted(mine.items())
                if file.is_relative_to(self.root) and not file.is_relative_to(self.root / "build") and file.exists()
                and not file.is_relative_to(self.root / "cmake")}

    def key(self, file: Path, command: str) -> str:
        digest = hashlib.sha256(self.common)
        digest.update(command.replace(str(self.root), "").encode())
        name = os.path.relpath(file, self.sources.src)
        for path in [name] + sorted(self.sources.reached(name)):
            digest.update(path.encode() + b"\0" + (self.sources.src / path).read_bytes())
        return digest.hexdigest()

    def look_at(self, file: Path) -> str:
        """What clang-tidy has to say against `file`; nothing if it is good."""
        run = subprocess.run([PROGRAM, "--quiet", "-p", str(self.build), str(file)], capture_output=True, text=True)
        return "" if run.returncode == 0 else run.stdout + (run.stderr if not run.stdout else "")

    def run(self, only: list[str], jobs: int) -> int:
        keys = {file: self.key(file, command) for file, command in self.files().items()
                if not only or str(file.relative_to(self.root)) in only}
        waiting = [file for file, key in keys.items() if not (self.cache / key).exists()]
        print(f"{len(keys)} files, {len(waiting)} of them changed", flush=True)
        bad = 0
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(self.look_at, file): file for file in waiting}
            for done, future in enumerate(concurrent.futures.as_completed(running), 1):
                file, words = running[future], future.result()
                print(f"[{done}/{len(waiting)}] {'BAD  ' if words else ''}{file.relative_to(self.root)}", flush=True)
                if words:
                    bad += 1
                    print(words, flush=True)
                else:
                    (self.cache / keys[file]).touch()
        return bad


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--build", type=Path, required=True)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("files", nargs="*")
    options = arguments.parse_args()
    return 1 if Tidy(options.root.resolve(), options.build.resolve()).run(options.files, options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
