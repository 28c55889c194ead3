"""CHILD_END records."""
import signal

from inquest_hook import format as box_format
from inquest_hook.box import box, guarded

MAX_RECORDS = 160  # the events ring holds 1024 records of all kinds
MAX_TOLD = 64  # of them: a program may end its helpers in a loop
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)


class Written:
    def __init__(self):
        self.reset()
        box.forget_hooks.append(self.reset)

    def reset(self):
        self.records = 0
        self.told = 0

    def has_room(self, was_told):
        """Counts one more record if it may be written."""
        if self.records >= MAX_RECORDS or was_told and self.told >= MAX_TOLD:
            return False
        self.records += 1
        self.told += was_told
        return True


written = Written()


@guarded
def record(pid, returncode, was_told):
    """`returncode` as subprocess has it: minus the number of the signal that ended the process. One that crashed before it was
    told to end, which nobody had noticed yet, ended by itself."""
    was_told = was_told and -returncode in ENDING_SIGNALS
    if not box.active or not written.has_room(was_told):
        return
    wait_status = -returncode if returncode < 0 else returncode << 8
    box.event(box_format.KIND_CHILD_END, (), (0, pid, wait_status, int(was_told)))
