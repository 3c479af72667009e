"""The embedded model: its weights, the child process that runs them, and asking it."""
