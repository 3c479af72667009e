"""The machine of a debate, pure: its chart and what its functions compute."""
