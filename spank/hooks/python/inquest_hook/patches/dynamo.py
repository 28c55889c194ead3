"""torch.compile: the hook's own frames are never compiled.

Without this the code around a backward call inside a compiled region is itself compiled, which breaks graphs and prints
warnings about the hook. torch._dynamo.trace_rules.add exists since torch 2.2.
"""


def apply(trace_rules):
    trace_rules.add("inquest_hook")
