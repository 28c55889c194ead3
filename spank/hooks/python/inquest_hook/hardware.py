"""ENVIRONMENT records of what makes two ranks compute differently: processor, threads, device, libraries. Initialises nothing."""
import sys

from inquest_hook import environment
from inquest_hook.errors import show


def record():
    torch = sys.modules["torch"]
    for key, read in _SOURCES:
        try:
            value = read(torch)
        except Exception:
            show()
            continue
        if value is not None:
            environment.record(key, str(value))


def _processor(torch):
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith(("model name", "CPU part")):
                return line.split(":", 1)[1].strip()
    return None


def _with_device(read):
    """Asks about a device only when the program uses it. Not is_available(): it starts the driver, which no child of a fork
    can do again."""
    return lambda torch: read(torch) if torch.cuda.is_initialized() else None


def _capability(torch):
    return torch.backends.cpu.get_cpu_capability()


def _version_of(name):
    return lambda torch: getattr(torch.version, name, None)


_SOURCES = (
    ("torch.git", _version_of("git_version")),
    ("torch.cuda", _version_of("cuda")),
    ("torch.hip", _version_of("hip")),
    ("cpu", _processor),
    ("cpu.capability", _capability),
    ("cpu.threads", lambda torch: torch.get_num_threads()),
    ("device", _with_device(lambda torch: torch.cuda.get_device_name())),
    ("device.capability", _with_device(lambda torch: torch.cuda.get_device_capability())),
    ("device.driver", _with_device(lambda torch: torch._C._cuda_getDriverVersion())),
    ("cudnn", _with_device(lambda torch: torch.backends.cudnn.version())),
    ("nccl", _with_device(lambda torch: torch.cuda.nccl.version())),
)
