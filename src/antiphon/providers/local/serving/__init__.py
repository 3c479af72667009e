"""The program that runs in the child process of the embedded model."""
