"""Learned baselines: agents that are trained on the tasks, to compare a search with. Not part of any search.

    arm          a training as an arm of a comparison, on the same unseen episodes
    checkpoints  checkpoints of a training: networks, optimisers, replay buffer, random generators and counters
    command      `memento baseline`: trains a learned baseline and measures it as a search is measured
    command_text  what `memento baseline`, `memento show` and `memento resume` print of a baseline's run
    log          the log of a baseline's run: one JSON object per line, appended and flushed to the disk
    pace         the pace of a training: steps per second, the time that is left, and what more steps would cost. Pure
    results      the result of a baseline's run, from its log. Imports no simulator
    run          one run of a baseline: a new one, or one that continues; the training, then the final measure
    sac_her      SAC with hindsight as a training: what comparisons, reports and the commands on runs ask of it
    settings     the settings of a learned baseline: SAC with hindsight, and the task that it learns
    tasks        the tasks that a baseline learns: environments for the training, and episodes of the final measure
    training     trains SAC with hindsight by the library stable-baselines3
    workers      environments in a few worker processes, each of which holds several: one message per process and step
"""
