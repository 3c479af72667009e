"""Models on this machine: the embedded one, files of the user, and the child processes that serve them."""
