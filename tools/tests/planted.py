"""A small copy of the repository to plant mistakes in."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))


class PlantedTest(unittest.TestCase):
    """`self.root` is a temporary repository with the real rules and no code."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "src").mkdir()
        for name in (".clang-format", ".clang-tidy", "ARCHITECTURE.md"):
            shutil.copy(ROOT / name, self.root / name)

    def plant(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path
