"""`memento mcp`: a server of the Model Context Protocol over stdin and stdout, for coding agents.

It offers what the commands do, with the functions of `api/`, `app/` and `memory/`, and the same rules. Only
`mcp_server/server.py` imports the protocol's package, so its tools can be called without it.
"""
