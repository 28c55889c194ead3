"""The parts of tests/lab/run."""
