"""Where in the user's own code a call came from.

Not the user's: the standard library, everything in site-packages or dist-packages, torch wherever it is, scripts in the
interpreter's bin folder (torchrun) and this hook. A program given with -c or on standard input has no file: it is
the user's when its module is __main__.
"""
import os
import sys

from inquest_hook.box import box

MAX_FRAMES = 256
MAX_CODES = 4096

_own_folder = os.path.dirname(os.path.abspath(__file__)) + os.sep
_foreign_prefixes = [
    _own_folder,
    os.path.dirname(os.path.abspath(os.__file__)) + os.sep,
    os.path.join(sys.prefix, "bin") + os.sep,
    os.path.join(sys.base_prefix, "bin") + os.sep,
]
_foreign_parts = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_NOT_USER = (0, 0)
_known = {}  # code object -> (file identifier, function identifier) or _NOT_USER
box.forget_hooks.append(_known.clear)


def add_foreign_folder(folder):
    """Torch may be a source build outside site-packages."""
    _foreign_prefixes.append(os.path.abspath(folder) + os.sep)


def is_user_frame(frame):
    name = frame.f_code.co_filename
    if name.startswith("<"):
        return name in ("<string>", "<stdin>") and frame.f_globals.get("__name__") == "__main__"
    path = os.path.abspath(name)
    return not path.startswith(tuple(_foreign_prefixes)) and not any(part in path for part in _foreign_parts)


def _file_of(code):
    name = code.co_filename
    return name if name.startswith("<") else os.path.abspath(name)


def _classify(frame):
    if len(_known) > MAX_CODES:
        _known.clear()
    code = frame.f_code
    place = _NOT_USER
    if is_user_frame(frame):
        place = (box.text(_file_of(code)), box.text(code.co_name))
    _known[code] = place
    return place


def nearest(frame):
    """(file identifier, function identifier, line) of the nearest user frame at or above `frame`, zeros for none."""
    known = _known
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        place = known.get(frame.f_code)
        if place is None:
            place = _classify(frame)
        if place is not _NOT_USER:
            return place[0], place[1], frame.f_lineno
        frame = frame.f_back
    return 0, 0, 0


def nearest_texts(frame):
    """The same as (file, function, line) with texts, (None, None, 0) for none."""
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        if is_user_frame(frame):
            return _file_of(frame.f_code), frame.f_code.co_name, frame.f_lineno or 0
        frame = frame.f_back
    return None, None, 0


def innermost(traceback):
    """(file, function, line) of the innermost user frame of a traceback, else of its innermost frame."""
    chosen = last = None
    while traceback is not None:
        last = traceback
        if is_user_frame(traceback.tb_frame):
            chosen = traceback
        traceback = traceback.tb_next
    chosen = chosen or last
    if chosen is None:
        return None, None, 0
    code = chosen.tb_frame.f_code
    return _file_of(code), code.co_name, chosen.tb_lineno or 0
