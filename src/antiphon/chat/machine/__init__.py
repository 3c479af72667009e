"""The machine of a chat, pure: its chart and what its functions compute."""
