"""The viewer of runs in a browser: a small server for this machine alone, and plain ES modules."""
