"""Files and conversations of the benchmark of threads."""
