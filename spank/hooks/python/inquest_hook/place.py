"""Where in the user's own code a call came from.

Not the user's: the machinery (the standard library, torch wherever it is, scripts in the interpreter's bin folder such as
torchrun, this hook) and libraries (everything in site-packages or dist-packages). A program that is a library itself
still has a place: without a frame of the user the nearest frame of a library is taken, never one of the machinery.
A program given with -c or on standard input has no file: it is the user's when its module is __main__.
"""
import os
import sys

from inquest_hook.box import box

MAX_FRAMES = 256
MAX_CODES = 4096

MACHINERY, LIBRARY, USER = 0, 1, 2

_machinery_prefixes = [
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    os.path.join(sys.prefix, "bin") + os.sep,
    os.path.join(sys.base_prefix, "bin") + os.sep,
]
_standard_library = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_library_parts = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_known = {}  # id of a code object -> _Code, which keeps the code object and with it the id; hashing code objects is slow
box.forget_hooks.append(_known.clear)


class _Code:
    """What is known about one code object. `places`: instruction -> (file identifier, function identifier, line); to find the
    line of an instruction is slow in a long function."""

    __slots__ = ("owner", "places", "_code", "_texts")

    def __init__(self, code, owner):
        self.owner = owner
        self.places = {}
        self._code = code
        self._texts = (0, 0) if owner == MACHINERY else (box.text(_file_of(code)), box.text(code.co_name))

    def place(self, frame):
        found = self.places[frame.f_lasti] = self._texts + (frame.f_lineno or 0,)
        return found


def add_machinery(folder):
    """Torch is in site-packages, but its frames say nothing; and it may be a source build elsewhere."""
    _machinery_prefixes.append(os.path.abspath(folder) + os.sep)


def _owner_of_path(path):
    if path.startswith(tuple(_machinery_prefixes)):
        return MACHINERY
    if any(part in path for part in _library_parts):
        return LIBRARY
    return MACHINERY if path.startswith(_standard_library) else USER


def owner(frame):
    name = frame.f_code.co_filename
    if not name.startswith("<"):
        return _owner_of_path(os.path.abspath(name))
    is_main = name in ("<string>", "<stdin>") and frame.f_globals.get("__name__") == "__main__"
    return USER if is_main else MACHINERY


def _file_of(code):
    name = code.co_filename
    return name if name.startswith("<") else os.path.abspath(name)


def _classify(frame):
    if len(_known) > MAX_CODES:
        _known.clear()
    code = frame.f_code
    known = _known[id(code)] = _Code(code, owner(frame))
    return known


def nearest(frame):
    """(file identifier, function identifier, line) of the nearest frame of the user at or above `frame`, zeros for none."""
    find = _known.get
    library = None
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        known = find(id(frame.f_code)) or _classify(frame)
        if known.owner == USER:
            return known.places.get(frame.f_lasti) or known.place(frame)
        if known.owner == LIBRARY and library is None:
            library = known.places.get(frame.f_lasti) or known.place(frame)
        frame = frame.f_back
    return library or (0, 0, 0)


def _frames_above(frame):
    for _ in range(MAX_FRAMES):
        if frame is None:
            return
        yield frame, frame.f_lineno
        frame = frame.f_back


def _frames_of(traceback):
    """Innermost first."""
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return reversed(frames)


def _best_of(frames):
    """(file, function, line) as texts of the first frame of the user, else of a library; (None, None, 0) for none."""
    best, best_owner = (None, None, 0), MACHINERY
    for frame, line in frames:
        found = owner(frame)
        if found > best_owner:
            best, best_owner = (_file_of(frame.f_code), frame.f_code.co_name, line or 0), found
        if best_owner == USER:
            break
    return best


def nearest_texts(frame):
    """The same as nearest(), with texts."""
    return _best_of(_frames_above(frame))


def innermost(traceback):
    """Place of an exception: the innermost frame of the user."""
    return _best_of(_frames_of(traceback))


def is_user_frame(frame):
    return owner(frame) == USER
