"""Records what a rank does into its black box (docs/formats/black_box.md), without changing what it does.

Layout: sitecustomize.py starts importer.py, which notices imports; patches/ holds one small module per library; box.py
writes records through libinquest; place.py finds the user's line; lifecycle.py, exceptions.py and stacks.py
know the process itself; calls.py, works.py, phases.py and training.py are what several patches share;
seeds.py, patches/deterministic.py and patches/timeouts.py apply what the step's options ask for, nothing without them.

Rules: nothing here raises into the user's program; after an internal error the hook is silent for the rest of the
process; nothing synchronises a device or changes a number; standard library only, Python 3.8 or newer.
"""
