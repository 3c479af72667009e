"""The machines that conversations are made of: charts as JSON, and the functions bound to their names."""
