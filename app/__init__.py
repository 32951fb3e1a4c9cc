"""The composition root: the only package that knows concrete classes. It wires them for a run or an evaluation.

    ahead             rolling ahead: whether a run does it, and what joins a search to the idle workers
    api/              MEMENTO from Python: what notebooks and scripts call
    audit             `memento audit`: rolls out programs that do not do the task
    breeding          breeds programs that an evaluator likes although they never succeed, for an audit
    budgets           the budgets of a run from its settings, the checks before anything is spent, and the active time
    cluster           the machines that roll out: this one, or the nodes of a cluster
    drawing_worker    the worker that draws the sheets of a run, and the check that it can
    estimate          `memento run --estimate`: the calls, tokens and dollars of a run as a range
    estimate_samples  made-up programs, scores and orders of a stated size, to fill the real prompts for an estimate
    estimated_calls   the kinds of model calls of a run, and how many of each
    evaluation        `memento evaluate`: rolls one policy file out and scores its episodes
    exploits          the exploits that a user keeps: a folder of policies, with which later attacks begin
    gate_twin         the twin for the gate of a run, and the check that programs run in it
    given_files       files that a user gives: programs, and a folder of prompts
    given_prompts     the prompts that a user gives in a folder with `--prompts`
    hints             a person's hints to a run: how one is given, and on which runs it can have an effect
    history           the state of a resumed run from its log
    isolation         the layers that isolate generated programs on this machine, and the messages if some are missing
    kept_sheets       the pictures of a critic's looks in a run's folder: each stays as long as its recording
    launching         starts runs in separate processes, which outlive this one
    log               sends the controller's log lines to stderr, warnings and worse only; the display shows the rest
    past_runs         what past runs tell of a new one: calls, tokens, dollars and time
    picture_files     files of an episode's captioned pictures: an MP4, a GIF, or a PNG with one moment or a sheet
    plan              the inputs of a run's decisions, from its settings
    rank              `memento rank`: the best programs of a run on fresh common episodes
    rank_rows         the rows of a ranking: means with intervals, and each program against the run's
    recorded_runs     where a replay finds a recorded run, in its folder or in a file, and how a run becomes such a file
    recorded_state    the state of a run just before it ordered a proposal, rebuilt from the log
    rendering         the recording of one episode to draw: the stored one of a run
    recordings_elsewhere  recordings that stay on the nodes of a cluster: how they come here, or are made again
    replay            A recorded run for a replay: in its folder, or as a tape
    requests          the requests that people leave for a run: how a hint is given
    results           the results of commands, the JSON object that each prints for scripts
    retention         keeps the recordings of a run within bounds: at the end of each generation
    run               `memento run` and `memento resume`: a run from its settings or its log to its result
    session           one session of a run: a controller that reads the log and drives the run
    sight             checks that the models which get pictures take them, before a run begins
    status            the status of a headless run over HTTP: its progress, spending and workers
    trust             trust in a run's folder: the question before a folder from elsewhere is used
    what_if           `memento what-if`: further draws of recorded proposals, from the states before their orders
    what_if_arms      the figures of a what-if's arms against its first one
    what_if_figures   the figures of what-ifs: draws against their parents, arms against each other
    what_if_rows      the rows of a what-if's result: draws, states, arms and their differences
    wiring            the assignment of orders to agents, models and lanes
"""

from ..core.seeds import new_salt
from . import log  # noqa: F401 - before all that import structlog
from .cluster import Cluster
from .evaluation import evaluate
from .recorded_runs import replay_settings
from .run import resume, run
from .status import StatusAddress

__all__ = ["Cluster", "StatusAddress", "evaluate", "new_salt", "replay_settings", "resume", "run"]
