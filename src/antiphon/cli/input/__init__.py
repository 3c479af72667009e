"""Input from terminals: lines, keys, signals, and waiting that Ctrl-C ends."""
