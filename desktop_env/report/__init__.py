"""What a run's results say: records read from disk, statistics, failure facts, comparison, and how they are shown."""
