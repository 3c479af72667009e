"""Input from terminals: the line editor, plain lines, keys, signals and terminal modes."""
