"""CHILD_END records."""
from inquest_hook import format as box_format
from inquest_hook.box import box, guarded


@guarded
def record(pid, returncode, was_told):
    """`returncode` as subprocess has it: minus the number of the signal that ended the process."""
    if not box.active:
        return
    wait_status = -returncode if returncode < 0 else returncode << 8
    box.event(box_format.KIND_CHILD_END, (), (0, pid, wait_status, int(was_told)))
