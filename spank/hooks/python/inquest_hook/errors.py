"""Internal errors are silent, except for the hook's own tests and for whoever reports a problem with it."""
import os


def show():
    """Prints the error being handled when INQUEST_HOOK_DEBUG=1."""
    if os.environ.get("INQUEST_HOOK_DEBUG") == "1":
        import traceback

        traceback.print_exc()
