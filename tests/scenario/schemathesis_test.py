#!/usr/bin/env python3
"""Does /openapi.json tell the truth? Schemathesis believes it, and tries it on the real server.

    SLUICE_BIN=build/asan/bin tests/scenario/schemathesis_test.py

All checks of Schemathesis, for each role and without a key, with a fixed seed: what the document allows is
accepted, what it forbids is refused, and each answer has a status, headers and a body that the document describes.
SLUICE_LONG=1 tries more, and SLUICE_SEED another seed. Schemathesis is installed once for the machine, under the cache
folder. Exit code 77: it is not to be had (1 under CI=true).
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = Path(os.environ.get("SLUICE_BIN", ROOT / "build/release/bin")).resolve()
REQUIREMENTS = HERE / "schemathesis_requirements.txt"
LONG = "SLUICE_LONG" in os.environ
SEED = os.environ.get("SLUICE_SEED", "1")
EXAMPLES = "50" if LONG else "4"
LIMIT = 1500 if LONG else 300  # s

CONFIG = """
[[documents.origin]]
name = "scourt"
base_url = "{origin}/"
static_dir = "{folder}/static"
allow = "extra/**"
max_per_second = 1000

[links]
enrich = false
"""

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE>
<DL><p>
<DT><A HREF="https://a.example/">A</A>
<DT><H3>Folder</H3>
<DL><p>
<DT><A HREF="https://b.example/">B</A>
</DL><p>
</DL><p>
"""


def cache_folder():
    """As tests/support/cache_folder.h has it."""
    if "SLUICE_CACHE" in os.environ:
        return Path(os.environ["SLUICE_CACHE"])
    if os.geteuid() == 0:
        return Path("/var/cache/sluice")
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sluice"


def not_to_be_had(why):
    print(f"\n*** NOT TESTED ***\nSchemathesis could not be installed: {why}\n*** ***", file=sys.stderr)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def schemathesis():
    """Where the program is. Made under a lock, and moved into place when complete: tests may run at the same time."""
    version = re.search(r"^schemathesis==(.+)$", REQUIREMENTS.read_text(encoding="utf-8"), re.M)[1]
    folder = cache_folder() / f"schemathesis-{version}"
    done = folder / "installed"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text(encoding="utf-8") != REQUIREMENTS.read_text(encoding="utf-8"):
            shutil.rmtree(folder / "venv", ignore_errors=True)
            for command in ([sys.executable, "-m", "venv", folder / "venv"],
                            [folder / "venv/bin/pip", "install", "--quiet", "--requirement", REQUIREMENTS]):
                ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
                if ran.returncode != 0:
                    not_to_be_had((ran.stdout + ran.stderr)[-2000:])
            done.write_text(REQUIREMENTS.read_text(encoding="utf-8"), encoding="utf-8")
    return folder / "venv/bin/schemathesis"


@contextlib.contextmanager
def listening(*command, log):
    """Runs a server to the end of the block, and gives its address."""
    with open(log, "w", encoding="utf-8") as errors, \
         subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server:
        try:
            address = re.match(r"listening on (http://\S+)", server.stdout.readline())
            assert address, Path(log).read_text(encoding="utf-8")
            yield address[1]
        finally:
            server.terminate()
    assert server.returncode == 0, f"{command[0]} ended with {server.returncode}:\n" + Path(log).read_text(encoding="utf-8")[-5000:]


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = schemathesis()
        cls.stack = contextlib.ExitStack()
        folder = Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "static").mkdir()
        (folder / "static/hello.xml").write_text("<hello/>", encoding="utf-8")
        origin = cls.stack.enter_context(
            listening(BIN / "sluice-lab", "origin", "--listen", "127.0.0.1:0", log=folder / "origin.log"))
        (folder / "sluice.toml").write_text(CONFIG.format(origin=origin, folder=folder), encoding="utf-8")
        cls.flags = ["--data", folder / "data", "--config", folder / "sluice.toml"]
        cls.url = cls.stack.enter_context(
            listening(BIN / "sluice", "serve", *cls.flags, "--listen", "127.0.0.1:0", log=folder / "sluice.log"))
        cls.folder = folder
        with urllib.request.urlopen(cls.url + "/openapi.json", timeout=30) as answer:
            cls.document = json.load(answer)

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def key(self, role, name):
        made = subprocess.run([BIN / "sluice", "admin", "create-key", *self.flags, "--role", role, "--name", name],
                              capture_output=True, text=True, timeout=60, check=True)
        return re.search(r"\bsk_\S+", made.stdout)[0]

    def import_bookmarks(self, key):
        """So that there are links to list."""
        request = urllib.request.Request(self.url + "/api/v1/imports", data=BOOKMARKS.encode(), method="POST",
                                         headers={"Authorization": f"Bearer {key}", "Content-Type": "text/html"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertEqual(answer.status, 202)

    def settings(self, folder, role):
        """Schemathesis' own: who it is. Users are two, of whom neither may see what is the other's."""
        if not role:
            return ""
        keys = {name: self.key(role, name) for name in ("kim", "lee")}
        for key in keys.values():
            self.import_bookmarks(key)
        if role != "USER":
            return f'[auth.openapi.token]\nbearer = "{keys["kim"]}"\n'
        people = [{"name": name, "fixedHeaders": [{"name": "Authorization", "value": f"Bearer {key}"}]} for name, key in keys.items()]
        (folder / "people.json").write_text(json.dumps({"auth": people}), encoding="utf-8")
        return f'[auth.wfc]\npath = "{folder}/people.json"\npeers = ["kim", "lee"]\n'

    def start(self, role):
        folder = self.folder / (role or "nobody")
        folder.mkdir()
        (folder / "schemathesis.toml").write_text(self.settings(folder, role), encoding="utf-8")
        # With more workers than one, what is tried would depend on chance as well as on the seed.
        command = [self.program, "run", self.url + "/openapi.json", "--checks", "all", "--seed", SEED, "--max-examples", EXAMPLES,
                   "--workers", "1", "--request-timeout", "20", "--no-color", "--warnings", "off", "--generation-database", "none",
                   "--continue-on-failure"]
        return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE)})

    def test_what_it_says_holds_for_every_role_and_without_a_key(self):
        runs = {role: self.start(role) for role in (None, "USER", "SERVICE", "ADMIN")}
        outputs = {role: run.communicate(timeout=LIMIT)[0] for role, run in runs.items()}
        for role, run in runs.items():
            with self.subTest(role=role or "no key"):
                self.assertEqual(run.returncode, 0, f"seed {SEED}\n{outputs[role]}")

    def test_answers_to_the_end_of_a_story_are_as_it_says(self):
        ran = subprocess.run([self.program.with_name("python"), HERE / "schemathesis_story.py", self.url, self.key("ADMIN", "teller")],
                             capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_every_code_it_names_is_documented_with_its_status(self):
        listed = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (\d+) \|", (ROOT / "docs/errors.md").read_text(encoding="utf-8"), re.M))
        answers = [item for path in self.document["paths"].values() for operation in path.values()
                   for item in operation["responses"].items()] + list(self.document["components"]["responses"].items())
        for status, answer in answers:
            problem = answer.get("content", {}).get("application/problem+json")
            for code in problem["schema"]["allOf"][1]["properties"]["code"]["enum"] if problem else []:
                self.assertEqual(listed.get(code), status, code)


if __name__ == "__main__":
    unittest.main()
