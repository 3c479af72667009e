"""The sandbox of commands: what this machine can enforce, and the layers that do it."""

from antiphon.tools.sandbox.detection import Sandbox, find_sandbox

__all__ = ["Sandbox", "find_sandbox"]
