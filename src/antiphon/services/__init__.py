"""What machines need from outside: registries, drivers and the actors behind the names in their charts."""
