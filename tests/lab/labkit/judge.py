"""Compares what Inquest said about a run with the truth."""

import json
import re

LINE = re.compile(r"inquest 1: (?:[a-z-]+/)?(?P<cause>[a-z-]+)[^;]*(?:; first ranks? (?P<ranks>[0-9,\- ]+))?")


def told(cause, ranks):
    return cause + (" " + ",".join(map(str, ranks)) if ranks else "")


def ranks_of(text):
    """The ranks of a list such as 1,4-6."""
    found = []
    for part in re.findall(r"\d+(?:-\d+)?", text or ""):
        low, _, high = part.partition("-")
        found.extend(range(int(low), int(high or low) + 1))
    return found


def read_diagnosis(report):
    """(cause, initiating ranks, end), or what is wrong with the report."""
    try:
        diagnosis = json.loads((report / "diagnosis.json").read_text())
        ranks = sorted(party["rank"] for party in diagnosis["initiating"])
        return diagnosis["cause"], ranks, ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        return "-", [], f"diagnosis.json: {type(error).__name__}: {error}"


def judge_failing(placed, end, report):
    """What a diagnosed run has to show; returns (got, problems)."""
    program, problems = placed.program, []
    cause, ranks, damage = read_diagnosis(report)
    got, expected = told(cause, ranks), told(program.cause, placed.initiating)
    if damage:
        problems.append(damage)
    elif got != expected:
        problems.append(f"diagnosis.json says {got}")
    line = LINE.match(end.comment)
    if not line:
        problems.append(f"AdminComment is {end.comment!r}")
    elif line["cause"] != program.cause or not set(ranks_of(line["ranks"])) <= set(placed.initiating) \
            or not line["ranks"]:
        problems.append(f"AdminComment is {end.comment!r}")
    if not re.search(r"^inquest: ", end.output, re.MULTILINE):
        problems.append("no notice in the output")
    return got, problems


def judge_sound(end, report):
    """A sound run ends with 0, and Inquest says and leaves nothing."""
    problems = []
    if end.exit_code != "0:0":
        problems.append(f"state {end.state}, exit code {end.exit_code}")
    if end.comment:
        problems.append(f"AdminComment is {end.comment!r}")
    if report.exists():
        problems.append(f"{report.name} is left")
    if re.search(r"^(srun: )?inquest", end.output, re.MULTILINE):
        problems.append("Inquest wrote to the output")
    return ("healthy" if not problems else told(*read_diagnosis(report)[:2])), problems


def judge(placed, end):
    report = placed.folder / f"inquest-{end.job_id}"
    got, problems = judge_failing(placed, end, report) if placed.program.fails else judge_sound(end, report)
    if end.cancelled == "limit":
        problems.append("still running at the limit, cancelled")
    return got, problems
