"""The command line: `memento`. Results go to stdout, everything else to stderr.

Exit codes: 0 done, 2 usage or settings, 3 fault, 130 interrupted; 1 from `memento doctor` if something essential is
missing, and from `memento evaluate` if every episode failed. A command's module holds its flags and what it does;
`commands` collects them. Nothing heavy is imported before a command needs it, so that `memento --help` is fast.

    audit               `memento audit`: how often programs please an evaluator without doing the task
    audit_text          the result of an audit as text or JSON, its worst programs as files
    browser             `memento watch --browser`: the terminal UI in a browser, served on this machine
    choices             the choices that help and completion list
    commands            the command line as a Typer app: collects the commands, each from its module
    typer_classes       the classes of commands and groups, and errors in this project's form
    compare             `memento compare`: methods × seeds at an equal budget
    comparison          runs a planned comparison and prints its result
    comparison_plan     plans `memento compare`: a new comparison, or an existing one, which may grow
    comparison_results  the results of a comparison so far: the state of each run, its measures, and its failures
    completion          `memento completion`, and the candidates for a shell at the Tab key
    doctor              `memento doctor`: checks of this machine, with a fix for each problem
    doctor_checks       the checks of `memento doctor`: software, machine, isolation, renderers and keys
    doctor_cluster      every node of a cluster, and whether it can be used from here, for `memento doctor --cluster`
    drawing             draws one episode for `memento render`: loads it or rolls it out
    estimates           what `--estimate` prints: what models would be asked, with what it assumes
    evaluate            `memento evaluate`: a policy file, rolled out
    execution           runs long work: serves its status, ends it cleanly on a signal, and prints a run's result
    export              `memento export`: the program of a candidate as a file, or a run for another tool
    export_run          the work of `memento export`: a candidate's program as a file, or the log of a run for a sink
    flags               flags and arguments that several commands share
    front               the pages that need no command: the start page, the help on all commands, the version
    gallery             `memento gallery`: programs that language models evolved, and whether they still hold
    kitchen             `memento kitchen`: commands for the kitchen domain alone
    lists               `memento domains`, `memento methods`, `memento settings` and `memento models`
    look                the options for drawing an episode, and their checks
    new_run             starts a run from settings, or repeats one from its recorded replies
    output              what commands print: results and tables go to stdout, everything else to stderr
    paper_words         what is said of the paper's setting: in the first lines of a run, and in the estimate of a
    program_file        writes the program of a candidate to a new file
    rank                `memento rank`: the best programs of a run on fresh episodes
    render              `memento render`: an episode of a run's candidate, or of a policy file, as a film or a picture
    report              `memento report`: one page, and the rows behind it, from runs or from a comparison
    report_follow       the work of `memento report --follow`: serves a page while its runs go on
    report_outputs      the outputs of `memento report`: a page, the rows behind it, an archive
    result_text         results as a few plain lines of text
    resume              `memento resume`: continue a run from its last fact
    run                 `memento run`: a new run, or a finished one repeated from its recorded replies
    show                `memento show`: the list of runs, one run, or one candidate or vote of it
    show_candidate      one item of a run as text: a policy, an evaluator, a judge's vote or an attempt
    show_reading        the work of `memento show`: reads the list of runs, one run, or one candidate or vote
    show_run            one run on one screen
    stop                `memento stop`, `memento pause` and `memento hint`: requests to a live run
    streams             the standard streams of this process, made safe
    terminal_ui         starts the terminal UI for `memento watch` and `memento run --tui`
    tour                `memento tour`: a first search, explained, with a film at its end
    vote                `memento vote`: vote on the ballots of a run with the judge `ask`
    voting              puts ballots before a person in a terminal, and writes the votes for the run that waits for them
    watch               `memento watch`: the terminal UI on a run
    what_if             `memento what-if`: recorded proposals, drawn again under other settings or by another model
    what_if_text        the result of a what-if as tables
"""

import errno
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.errors import MementoError


def main() -> None:
    """The console script `memento`."""
    from .front import page_for
    from .streams import flush_stdout, prepare_streams

    prepare_streams()
    page = page_for(sys.argv[1:])
    code = exit_code(sys.argv[1:]) if page is None else _print_page(page)
    problem = flush_stdout()
    if problem is not None and code == 0:
        code = _unwritable(problem)
    sys.exit(code)


def _print_page(page: str) -> int:
    try:
        sys.stdout.write(page)
    except OSError as error:
        return 0 if error.errno == errno.EPIPE else _unwritable(error)      # a closed pipe has read enough
    return 0


def _unwritable(problem: OSError) -> int:
    _say(f"the output cannot be written: {problem.strerror}; print it to another place")
    return 3


def main_tui() -> None:
    """The console script `memento-tui [DIR]`: a run's folder, a folder of runs, or a run's name."""
    sys.exit(exit_code(["watch", *sys.argv[1:]]))


def exit_code(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code. An error is one sentence on stderr."""
    from ..core.errors import MementoError, UsageError, first_of

    try:
        return _run(arguments)
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except Exception as error:  # noqa: BLE001 - the top level: an unexpected error shows its traceback, and is a fault
        known = first_of(error, MementoError) or _of_system(error) or _of_extra(error)
        if known is None:
            traceback.print_exception(error)
            return 3
        _say(str(known))
        return 2 if isinstance(known, UsageError) else 3


def _run(arguments: Sequence[str]) -> int:
    import typer

    from .commands import commands
    from .completion import answer_shells
    from .typer_classes import usage_error

    answer_shells()
    try:
        status = typer.main.get_command(commands).main(
            args=list(arguments), prog_name="memento", standalone_mode=False, obj=tuple(arguments)
        )
    except typer.TyperException as error:
        raise usage_error(error) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    return status if isinstance(status, int) else 0


def _of_system(error: BaseException) -> "MementoError | None":
    """What the person can change where the system refused: a name, or a disk."""
    from ..core.errors import MementoError, UsageError, os_problem

    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"the name {str(error.filename)[:20] + '…'!r} is too long: {os_problem(error)}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return MementoError(f"{error.filename or 'a file'} cannot be written: {os_problem(error)}")
    return None


def _of_extra(error: BaseException) -> "MementoError | None":
    """The command that installs a package which this installation does without, or what hides one that it has."""
    from ..core.errors import UsageError, first_of
    from ..core.extras import explain, shadow_words
    from ..core.text import one_line

    found = first_of(error, ImportError)
    if found is None:
        return None
    hidden = shadow_words(found)
    return UsageError(f"{one_line(str(found), 200)}{hidden}") if hidden else explain(found)


def _say(sentence: str) -> None:
    from .output import say

    say(sentence)
