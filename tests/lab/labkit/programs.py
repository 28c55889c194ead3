"""The lab's programs and what is true about each of them."""

import dataclasses
import json
import pathlib

GROUPS = ("deadlock", "divergence")
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "programs"


@dataclasses.dataclass
class Program:
    """One program or its fixed twin, with the truth about its run."""

    name: str
    source: pathlib.Path
    truth: dict
    twin: bool

    @property
    def group(self):
        return self.source.parent.parent.name

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

    @property
    def drifts(self):
        """The job ends well and its replicas have drifted apart."""
        return self.ends == ["silent"]

    @property
    def settings(self):
        return self.truth["settings"] | (self.truth.get("fixed_settings", {}) if self.twin else {})

    def text(self):
        """The program as it is placed: a twin may be the program with a few lines replaced."""
        text = self.source.read_text()
        for old, new in self.truth.get("fixed_lines", []) if self.twin else []:
            if text.count(old) != 1:
                raise ValueError(f"{self.source}: {old!r} is not there once")
            text = text.replace(old, new)
        return text

    def line_numbers(self):
        """Lines of the source, one of which a diagnosis has to name; empty where the truth does not say."""
        wanted = self.truth.get("lines", []) if self.fails else []
        return [number for number, line in enumerate(self.source.read_text().splitlines(), 1)
                if any(text in line for text in wanted)]


def _twin(folder, truth):
    same = "fixed_lines" in truth or "fixed_settings" in truth
    return folder / ("train.py" if same else truth.get("fixed", "fixed.py"))


def _load(folder):
    truth = json.loads((folder / "truth.json").read_text())
    found = [Program(folder.name, folder / "train.py", truth, False)]
    if truth["cause"] != "healthy":
        found.append(Program(folder.name, _twin(folder, truth), truth, True))
    return found


def load(only=None, group=None):
    """All programs and twins; only those whose name or label is in `only` and whose group is `group`, if given."""
    folders = sorted(path.parent for path in FOLDER.glob(f"{group or '*'}/*/truth.json"))
    found = [program for folder in folders for program in _load(folder)]
    return [p for p in found if not only or p.name in only or p.label in only]
