"""Execution of generated programs: the pool of worker processes, the sandboxed program processes, their messages.

    ahead            Episodes that are rolled out ahead: by workers that would be idle, before anybody has ordered them
    episode_notes    what a rollout notes of an episode, from the policy's process and the recording
    evaluator_calls  one call of an evaluator program over one recording, and what makes an evaluator valid
    fault_text       the text of faults: bounded, and identical on every machine and in every run
    generic_story    the story of a recording of any domain: what moved, its largest changes, the last steps
    limits           resource limits of generated programs and workers
    memory_kills     how many processes the kernel ended since memory was short
    owned_process    A process of the controller's own, with a channel to it: start it, keep the end of its output
    policy_notes     the trusted side of what a policy says of itself: stages and report, bounded and checked
    policy_process   A policy in its own process, from the worker's side: observations in, actions out
    pool             the rollout pool: runs episodes and evaluator calls on worker processes, first come, first served
    probes           probes on record, inside a worker: cut rollouts, an idle and a random episode
    program          the inside of a program process: load the generated text, run it as policy or evaluator
    program_frames   length-prefixed frames over a stream socket, for both sides of a program process
    program_json     the inside of a program process: values of a program as JSON. Standard library and numpy only
    program_notes    the inside of a program process: what a policy says of itself
    program_process  the trusted side of a program process: start it, exchange frames, check the answers, end it
    repeatable       clocks and entropy inside a program process, derived from the episode's seed
    repeats          whether an environment keeps something of earlier episodes: one that counted is played again
    sheets           draws sheets of recorded episodes for a critic, in a worker
    simulating       what simulators raise, in a worker: a failure of theirs, not of MEMENTO and not of a policy
    story_text       the story of an episode as the bounded text that models read
    tracks           the numbers of a recording over time: which lead every trace of a task, which say most
    twins            whether one program can run in two environments: a domain's own and its cheap twin
    worker           the trusted worker process: steps the environment, records, computes success, isolates programs
    worker_handle    the controller's hold on one worker process: start it, give it a task, read its answer
    worker_messages  messages between the controller and a worker: a JSON header and raw bytes, each with its length
    worker_slots     places for worker processes: a task takes one, tries it and frees it
    zygote           the warm process of a worker: it forks a fresh process for each program and ends it
"""
