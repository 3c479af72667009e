"""What tests of Antiphon, and of charts built on it, can lean on."""
