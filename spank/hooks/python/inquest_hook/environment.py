"""ENVIRONMENT records: versions and settings that explain differences between ranks."""
import os
import platform
import sys

from inquest_hook import format as box_format
from inquest_hook.box import box

MAX_VARIABLES = 96
MAX_VALUE_CHARACTERS = 256
PREFIXES = ("NCCL_", "TORCH_", "TORCHELASTIC_", "GLOO_", "CUDA_", "CUBLAS_")
NAMES = frozenset((
    "OMP_NUM_THREADS", "PYTHONHASHSEED", "MASTER_ADDR", "MASTER_PORT",
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"))
# Settings are injected under their old and new names, so that every version finds one. PyTorch warns on every rank
# where the old name is set although it knows the new one (c10d/Utils.hpp, seen with 2.13.0).
OUTDATED_SINCE = (2, 9)
OUTDATED = (("TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE"),
            ("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE"))
SECRET_PARTS = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "KEY")


def record(key, value):
    box.event(box_format.KIND_ENVIRONMENT, (None, None, key, value[:MAX_VALUE_CHARACTERS]))


def _is_secret(name):
    return any(part in name.upper() for part in SECRET_PARTS)


def record_process():
    record("python", platform.python_version())
    record("executable", sys.executable or "")
    record("host", platform.node())
    chosen = sorted(name for name in os.environ if name in NAMES or name.startswith(PREFIXES))
    for name in chosen[:MAX_VARIABLES]:
        record(name, "(hidden)" if _is_secret(name) else os.environ[name])


def record_torch(torch):
    record("torch", str(torch.__version__))


def _version(torch):
    """(major, minor) of a torch, (0, 0) when its version reads otherwise."""
    parts = str(torch.__version__).split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 1 and (parts[0] + parts[1]).isdigit() else (0, 0)


def drop_outdated_names(torch):
    """Takes the old names that Inquest injected away from a torch that knows the new ones."""
    if _version(torch) < OUTDATED_SINCE:
        return
    injected = os.environ.get("INQUEST_INJECTED", "").split(",")
    for old, new in OUTDATED:
        if old in injected and new in os.environ:
            os.environ.pop(old, None)
