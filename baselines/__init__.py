"""Learned baselines: agents that are trained on the tasks, to compare a search with. Not part of any search.

    checkpoints  checkpoints of a training: networks, optimisers, replay buffer, random generators and counters
    log          the log of a baseline's run: one JSON object per line, appended and flushed to the disk
    run          one run of a baseline: a new one, or one that continues; the training, then the final measure
    settings     the settings of a learned baseline: SAC with hindsight, and the task that it learns
    tasks        the tasks that a baseline learns: environments for the training, and episodes of the final measure
    training     trains SAC with hindsight by the library stable-baselines3
    workers      environments in a few worker processes, each of which holds several: one message per process and step
"""
