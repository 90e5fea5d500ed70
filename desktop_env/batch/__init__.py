"""Batches of episodes: the journal, the engines that run them, studies, and scoring again."""
