"""Of the tests' ranks: the hook's own sitecustomize.py, which is found first, chains to it."""
import gloo_threads

gloo_threads.register()
