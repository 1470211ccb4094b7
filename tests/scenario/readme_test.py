#!/usr/bin/env python3
"""Does the README tell the truth? Runs what it says to run, and asks for what it says there is.

    SLUICE_BIN=build/asan/bin tests/scenario/readme_test.py
"""
import itertools
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ.get("SLUICE_BIN", ROOT / "build/release/bin")).resolve()
README = (ROOT / "README.md").read_text(encoding="utf-8")


def use_it():
    """The commands of the section `Use it`, without comments; building is over when this runs."""
    section = README.split("## Use it")[1].split("\n## ")[0]
    lines = [line.split(" #")[0].strip() for block in re.findall(r"```sh\n(.*?)```", section, re.S) for line in block.splitlines()]
    return [line for line in lines if not line.startswith("./dev")]


def named_commands():
    """`sluice admin create\\|create-key` in prose names two commands."""
    for words in re.findall(r"`(sluice(?:-lab)? [a-z][^`]*)`", README):
        choices = [word.replace("\\|", "|").split("|") for word in words.split() if not word.startswith("-")]
        yield from itertools.product(*choices)


class Readme(unittest.TestCase):
    def test_what_it_says_to_run_works(self):
        serve, *others = use_it()
        self.assertIn("sluice serve", serve)
        with tempfile.TemporaryDirectory() as folder:
            def here(line):
                return line.replace("build/release/bin", str(BIN)).replace("./data", folder + "/data")

            serve = here(serve).replace("127.0.0.1:8080", "127.0.0.1:0")
            at_once = os.environ | {"SLUICE_PROCESS_DRAIN_DELAY": "0s"}
            with subprocess.Popen(serve.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  env=at_once) as server:
                try:
                    address = re.match(r"listening on http://(\S+)", server.stdout.readline())
                    for line in others:
                        line = here(line).replace("127.0.0.1:8080", address[1])
                        done = subprocess.run(line.split(), capture_output=True, text=True, timeout=60)
                        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
                    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"):
                        self.assertIn(f"`{path}`", README)
                        subprocess.run(["curl", "-fsS", "-o", "/dev/null", f"http://{address[1]}{path}"], check=True, timeout=60)
                finally:
                    server.terminate()
                self.assertEqual(server.wait(timeout=60), 0)

    def test_what_it_says_there_is_has_help(self):
        commands = set(named_commands())
        self.assertIn(("sluice", "admin", "revoke-key"), commands)
        for command in commands:
            done = subprocess.run([BIN / command[0], *command[1:], "--help"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, " ".join(command))
            self.assertIn("Example", done.stdout, " ".join(command))

    def test_what_it_links_to_is_there(self):
        for target in re.findall(r"\]\(([^)]+)\)", README):
            self.assertTrue((ROOT / target).exists(), target)


if __name__ == "__main__":
    unittest.main()
