"""The composition root: the only package that knows concrete classes. It wires them for a run or an evaluation.

    api/              MEMENTO from Python: what notebooks and scripts call
    ahead             rolling ahead: whether a run does it, and what joins a search to the idle workers
    attacking         attacks on evaluators: breeds programs that an evaluator likes although they never succeed
    audit             `memento audit`: rolls out programs that do not do the task
    budgets           the budgets of a run from its settings, the checks before anything is spent, and the active time
    cell              `memento cell`: checks a robot cell, and runs a policy in it
    cluster           the machines that roll out: this one, or the nodes of a cluster
    estimate          `memento run --estimate`: the calls, tokens and dollars of a run as a range
    estimated_calls   the kinds of model calls of a run, and how many of each
    estimate_samples  made-up programs, scores and orders of a stated size, to fill the real prompts for an estimate
    evaluation        `memento evaluate`: rolls one policy file out and scores its episodes
    given_files       files that a user gives: programs, and a folder of prompts
    history           the state of a resumed run from its log
    launching         starts runs in separate processes, which outlive this one
    log               sends the controller's log lines to stderr, warnings and worse only; the display shows the rest
    past_runs         what past runs tell of a new one: calls, tokens, dollars and time
    plan              the inputs of a run's decisions, from its settings
    rank              `memento rank`: the best programs of a run on fresh common episodes
    rendering         the recording of one episode to draw: the stored one of a run
    recorded_state    the state of a run just before it ordered a proposal, rebuilt from the log
    replay            A recorded run for a replay: in its folder, or as a tape
    requests          the requests that people leave for a run: how a hint is given
    required          what must hold before a run begins: trust in its folder, isolation, a twin for its gate
    results           the results of commands, the JSON object that each prints for scripts
    retention         keeps the recordings of a run within bounds: at the end of each generation
    run               `memento run` and `memento resume`: a run from its settings or its log to its result
    session           one session of a run: a controller that reads the log and drives the run
    status            the status of a headless run over HTTP: its progress, spending and workers
    what_if           `memento what-if`: further draws of recorded proposals, from the states before their orders
    what_if_figures   the figures of what-ifs: draws against their parents, arms against each other
    wiring            the assignment of orders to agents, models and lanes
"""

from ..core.seeds import new_salt
from .cluster import Cluster
from .evaluation import evaluate
from .replay import replay_settings
from .run import resume, run
from .status import StatusAddress

__all__ = ["Cluster", "StatusAddress", "evaluate", "new_salt", "replay_settings", "resume", "run"]
