"""Ranks of process groups, and lists of ranks as a text."""
import sys

MAX_RANKS_CHARACTERS = 1000


def ranks_text(ranks):
    """"0-3" or "0,2,5-7"; cut after a whole number when it is long."""
    parts = []
    for rank in sorted(ranks):
        if parts and parts[-1][1] == rank - 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    text = ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in parts)
    if len(text) > MAX_RANKS_CHARACTERS:
        text = text[: text.rfind(",", 0, MAX_RANKS_CHARACTERS)]
    return text


def ranks_of(group):
    """Global ranks of a process group; none of one that torch does not know (replacements by libraries)."""
    try:
        return sys.modules["torch.distributed.distributed_c10d"].get_process_group_ranks(group)
    except Exception:
        return []
