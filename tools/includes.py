"""Who includes whom: reads the #include lines of our sources without compiling them."""

import functools
import re
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class Sources:
    """The C++ files under `root`/src. Paths are relative to src, as they are written in an #include."""

    def __init__(self, root: Path):
        self.src = Path(root) / "src"

    def files(self, *suffixes: str) -> list[str]:
        found = (path for path in self.src.rglob("*") if path.suffix in (suffixes or (".h", ".cpp")))
        return sorted(str(path.relative_to(self.src)) for path in found)

    @functools.cache
    def lines(self, file: str) -> list[tuple[int, str, str]]:
        """(line number, '<' or '"', path) for each #include of `file`."""
        text = (self.src / file).read_text(encoding="utf-8")
        return [(text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in INCLUDE.finditer(text)]

    def ours(self, file: str) -> list[tuple[int, str]]:
        """(line number, path) for each of our own headers that `file` includes itself."""
        return [(line, path) for line, kind, path in self.lines(file) if kind == '"' and (self.src / path).is_file()]

    def reached(self, file: str) -> set[str]:
        """Every header of ours that `file` includes, itself or through others."""
        seen: set[str] = set()
        waiting = [file]
        while waiting:
            for _, path in self.ours(waiting.pop()):
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
        return seen
