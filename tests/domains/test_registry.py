"""The registry of domains: names, import strings, refusals, and that no simulator comes with it."""

import subprocess
import sys

import pytest
from memento import domains
from memento.core.errors import UsageError


def test_names_have_import_strings_that_load() -> None:
    for name in domains.names():
        assert domains.load(name).name == name


def test_an_import_string_stands_for_itself() -> None:
    where = "memento.domains.hanoi:DOMAIN"
    assert domains.import_string(where) == where
    assert domains.load(where).name == "hanoi"


def test_a_misspelt_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean hanoi"):
        domains.import_string("hanoy")


@pytest.mark.parametrize(("where", "words"), [
    ("no_such_module_here:DOMAIN", "no module 'no_such_module_here'"),
    ("memento.domains.hanoi:DOMAINE", "has no 'DOMAINE'"),
    ("memento.domains.hanoi.task:tower", "is not a domain"),
])
def test_what_is_no_domain_is_refused(where: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        domains.load(where)


def test_loading_domains_and_writing_briefs_imports_no_simulator() -> None:
    code = (
        "import sys\n"
        "from memento import domains\n"
        "for name in ('hanoi', 'hanoi-kinematic'):\n"
        "    domain = domains.load(name)\n"
        "    domain.brief(domain.options({}, preset='quick')); domain.reference_evaluator()\n"
        "heavy = {'robosuite', 'mujoco', 'numba', 'ai2thor', 'torch'} & {m.partition('.')[0] for m in sys.modules}\n"
        "print(sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.strip() == "[]"
