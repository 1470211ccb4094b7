#!/usr/bin/env python3
"""Holds the table of rooms against the #include lines under src/, and against the table in ARCHITECTURE.md.

    tools/check_rooms.py [ROOT]

A room is a folder of src/ (of src/adapters/ for adapters). Prints each line that breaks a rule, and fails if there is one.
"""

import re
import sys
from pathlib import Path

from includes import Sources

# Word for word the table of ARCHITECTURE.md. `may_include` below is what it means.
TABLE = [
    ("base", "nothing of ours"),
    ("runtime", "base"),
    ("http, coordination, messaging", "base, runtime"),
    ("a feature", "those, never another feature"),
    ("flows", "features and below"),
    ("api", "flows and below"),
    ("adapters/x", "features' ports and below; never another adapter (sqlite and postgres may use adapters/sql)"),
    ("server, lab", "all"),
]

GROUND = {"base": set(), "runtime": {"base"}}
PRIMITIVES = {"http", "coordination", "messaging"}
FEATURES = {"accounts", "catalog", "waiting_room", "reservations", "payments", "documents", "jobs", "links", "snapshots"}
BELOW_FEATURES = {"base", "runtime"} | PRIMITIVES
SQL_DRIVERS = {"adapters/sqlite", "adapters/postgres"}
TOP = {"server", "lab"}

BEAST_LIMIT = 3  # a file with Beast takes 10 to 16 s and 600 MB to compile


def room_of(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "adapters" else parts[0]


def is_room(room: str) -> bool:
    return (room in GROUND or room in BELOW_FEATURES or room in FEATURES or room in TOP or room in ("flows", "api")
            or room.startswith("adapters/"))


def may_include(room: str, other: str) -> bool:
    if room == other or room in TOP:
        return True
    if room in GROUND:
        return other in GROUND[room]
    if room in PRIMITIVES:
        return other in GROUND
    if room in FEATURES:
        return other in BELOW_FEATURES
    if room == "flows":
        return other in BELOW_FEATURES | FEATURES
    if room == "api":
        return other in BELOW_FEATURES | FEATURES | {"flows"}
    if room.startswith("adapters/"):
        return other in BELOW_FEATURES | FEATURES or (room in SQL_DRIVERS and other == "adapters/sql")
    return False


def check_includes(sources: Sources) -> list[str]:
    wrong = []
    for file in sources.files():
        room = room_of(file)
        if not is_room(room):
            wrong.append(f"src/{file}: '{room}' is not a room; tools/check_rooms.py lists them")
            continue
        for line, path in sources.ours(file):
            if not may_include(room, room_of(path)):
                wrong.append(f"src/{file}:{line}: {room} may not include {path}")
    return wrong


def check_quotes(sources: Sources) -> list[str]:
    """Our headers are named from src/ on and in quotes, or the other checks would not see them."""
    return [f"src/{file}:{line}: write #include \"room/file.h\" for ours, #include <file> for others'"
            for file in sources.files() for line, kind, path in sources.lines(file)
            if (sources.src / path).is_file() != (kind == '"')]


def check_beast(sources: Sources) -> list[str]:
    def names_beast(file: str) -> bool:
        return any(path.startswith("boost/beast") for _, _, path in sources.lines(file))

    users = [file for file in sources.files(".cpp") if any(map(names_beast, {file} | sources.reached(file)))]
    if len(users) <= BEAST_LIMIT:
        return []
    return [f"Beast reaches {len(users)} translation units, {BEAST_LIMIT} are allowed: {', '.join(users)}"]


def check_table(architecture: Path) -> list[str]:
    text = architecture.read_text(encoding="utf-8") if architecture.is_file() else ""
    section = re.search(r"<!-- rooms -->(.*?)<!-- /rooms -->", text, re.DOTALL)
    if not section:
        return ["ARCHITECTURE.md: no table between <!-- rooms --> and <!-- /rooms -->"]
    lines = [line for line in section[1].splitlines() if line.startswith("|")]
    rows = [tuple(cell.strip().replace("`", "") for cell in line.strip("|").split("|")) for line in lines[2:]]
    wrong = [f"ARCHITECTURE.md: {row} is not in tools/check_rooms.py" for row in rows if row not in TABLE]
    return wrong + [f"ARCHITECTURE.md: {row} is missing" for row in TABLE if row not in rows]


def check(root: Path) -> list[str]:
    sources = Sources(root)
    return (check_includes(sources) + check_quotes(sources) + check_beast(sources)
            + check_table(root / "ARCHITECTURE.md"))


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    wrong = check(root)
    print("\n".join(wrong) if wrong else "All includes follow the rules of the rooms.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
