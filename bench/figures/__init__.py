"""One module per figure about growth: each is a child process that prints one line of JSON."""
