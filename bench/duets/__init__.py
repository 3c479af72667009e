"""The children of `runs.py`: one module for each contestant of the loop of two agents."""
