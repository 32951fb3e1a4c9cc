"""`memento mcp`: a server of the Model Context Protocol over stdin and stdout, for coding agents.

It offers what the commands do, with the functions of `app/` and `memory/`, and the same rules. Only
`extensions/mcp/server.py` imports the protocol's package, so its tools can be called without it.

    acting    the tools that act: start, stop, pause and continue runs, give hints
    command   the command itself: its flags, and what it allows agents to spend
    reading   the tools that read: runs, candidates, differences, metrics, reports
    results   results of tools: of bounded size, printable, and with the texts of programs and models marked as such
    run_names  which runs the tools may name: those in the folder of runs, by name
    skill     how an agent should use MEMENTO, as a Markdown file for coding agents
    server    the server: offers the tools over stdin and stdout, each call with a deadline
    spending  what runs that the server starts may spend: nothing, or what the person who started the server allowed
"""
