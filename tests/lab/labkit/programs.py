"""The lab's programs and what is true about each of them."""

import dataclasses
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "programs"


@dataclasses.dataclass
class Program:
    """One program or its fixed twin, with the truth about its run."""

    name: str
    source: pathlib.Path
    truth: dict
    twin: bool

    @property
    def label(self):
        return self.name + ("+fixed" if self.twin else "")

    @property
    def fails(self):
        return not self.twin and self.truth["cause"] != "healthy"

    @property
    def cause(self):
        return self.truth["cause"] if self.fails else "healthy"

    @property
    def ends(self):
        """The kinds of end that are right: "hang or crash" in the truth file where timing decides."""
        return self.truth["end"].split(" or ") if self.fails else ["healthy"]

    def line_numbers(self):
        """Lines of the source, one of which a diagnosis has to name; empty where the truth does not say."""
        wanted = self.truth.get("lines", []) if self.fails else []
        return [number for number, line in enumerate(self.source.read_text().splitlines(), 1)
                if any(text in line for text in wanted)]


def _load(folder):
    truth = json.loads((folder / "truth.json").read_text())
    found = [Program(folder.name, folder / "train.py", truth, False)]
    if truth["cause"] != "healthy":
        twin = folder / truth.get("fixed", "fixed.py")
        found.append(Program(folder.name, twin, truth, True))
    return found


def load(only=None):
    """All programs and twins; only those whose name or label is in `only`, if given."""
    folders = sorted(path.parent for path in FOLDER.glob("*/truth.json"))
    found = [program for folder in folders for program in _load(folder)]
    return [p for p in found if not only or p.name in only or p.label in only]
