"""The engine on NumPy can be collected only where NumPy is; `make local` installs it."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("numpy") else ["test_arithmetic.py"]
