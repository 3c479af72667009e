"""The five documents that Antiphon grew from, read line by line against the code."""
