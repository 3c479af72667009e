"""The user's configuration: settings, keys and templates, and the commands that change them."""
