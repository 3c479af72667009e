"""One module per library: each plays the same four machines as a child process of the driver."""
