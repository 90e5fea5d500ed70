"""What the oracle can do on the screen. A skill is a generator of actions; see `desktop_env.agents.skills.desk`."""
