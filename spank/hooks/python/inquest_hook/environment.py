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
SECRET_PARTS = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "KEY")


def _record(key, value):
    box.event(box_format.KIND_ENVIRONMENT, (None, None, key, value[:MAX_VALUE_CHARACTERS]))


def _is_secret(name):
    return any(part in name.upper() for part in SECRET_PARTS)


def record_process():
    _record("python", platform.python_version())
    _record("executable", sys.executable or "")
    _record("host", platform.node())
    chosen = sorted(name for name in os.environ if name in NAMES or name.startswith(PREFIXES))
    for name in chosen[:MAX_VARIABLES]:
        _record(name, "(hidden)" if _is_secret(name) else os.environ[name])


def record_torch(torch):
    _record("torch", str(torch.__version__))
