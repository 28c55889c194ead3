"""The project's own source files, as git knows them."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".c", ".h", ".cpp", ".py", ".bash", ".cmake")


def files():
    """Tracked and new files that are not ignored, as paths relative to the root."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.split("\0")
    return [pathlib.Path(name) for name in names if name and (ROOT / name).is_file()]


def interpreter(path):
    """Name of the interpreter in a script's first line, or an empty string."""
    with open(ROOT / path, "rb") as file:
        first = file.readline(200).decode(errors="replace")
    return first.split("/")[-1].split()[-1] if first.startswith("#!") and first.strip() else ""


def code():
    """All code: known suffixes, and scripts without one."""
    return [path for path in files() if path.suffix in CODE or (not path.suffix and interpreter(path))]


def c_family():
    return [path for path in files() if path.suffix in (".c", ".h", ".cpp")]


def shell():
    return [path for path in code() if path.suffix == ".bash" or interpreter(path) in ("sh", "bash")]


def python():
    return [path for path in code() if path.suffix == ".py" or interpreter(path).startswith("python")]
