"""Compares what Inquest said about a run with the truth."""

import json
import pathlib
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


def report_named_by(comment):
    """The report directory that the record line names, or None. srun's --chdir does not move it."""
    found = re.search(r"; report (?P<path>/[^;]+)$", comment or "")
    return pathlib.Path(found["path"]) if found else None


def read_diagnosis(report):
    """The diagnosis in a report directory and what is wrong with it."""
    try:
        diagnosis = json.loads((report / "diagnosis.json").read_text())
        diagnosis["ranks"] = sorted(party["rank"] for party in diagnosis["initiating"])
        return diagnosis, ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"diagnosis.json: {type(error).__name__}: {error}"


def place_problems(placed, diagnosis):
    """Each initiating rank's place is in the program itself and, where the truth says so, at a known line."""
    lines = placed.program.line_numbers()
    problems = []
    for party in diagnosis["initiating"]:
        file, _, line = (party["place"] or "").rpartition(":")
        if file != str(placed.folder / placed.script) or (lines and int(line) not in lines):
            problems.append(f"place of rank {party['rank']} is {party['place']}, not {placed.script}:{lines}")
    return problems


def first_step_problems(placed, diagnosis):
    """The steps told lie around the first bad one, no wider apart than powers of two, at which ranks compare at the latest."""
    told_steps = diagnosis.get("divergence") or {}
    bad, good, true = told_steps.get("first_bad_step"), told_steps.get("last_good_step"), placed.first_bad_step
    if true is None:
        right = bad is None
    else:
        right = bad is not None and (-1 if good is None else good) < true <= bad <= 2 * true
    return [] if right else [f"bad from step {bad}, good until {good}, but it began at {true}"]


def diagnosis_problems(placed, diagnosis):
    got = told(diagnosis["cause"], diagnosis["ranks"])
    if got != told(placed.program.cause, placed.initiating):
        return [f"diagnosis.json says {got}"]
    problems = (first_step_problems if placed.program.drifts else place_problems)(placed, diagnosis)
    if diagnosis["end"] not in placed.program.ends:
        problems.append(f"the end is {diagnosis['end']}, not {' or '.join(placed.program.ends)}")
    return problems


def line_problems(placed, comment):
    line = LINE.match(comment)
    named = set(ranks_of(line["ranks"])) if line else set()
    right = line and line["cause"] == placed.program.cause and named and named <= set(placed.initiating)
    return [] if right else [f"AdminComment is {comment!r}"]


def judge_failing(placed, end):
    """What a diagnosed run has to show; returns (got, problems)."""
    problems = line_problems(placed, end.comment)
    report = report_named_by(end.comment)
    diagnosis, damage = read_diagnosis(report) if report else (None, "the job record names no report")
    problems += [damage] if damage else diagnosis_problems(placed, diagnosis)
    if placed.program.drifts:
        problems += drift_problems(placed, end)
    if end.has_srun and not re.search(r"^inquest: ", end.output, re.MULTILINE):
        problems.append("no notice in the output")
    return (told(diagnosis["cause"], diagnosis["ranks"]) if diagnosis else "-"), problems


def drift_problems(placed, end):
    """A job whose replicas drifted apart ends well all the same, and is told of while it runs where that is asked."""
    problems = [] if (end.state, end.exit_code) == ("COMPLETED", "0:0") else [f"state {end.state}, {end.exit_code}"]
    if placed.program.truth.get("told_live") and not end.told_live:
        problems.append("no record line before the job ended")
    return problems


def judge_sound(placed, end, home):
    """A sound run ends with 0, and Inquest says and leaves nothing."""
    problems = []
    if end.exit_code != "0:0":
        problems.append(f"state {end.state}, exit code {end.exit_code}")
    if end.comment:
        problems.append(f"AdminComment is {end.comment!r}")
    left = [folder / f"inquest-{end.job_id}" for folder in (placed.folder, home)]
    problems += [f"{report} is left" for report in left if report.exists()]
    if re.search(r"^(srun: )?inquest", end.output, re.MULTILINE):
        problems.append("Inquest wrote to the output")
    return ("healthy" if not problems else "-"), problems


def judge(placed, end, home):
    """`home` is where srun was called, unless it was called in the work directory."""
    got, problems = judge_failing(placed, end) if placed.program.fails else judge_sound(placed, end, home)
    if end.cancelled == "limit":
        problems.append("still running at the limit, cancelled")
    return got, problems
