"""Records what a rank does into its black box (docs/formats/black_box.md), without changing what it does.

Layout: importer.py notices imports; patches/ holds one small module per library; box.py writes records through
libinquest; place.py finds the user's line; lifecycle.py, exceptions.py and stacks.py
know the process itself; calls.py, works.py, phases.py and training.py are what several patches share.

Rules: nothing here raises into the user's program; after an internal error the hook is silent for the rest of the
process; nothing synchronises a device or changes a number; standard library only, Python 3.8 or newer.
"""


_started = []


def start():
    """Called at interpreter start-up. Cheap: everything else waits until torch is imported."""
    if _started:
        return
    _started.append(True)
    from inquest_hook import excepthook, importer

    importer.install()
    excepthook.install()
