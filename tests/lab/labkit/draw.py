"""What is drawn anew in every run: ranks, nodes, culprits, names and settings."""

import dataclasses
import random

from labkit import launchers

VERBS = """apply balance blend bring build carry collect combine cover derive enrich extend fetch fill
    filter form gather group handle inspect join label lift list map mark match measure merge
    mix move open order pair pass pick place plan prepare pull push rank refine render resolve scan
    shape shift sketch smooth sort split stage store sum take tag trace turn view weigh wrap""".split()
NOUNS = """area basin batch block board branch bridge canal card cell chart coast column corpus crop curve
    delta depot field frame grid harbor index island kernel lake layer leaf line map mast meadow mesh
    orbit page panel patch plane plot point pond range ridge ring river row scene sheet signal slope
    span spot state station strip table tile token tower track unit valley vector wave window
    yard zone""".split()


@dataclasses.dataclass
class Draw:
    """One run's drawn values; `settings` and `names` are made by their own functions."""

    random: random.Random
    launcher: str
    nodes: int
    tasks: int
    ranks_per_task: int
    culprits: list
    drawn: dict = dataclasses.field(default_factory=dict)
    words: set = dataclasses.field(default_factory=set)

    @property
    def ranks(self):
        return self.tasks * self.ranks_per_task

    @property
    def plain_tasks(self):
        """Slurm tasks that the program would have without torchrun."""
        return self.ranks if self.launcher == launchers.TORCHRUN else self.tasks

    @property
    def others(self):
        return [rank for rank in range(self.ranks) if rank not in self.culprits]

    def word(self):
        """A name that this run does not use yet."""
        new = self.random.choice(VERBS) + "_" + self.random.choice(NOUNS)
        if new in self.words:
            return self.word()
        self.words.add(new)
        return new


def _spread(truth, source, launcher, most_nodes, node_cpus):
    """(nodes, tasks, ranks per task); the truth may fix how many tasks each node has."""
    if launcher == launchers.TORCHRUN:
        nodes, ranks = source.choice(launchers.torchrun_spreads(truth, most_nodes))
        return nodes, nodes, ranks
    if "layout" in truth:
        return len(truth["layout"]), sum(truth["layout"]), 1
    per_task = truth.get("ranks_per_task", 1)
    tasks = source.randint(*truth.get("tasks", [3, 6] if per_task == 1 else [2, 3]))
    nodes = source.randint(-(-tasks * per_task // node_cpus), min(tasks, most_nodes))
    return nodes, tasks, per_task


def draw(truth, seed, launcher=None, most_nodes=4, node_cpus=4):
    source = random.Random(seed)
    launcher = source.choice(launchers.possible(truth, launcher))
    nodes, tasks, per_task = _spread(truth, source, launcher, most_nodes, node_cpus)
    ranks = tasks * per_task
    most = (ranks - 1) // 2 if truth.get("culprits") == "minority" else 1
    culprits = sorted(source.sample(range(ranks), source.randint(1, most)))
    values = Draw(source, launcher, nodes, tasks, per_task, culprits)
    values.drawn = settings(values, truth.get("drawn", {}))
    return values


def _styled(name, like):
    if like.isupper():
        return name.upper()
    return name.title().replace("_", "") if like[0].isupper() else name


def names(values, wanted):
    """A new name for each wanted one, in its style."""
    return {name: _styled(values.word(), name) for name in wanted}


def _between(values, spec):
    multiple = spec.get("multiple", 1)
    low, high = spec["between"]
    return values.random.randint(low // multiple, high // multiple) * multiple


def _per_rank(values, spec):
    sides = spec["per_rank"]
    return [settings(values, sides["culprit" if rank in values.culprits else "other"])
            for rank in range(values.ranks)]


EXPANSIONS = {
    "between": _between,
    "choose": lambda values, spec: settings(values, values.random.choice(spec["choose"])),
    "per_rank": _per_rank,
    "ranks": lambda values, spec: getattr(values, spec["ranks"]),
    "first": lambda values, spec: getattr(values, spec["first"])[0],
    "draw": lambda values, spec: getattr(values, spec["draw"]),
    "drawn": lambda values, spec: values.drawn[spec["drawn"]] + spec.get("plus", 0),
}


def settings(values, spec):
    """Replaces every drawn part of a truth file's settings by its value."""
    if isinstance(spec, dict):
        for key, expand in EXPANSIONS.items():
            if key in spec:
                return expand(values, spec)
        return {key: settings(values, value) for key, value in spec.items()}
    if isinstance(spec, list):
        return [settings(values, value) for value in spec]
    return spec
