"""Persistent data: the log of facts, trajectories, and queries about a run. Imports only core.

    activity          the current activity of a live run: its open orders and its workers' tasks
    audits            the result of an audit of a run's evaluator, in a file of the run's folder
    card              the card of a run: how much of its result was luck, what its episodes were for
    codec             lossless conversion of facts to JSON and back; texts and repeated values are stored once
    database          the SQLite database of a run: its connections
    evaluator_pools   the course of evaluator evolution from the facts: each generation's pool, votes and choice
    fresh_file        the file of the fresh episodes of a ranking
    gate_report       how often the gate was right: what it stopped
    lock              the writer's lock on a run folder: the kernel holds it for a living process
    lookup            the record of one policy, evaluator, vote or attempt, read from the store on request
    migrations        the tables of a run's database, as numbered migrations
    noting            keeps a small file with the current activity in a live run's folder, for `memento watch`
    notes             what a reader has to know of a run before its figures are believed, in a sentence each
    origin            whether this installation wrote a run
    pace              how fast a policy is: the CPU time of its calls, and how long one of its episodes takes
    quality           the quality of a program as a run states it: on episodes that did not select it
    contenders        the programs of a run that are worth fresh episodes
    retention_policy  which recordings of a run stay on disk, and which are dropped first if they take too much space
    run_status        the status of a run: a value of constant size, updated fact by fact
    run_view          the view of a run, from its facts: its status (`RunStatus`) and the outcome of every order
    runs              the runs folder: naming a new run, and finding a run by name, path or prefix of its name
    saved_episodes    counts the saved episodes: for each candidate, the episodes of T_0 minus those rolled out for it
    slots             the outcome of every order of a run: one `Slot` per candidate, evaluator and vote
    spending          the usage of a run's model calls, and the calls themselves, from its facts
    sqlite_library    sqlite_utils, imported without pandas
    store             the store of one run: an append-only log of facts in SQLite; requests to its controller
    store_errors      errors of a run's store, as a StoreError that names the run, the problem and the fix
    tail              reads a run's log next to its writer: read-only, piece by piece
"""
