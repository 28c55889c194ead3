"""The table of results."""

import dataclasses

HEADINGS = ("program", "nodes", "ranks", "culprit", "started by", "expected", "got", "ok", "seconds")


@dataclasses.dataclass
class Result:
    """One run, compared with the truth."""

    label: str
    nodes: int
    ranks: int
    culprits: list
    launch: str
    expected: str
    got: str
    ok: bool
    seconds: float
    folder: str = ""
    problems: list = dataclasses.field(default_factory=list)

    def cells(self):
        return (self.label, str(self.nodes), str(self.ranks), ",".join(map(str, self.culprits)) or "-",
                self.launch, self.expected, self.got, "ok" if self.ok else "WRONG",
                f"{self.seconds:.1f}")


def line(cells, widths):
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def render(results):
    rows = [HEADINGS] + [result.cells() for result in results]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(line(row, widths) for row in rows)


def problems(results):
    return "\n".join(f"{r.label} in {r.folder}: {text}" for r in results for text in r.problems)


def summary(results):
    """Accuracy by kind of program, then the counts as the last line."""
    failing = [r for r in results if r.culprits]
    silent = [r for r in results if not r.culprits]
    right = sum(r.ok for r in results)
    lines = [f"accuracy: {sum(r.ok for r in part)} of {len(part)} {what}"
             for part, what in ((failing, "failing programs diagnosed"), (silent, "sound programs silent"))
             if part]
    return "\n".join(lines + [f"lab: {right} passed, {len(results) - right} failed"])
