"""Places a program under drawn names into a drawn work directory."""

import dataclasses
import json
import pathlib
import re

from labkit import draw, programs

MODULES = [  # what programs import from beside themselves
    programs.FOLDER / "common" / "cluster_env.py",
    programs.FOLDER.parents[1] / "support" / "gloo_threads.py",
]


@dataclasses.dataclass
class Placed:
    """A program in its work directory, ready to be started."""

    program: programs.Program
    values: draw.Draw
    folder: pathlib.Path
    script: str
    settings_file: str

    @property
    def arguments(self):
        return [self.script, self.settings_file]

    @property
    def initiating(self):
        if not self.program.fails:
            return []
        everyone = self.program.truth["initiating"] == "all"
        return list(range(self.values.ranks)) if everyone else self.values.culprits

    @property
    def first_bad_step(self):
        """The first step after which the replicas differ, 0: from the start; None: they stay equal."""
        return draw.settings(self.values, self.program.truth.get("first_bad_step"))


def _rename(text, new_names):
    for old, new in new_names.items():
        text = re.sub(rf"\b{old}\b", new, text)
    return text


def place(program, values, parent):
    """Writes program, its modules and its settings below `parent`."""
    folder, script, data = (values.word() for _ in range(3))
    modules = {file.stem: values.word() for file in MODULES}
    new_names = draw.names(values, program.truth["names"]) | modules
    target = pathlib.Path(parent) / f"{folder}_{values.random.randint(100, 999)}"
    target.mkdir()
    settings = draw.settings(values, program.settings)
    (target / f"{script}.py").write_text(_rename(program.text(), new_names))
    for file in MODULES:
        (target / f"{modules[file.stem]}.py").write_text(_rename(file.read_text(), modules))
    (target / f"{data}.json").write_text(_rename(json.dumps(settings), new_names))
    return Placed(program, values, target, f"{script}.py", f"{data}.json")


def outside_signal(program, values):
    """The signal that one rank gets from outside, and the line that it follows, or None."""
    if not program.fails or "outside_signal" not in program.truth:
        return None
    number = draw.settings(values, program.truth["outside_signal"])
    return number, program.truth["outside_signal_after"]
