#!/usr/bin/env python3
"""Holds the code against docs/architecture.md: the may-use table against the #include lines, and the limits on files.

Usage: architecture_test.py PROJECT_ROOT
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
CODE_FOLDERS = ("spank", "epilog", "analyzer")
CODE_SUFFIXES = {".h", ".c", ".cpp", ".cu"}
ALL_SUFFIXES = CODE_SUFFIXES | {".py", ".sh", ".cmake"}
MOST_LINES = 500
FORMAT = "spank/format"  # the one room that every other may include
ROW = re.compile(r"^\| `([a-z/_]+)` \|.*\|([^|]*)\|$")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]')
FIXED_WIDTH = re.compile(r"\bu?int(8|16|32|64)_t\b")
FIXED_WIDTH_HEADERS = {"cstdint", "stdint.h", "cinttypes", "inttypes.h"}
# Headers of libraries that only the rooms that name them may include.
LIBRARIES = {"Slurm": re.compile(r"^slurm/"), "yaml-cpp": re.compile(r"^yaml-cpp/"), "CUDA": re.compile(r"^cuda")}


def rooms():
    """folder -> (folders it may include, library words it names), from the table in docs/architecture.md."""
    table = {}
    for line in (ROOT / "docs/architecture.md").read_text().splitlines():
        match = ROW.match(line)
        if match:
            folder, uses = match.groups()
            table[folder] = (set(re.findall(r"`([a-z/_]+)`", uses)), uses)
    return table


def code_files(suffixes, folders=CODE_FOLDERS):
    for folder in folders:
        yield from (p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in suffixes and p.is_file())


def room_of(path, table):
    relative = str(path.relative_to(ROOT)) if path.is_absolute() else str(path)
    candidates = [folder for folder in table if relative.startswith(folder + "/")]
    return max(candidates, key=len, default=None)


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


class Architecture(unittest.TestCase):
    def setUp(self):
        self.table = rooms()
        self.assertGreater(len(self.table), 10, "the table of rooms was not found")

    def test_every_source_file_stands_in_a_room(self):
        homeless = [str(p) for p in code_files(CODE_SUFFIXES) if room_of(p, self.table) is None]
        self.assertEqual(homeless, [])

    def test_every_room_exists(self):
        self.assertEqual([f for f in self.table if not (ROOT / f).is_dir()], [])

    def test_includes_follow_the_table(self):
        wrong = []
        for path in code_files(CODE_SUFFIXES):
            room = room_of(path, self.table)
            allowed, _ = self.table[room]
            for number, target in includes(path):
                other = room_of(pathlib.Path(target), self.table)
                everything = room == "analyzer/cli" and other and other.startswith("analyzer/")
                if other and other not in allowed | {room, FORMAT} and not everything:
                    wrong.append(f"{path.relative_to(ROOT)}:{number} includes {target}")
        self.assertEqual(wrong, [])

    def test_libraries_stay_in_their_rooms(self):
        wrong = []
        for path in code_files(CODE_SUFFIXES):
            _, uses = self.table[room_of(path, self.table)]
            for number, target in includes(path):
                for word, pattern in LIBRARIES.items():
                    if pattern.match(target) and word not in uses:
                        wrong.append(f"{path.relative_to(ROOT)}:{number} includes {target}")
        self.assertEqual(wrong, [])


    def test_headers_bring_the_integer_types_that_they_name(self):
        """Which standard header brings them along besides differs between compilers."""
        lacking = [str(path.relative_to(ROOT)) for path in code_files({".h"}, CODE_FOLDERS + ("tests",))
                   if FIXED_WIDTH.search(path.read_text())
                   and not FIXED_WIDTH_HEADERS & {target for _, target in includes(path)}]
        self.assertEqual(lacking, [])


class Size(unittest.TestCase):
    def test_no_file_is_longer_than_the_limit(self):
        long = [f"{p.relative_to(ROOT)}: {len(p.read_text(errors='replace').splitlines())} lines"
                for p in code_files(ALL_SUFFIXES, CODE_FOLDERS + ("tests", "configs"))
                if len(p.read_text(errors="replace").splitlines()) > MOST_LINES]
        self.assertEqual(long, [])

    def test_file_names_are_snake_case(self):
        odd = [str(p.relative_to(ROOT)) for p in code_files(ALL_SUFFIXES, CODE_FOLDERS + ("tests",))
               if not re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9]+)*", p.name)]
        self.assertEqual(odd, [])


class Words(unittest.TestCase):
    """The code never names a failure: causes are data in configs/knowledge."""

    def test_no_cause_id_in_code(self):
        causes = [p.stem for p in (ROOT / "configs/knowledge").rglob("*.yaml") if "-" in p.stem]
        pattern = re.compile("|".join(rf'"[^"\n]*\b{re.escape(c)}\b[^"\n]*"' for c in causes) or r"(?!)")
        named = [f"{p.relative_to(ROOT)}:{n}" for p in code_files(CODE_SUFFIXES | {".py"})
                 for n, line in enumerate(p.read_text(errors="replace").splitlines(), 1) if pattern.search(line)]
        self.assertEqual(named, [])


if __name__ == "__main__":
    unittest.main()
