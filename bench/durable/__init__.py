"""One module per child process of `runtime.py`: durable loops that take turns, and figures that print one line."""
