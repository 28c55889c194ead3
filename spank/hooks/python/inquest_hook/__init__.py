"""Records what a rank does into its black box (docs/formats/black_box.md), without changing what it does.

Layout: sitecustomize.py starts importer.py, which notices imports; patches/ holds one small module per library; box.py
writes records through libinquest; place.py finds the user's line; lifecycle.py, exceptions.py and stacks.py
know the process itself; transparent.py, calls.py, works.py, phases.py and training.py are what several patches share;
milestones.py decides when the replicas' state is digested, digests.py writes it, schedule.py keeps its cost within its share,
trained.py, agreement.py and naming.py know what is digested; loaders.py, samplers.py and sketches.py are about the data;
seeds.py, patches/deterministic.py and patches/timeouts.py apply what the step's options ask for, nothing without them.

Rules: nothing here raises into the user's program; after an internal error the hook is silent for the rest of the
process; nothing changes a number; nothing synchronises a device, except the digests of tensors on one, once per checkpoint;
standard library only, Python 3.8 or newer.
"""
