"""The reference evaluator of robosuite's tasks. It is loaded as text and runs in a sandbox."""
