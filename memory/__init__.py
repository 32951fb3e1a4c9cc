"""What outlives a process: the log of facts, trajectories, and questions about a run. Imports only core."""
