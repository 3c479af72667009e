"""Help on all commands: pages like those of `man`, and completion in shells."""
