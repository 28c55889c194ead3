#!/usr/bin/env python3
"""Every setting that an option asks for is read back inside the ranks, however the step was started, and the user's own values stay."""

import contextlib
import json
import shlex
import struct
import subprocess
import time

import harness

PYTHON = "/usr/bin/python3"
# Each rank leaves its environment as ranks/STEP.RANK: srun's output would mix long lines.
RANK = """
import json, os
environ = os.environ
step = "batch" if environ.get("INQUEST_BOX_DIR", "").endswith(".batch") else environ["SLURM_STEP_ID"]
with open(f"ranks/{step}.{environ['SLURM_PROCID']}", "x") as file:
    json.dump(dict(environ, hash=str(hash("a"))), file)
"""
OPTIONS = ["--inquest-profile=deep", "--inquest-deterministic=strict", "--inquest-seed=42", "--inquest-nccl-debug=info",
           "--inquest-timeout=900", "--inquest-on-divergence=cancel"]
# What these options set; {box} is the step's box directory. PYTHONPATH is looked at apart: it depends on the installation.
INJECTED = {
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "NCCL_ALGO": "Ring", "FLASH_ATTENTION_DETERMINISTIC": "1", "NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0",
    "TORCHINDUCTOR_DETERMINISTIC": "1", "MKL_CBWR": "COMPATIBLE", "TF_CUDNN_DETERMINISTIC": "1", "TF_DETERMINISTIC_OPS": "1",
    "XLA_FLAGS": "--xla_gpu_deterministic_ops=true",
    "PYTHONHASHSEED": "42", "PL_GLOBAL_SEED": "42", "PL_SEED_WORKERS": "1",
    "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET,GRAPH", "NCCL_DEBUG_FILE": "{box}/nccl_debug-%h-%p.txt",
    "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "1020", "DEEPSPEED_TIMEOUT": "15",
    "TORCH_FR_BUFFER_SIZE": "20000", "TORCH_NCCL_TRACE_BUFFER_SIZE": "20000",
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "1", "TORCH_FR_DUMP_ON_TIMEOUT": "1",
    "TORCH_FR_DUMP_TEMP_FILE": "{box}/nccl_trace_rank_", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "{box}/nccl_trace_rank_",
    "PYTHONFAULTHANDLER": "1",
}
OWN = {
    "INQUEST_ARMED": "1", "INQUEST_PROFILE": "deep", "INQUEST_DIGEST_SHARE": "50000", "INQUEST_DETERMINISTIC": "strict", "INQUEST_SEED": "42",
    "INQUEST_NCCL_DEBUG": "INFO", "INQUEST_TIMEOUT_SECONDS": "900", "INQUEST_ON_DIVERGENCE": "cancel",
}
USERS = {"CUBLAS_WORKSPACE_CONFIG": ":16:8", "NCCL_DEBUG_SUBSYS": "ALL", "PYTHONHASHSEED": "7", "XLA_FLAGS": "--mine=1", "PYTHONPATH": "/mine"}
JOURNAL_FLAGS_OFFSET = 68  # docs/formats/step_journal.md
LIMIT_S = 60


def names_of(environment, variable):
    return set(filter(None, environment[variable].split(",")))


def check_value(what, environment, name, expected):
    seen = environment.get(name)
    harness.expect(seen == expected, f"{what}: {name} is {seen!r}, not {expected!r}")


def check_full(what, environment, step, changes=None):
    """All of OPTIONS is there; `changes` maps names to what the user's own values make of them, None: absent."""
    box = environment.get("INQUEST_BOX_DIR", "none")
    harness.expect(box.endswith("." + step), f"{what}: box directory {box}")
    expected = {name: value.format(box=box) for name, value in INJECTED.items()}
    expected.update(changes or {})
    for name, value in {**expected, **OWN}.items():
        check_value(what, environment, name, value)
    harness.expect(environment["PYTHONPATH"].split(":")[0].endswith("/inquest/python"), f"{what}: PYTHONPATH {environment['PYTHONPATH']}")
    if not changes:
        # Nothing is set that this test does not know.
        check_value(what, {"names": names_of(environment, "INQUEST_INJECTED")}, "names", {*INJECTED, "PYTHONPATH"})
        check_value(what, environment, "INQUEST_LEFT_ALONE", "")


def check_none(what, environment, users):
    """Nothing of Inquest's is left, and the user's own values are as they were."""
    for name in [*INJECTED, "PYTHONPATH", *OWN, "INQUEST_INJECTED", "INQUEST_BOX_DIR"]:
        check_value(what, environment, name, users.get(name))


class Runs:
    def __init__(self, running):
        self.running = running
        self.folder = running.state / "home/ranks"
        (running.state / "home/rank.py").write_text(RANK)
        running.output("mkdir", "ranks")
        self.rank = [PYTHON, "rank.py"]

    def environments(self, *command):
        """What the ranks of a command left, by step and rank."""
        for path in self.folder.iterdir():
            path.unlink()
        self.running.output(*command, timeout=LIMIT_S)
        return {path.name: json.loads(path.read_text()) for path in self.folder.iterdir()}

    def ranks(self, count, *command):
        environments = self.environments(*command)
        harness.expect(len(environments) == count, f"{shlex.join(command)}: {sorted(environments)} ran, not {count} ranks")
        return list(environments.values())

    def batch(self, script, options, users):
        """The environments in a batch job of a user with variables of his own."""
        own = [f"{name}={value}" for name, value in users.items()]
        return self.environments("env", *own, "sbatch", "--wait", "--nodes=2", "--ntasks-per-node=1", "--overcommit", "--output=batch.out",
                                 *options, "--wrap", script)


def srun(runs):
    all_ranks = runs.ranks(4, "srun", "--nodes=2", "--ntasks=4", "--overcommit", *OPTIONS, *runs.rank)
    for environment in all_ranks:
        check_full("srun", environment, "0")
    for name in (*INJECTED, *OWN, "INQUEST_INJECTED", "hash"):
        values = {environment[name] for environment in all_ranks}
        harness.expect(len(values) == 1, f"srun: ranks have different {name}: {values}")


def export_none(runs):
    for environment in runs.ranks(2, "srun", "--export=NONE", "--nodes=2", "--ntasks=2", "--overcommit", *OPTIONS, *runs.rank):
        check_full("srun --export=NONE", environment, "0")


def users_own(runs):
    own = [f"{name}={value}" for name, value in USERS.items()]
    changes = {**USERS, "NCCL_DEBUG": None, "NCCL_DEBUG_FILE": None, "XLA_FLAGS": "--mine=1 --xla_gpu_deterministic_ops=true"}
    changes.pop("PYTHONPATH")
    for environment in runs.ranks(2, "env", *own, "srun", "--nodes=2", "--ntasks=2", "--overcommit", *OPTIONS, *runs.rank):
        check_full("user's own", environment, "0", changes)
        harness.expect(environment["PYTHONPATH"].endswith("/inquest/python:/mine"), f"user's own: {environment['PYTHONPATH']}")
        left = names_of(environment, "INQUEST_LEFT_ALONE")
        harness.expect(left == {"CUBLAS_WORKSPACE_CONFIG", "NCCL_DEBUG_SUBSYS", "PYTHONHASHSEED"}, f"user's own: left alone {left}")


def heterogeneous(runs):
    ranks = runs.ranks(2, "srun", "--overcommit", *OPTIONS, "-N1", "-n1", *runs.rank, ":", "-N1", "-n1", *runs.rank)
    for environment in ranks:
        check_full("heterogeneous", environment, "0")


def salloc(runs):
    for environment in runs.ranks(2, "salloc", "--nodes=2", "--ntasks=2", "--overcommit", *OPTIONS, "srun", "--overcommit", *runs.rank):
        check_full("salloc", environment, "0")


def nested(runs):
    rank = shlex.join(runs.rank)
    users = {"XLA_FLAGS": "--mine=1", "PYTHONPATH": "/mine"}
    script = (f"{rank}\nsrun --overcommit -N1 -n1 {rank}\n"
              f"srun --overcommit -N1 -n1 --inquest-deterministic=off --inquest-nccl-debug=WARN --inquest-seed=1 {rank}\n"
              f"srun --overcommit -N1 -n1 --no-inquest {rank}\nNCCL_ALGO=Tree srun --overcommit -N1 -n1 {rank}\n")
    environments = runs.batch(script, OPTIONS, users)
    steps = ["batch.0", "0.0", "1.0", "2.0", "3.0"]
    harness.expect(sorted(environments) == sorted(steps), f"batch job: {sorted(environments)} ran")
    batch, same, other, none, changed = (environments[step] for step in steps)
    added = {"XLA_FLAGS": "--mine=1 --xla_gpu_deterministic_ops=true"}
    check_full("batch step", batch, "batch", added)
    check_full("nested srun", same, "0", added)
    check_none("nested srun --no-inquest", none, users)
    check_full("nested srun, own value", changed, "3", {**added, "NCCL_ALGO": "Tree"})
    check_value("nested srun, own value", changed, "INQUEST_LEFT_ALONE", "NCCL_ALGO")
    for name, value in {"XLA_FLAGS": "--mine=1", "CUBLAS_WORKSPACE_CONFIG": None, "INQUEST_DETERMINISTIC": None, "NCCL_DEBUG": "WARN",
                        "PYTHONHASHSEED": "1", "INQUEST_SEED": "1", "INQUEST_LEFT_ALONE": "", "DEEPSPEED_TIMEOUT": "15"}.items():
        check_value("nested srun, other options", other, name, value)


def refused(runs):
    for command, job in (("srun", "true"), ("sbatch", "--wrap=true"), ("salloc", "true")):
        for option in ("--inquest-seed=4294967296", "--inquest-profile=none", "--inquest-deterministic=1", "--inquest-nccl-debug=LOUD",
                       "--inquest-timeout=0", "--inquest-on-divergence=stop"):
            done = runs.running.shell(command, option, job, timeout=LIMIT_S)
            what = f"{command} {option}"
            harness.expect(done.returncode != 0, f"{what}: accepted")
            harness.expect(f"inquest: {option} is not possible: write " in done.stderr, f"{what}: {done.stderr}")
    harness.expect(not runs.running.output("squeue", "--noheader").strip(), "refused commands left jobs")


def site(runs):
    """The site's configuration counts where nobody says otherwise; what is wrong in it is told by the doctor and troubles no job."""
    etc = runs.running.state / "etc/inquest"
    (etc / "inquest.yaml.d").mkdir(parents=True)
    (etc / "inquest.yaml").write_text("seed: 5\ncolour: red\nnccl_debug: WARN\n")
    (etc / "inquest.yaml.d/10-local.yaml").write_text("timeout_seconds: soon\nnever_set: [PL_GLOBAL_SEED]\n")
    environment, = runs.ranks(1, "srun", "--inquest", "--inquest-nccl-debug=INFO", *runs.rank)
    for name, value in {"INQUEST_SEED": "5", "PYTHONHASHSEED": "5", "NCCL_DEBUG": "INFO", "PL_GLOBAL_SEED": None,
                        "INQUEST_TIMEOUT_SECONDS": None, "DEEPSPEED_TIMEOUT": None}.items():
        check_value("site", environment, name, value)
    doctor = runs.running.shell("inquest", "doctor")
    harness.expect(doctor.returncode == 10, f"doctor: status {doctor.returncode}")
    for line in ("/etc/inquest/inquest.yaml:2: there is no key colour", "/etc/inquest/inquest.yaml.d/10-local.yaml:1: timeout_seconds has"):
        harness.expect(line in doctor.stdout, f"doctor does not say {line}: {doctor.stdout}")
    for path in (etc / "inquest.yaml", etc / "inquest.yaml.d/10-local.yaml"):
        path.unlink()
    doctor = runs.running.shell("inquest", "doctor", node="n1")
    harness.expect(doctor.returncode == 0, f"doctor: {doctor.stdout}")


@contextlib.contextmanager
def background(running, *command):
    process = subprocess.Popen([harness.HERE / "shell", "--name", running.name, "--", *command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.wait(timeout=LIMIT_S)


def flags_in_journal(running):
    """Flags of the first message of the step's journal on n1; None while there is none."""
    done = subprocess.run([harness.HERE / "shell", "--name", running.name, "--root", "--node", "n1", "--", "bash", "-c",
                           "cat /run/inquest/steps/*.0"], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if len(done.stdout) < JOURNAL_FLAGS_OFFSET + 4:
        return None
    return struct.unpack_from("<I", done.stdout, JOURNAL_FLAGS_OFFSET)[0]


def journal(runs):
    with background(runs.running, "srun", "--nodelist=n1", "--inquest-on-divergence=cancel", "sleep", "4"):
        deadline = time.monotonic() + LIMIT_S
        while (flags := flags_in_journal(runs.running)) is None and time.monotonic() < deadline:
            time.sleep(0.2)
    harness.expect(flags == 1, f"flags of the step's start: {flags}")


def explained(runs):
    """All settings are explained, and for a job that failed what became of them; of a healthy job only Slurm knows what it asked for."""
    settings = runs.running.output("inquest", "explain", "settings")
    for name in INJECTED:
        harness.expect(f"    {name}=" in settings, f"{name} is not explained")
    job = runs.running.output("env", "CUBLAS_WORKSPACE_CONFIG=:16:8", "sbatch", "--parsable", "--output=failed.out",
                              *OPTIONS, "--wrap", "srun sh -c 'exit 3'").strip()
    deadline = time.monotonic() + LIMIT_S
    while (told := runs.running.shell("inquest", "explain", "settings", job)).returncode != 0 and time.monotonic() < deadline:
        time.sleep(1)
    for line in ("Step 0, ", "set: NCCL_ALGO\n", "left alone: the job's user had set CUBLAS_WORKSPACE_CONFIG\n"):
        harness.expect(line in told.stdout, f"explain settings {job} does not say {line}: {told.stdout}{told.stderr}")
    healthy = runs.running.output("sbatch", "--parsable", "--wait", "--output=healthy.out", "--inquest-seed=3", "--wrap", "srun true").strip()
    deadline = time.monotonic() + LIMIT_S  # the accounting's record comes a moment later
    while "--inquest-seed=3" not in (told := runs.running.shell("inquest", "explain", "settings", healthy)).stderr and time.monotonic() < deadline:
        time.sleep(1)
    harness.expect(told.returncode == 3 and "--inquest-seed=3" in told.stderr, f"explain settings {healthy}: {told.stderr}")


CASES = (srun, export_none, users_own, heterogeneous, salloc, nested, refused, journal, explained, site)


def test():
    harness.require_inquest()
    with harness.cluster("settings", "--nodes", "2") as running:
        runs = Runs(running)
        for case in CASES:
            case(runs)
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return f"{len(INJECTED) + 1} settings read back by ranks of " + ", ".join(case.__name__ for case in CASES)


harness.main(test)
