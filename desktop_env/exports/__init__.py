"""A run in the forms of others: OSWorld's results tree, ATIF trajectories, CSV."""
