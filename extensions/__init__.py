"""Extensions: parts that not everybody needs, each in a folder that nothing outside imports.

The entry points in `pyproject.toml` declare what they offer; `core/extensions.py` finds it there. None imports another.
Deleting one means deleting its folder, its entry points and its extra.

- `cell/`: `memento cell`: a robot cell, its simulated twin, and the domain that runs programs in it
- `exports/`: the targets of `memento export --to`: Parquet, Weights & Biases, MLflow, OpenTelemetry
- `mcp/`: `memento mcp`: a server of the Model Context Protocol, for coding agents
- `ray/`: rollouts on the nodes of a Ray cluster, for `--cluster`
- `rl/`: `memento baseline`: SAC with hindsight, trained and measured beside searches
"""
