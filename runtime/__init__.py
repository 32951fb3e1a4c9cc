"""Processes and clients: the bus, the supervisor, the rollout pool, the sandbox, the language models.

    bus         the event bus: append, commit, publish
    clock       the clock of the machine
    pictures    pictures of a playback with captions, and several of them on one sheet
    prompts     prompt files: Markdown with a header that lists the variables, filled strictly and only once
    servers     small read-only web servers, bounded and for this machine: the status of a headless run
    supervisor  the supervisor: the one TaskGroup
"""
