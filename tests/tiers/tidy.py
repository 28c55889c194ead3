"""clang-tidy over all of the project's translation units, with a cache: a result is kept under the digest of everything that
it depends on (tool, rules, compile command, the file and every header of the project), so that only changed files cost time."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess

from sources import ROOT

BUILD = ROOT / "build/ci"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "inquest-tidy"  # clones share it
TOOL = "clang-tidy-14"
FOLDERS = ("spank", "epilog", "analyzer")


def dependencies():
    """For each object file of the build, the project's files that it was made from."""
    text = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in text.splitlines():
        if line and not line.startswith(" "):
            current = found.setdefault(line.split(":")[0], [])
        elif line:
            path = (BUILD / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
    return found


def units():
    """The project's compile commands, one for each source file."""
    chosen = {}
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(command["file"])
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
            chosen.setdefault(path, command)
    return list(chosen.values())


def key(command, headers, common):
    digest = hashlib.sha256(common + command["command"].replace(str(ROOT), "").encode())
    for path in sorted({pathlib.Path(command["file"]), *headers}):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def check(command, name):
    """Returns None when the file is clean, else what clang-tidy says."""
    if (CACHE / name).exists():
        return None
    result = subprocess.run([TOOL, "--quiet", "-p", BUILD, command["file"]], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if result.returncode == 0:
        (CACHE / name).touch()
        return None
    return result.stdout


def run():
    """Returns the number of files looked at and the complaints."""
    CACHE.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    made_from = dependencies()
    work = [(command, key(command, made_from.get(command.get("output", ""), []), common)) for command in units()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda item: check(*item), work))
    return len(work), [text for text in complaints if text]
