"""The reference evaluator of Gymnasium's environments. It is loaded as text and runs in a sandbox."""
