"""The prompts that a user gives in a folder with `--prompts`. A run records their texts and never reads them again."""

from collections.abc import Iterable
from pathlib import Path

from ..agents.foci import check_foci
from ..core.errors import UsageError, no_such
from ..core.files import read_bounded
from ..core.values import Document, PromptText
from ..runtime.prompts import SHIPPED, PromptFolder

MAX_PROMPT_BYTES = 200_000
SUFFIX = ".md"


def read_prompts(given: str | None) -> tuple[PromptText, ...]:
    """The prompts in the folder `given`, none for None. Each replaces the shipped file of its name.

    Raises UsageError with the file for a name, a variable or a header that does not fit, and for an empty folder.
    """
    if given is None:
        return ()
    folder = Path(given)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} of prompts")
    names = sorted(path.name for path in SHIPPED.glob(f"*{SUFFIX}"))
    found = []
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        if path.name not in names:
            raise UsageError(f"{no_such('prompt file', path.name, names)} (in {folder})")
        found.append(PromptText(name=path.stem, text=Document(_text(path))))
    if not found:
        raise UsageError(f"the folder {folder} holds no prompt: copy one of {', '.join(names)} and change it")
    prompts_with(found)
    return tuple(found)


def prompts_with(replaced: Iterable[PromptText]) -> PromptFolder:
    """The shipped prompts with these instead of their namesakes. Raises UsageError if one does not fit."""
    prompts = PromptFolder(replaced={each.name: each.text.text for each in replaced})
    check_foci(prompts)
    return prompts


def _text(path: Path) -> str:
    try:
        return read_bounded(path, MAX_PROMPT_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"the prompt file {path} is not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"cannot read the prompt file {path}: {error.strerror}") from None
