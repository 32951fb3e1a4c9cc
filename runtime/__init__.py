"""Processes and clients: the bus, the supervisor, the rollout pool, the sandbox, the language models.

    bus            the event bus: orders to their addressee; facts on disk, then to everyone
    clock          the clock of the machine
    lanes          lanes: orders of some kinds, carried out a bounded number at a time
    page_server    a small read-only web server for one page that changes
    pictures       pictures of a playback with captions, and several of them on one sheet
    prompts        prompt files: Markdown with a header that lists the variables, filled strictly and only once
    servers        what small read-only web servers of this machine share
    status_server  a small read-only web server that tells how a headless run is going
    supervisor     the supervisor: the one TaskGroup
"""
