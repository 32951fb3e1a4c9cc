"""The registry of domains: names, import strings, refusals."""

from importlib import import_module

import pytest
from memento import domains
from memento.core.errors import UsageError
from memento.core.provenance import GIVEN

pytestmark = pytest.mark.quick


def test_names_have_import_strings_that_load() -> None:
    for name in domains.names():
        assert domains.load(name).name == name


def test_an_import_string_is_returned_unchanged() -> None:
    where = "memento.domains.hanoi:DOMAIN"
    assert domains.import_string(where) == where
    assert domains.load(where).name == "hanoi"


def test_a_misspelt_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'hanoi'"):
        domains.import_string("hanoy")


def test_a_member_of_a_family_is_loaded_by_its_prefix() -> None:
    where = domains.import_string("robosuite:Lift")
    module, _, attribute = where.partition(":")
    assert getattr(import_module(module), attribute) == domains.load("robosuite:Lift")
    assert domains.is_shipped("robosuite:Lift")


def test_an_unknown_member_of_a_family_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="'Lift'"):
        domains.load("robosuite:Lft")


@pytest.mark.parametrize(("where", "words"), [
    ("no_such_module_here:DOMAIN", "no module 'no_such_module_here'"),
    ("memento.domains.hanoi:DOMAINE", "has no 'DOMAINE'"),
    ("memento.domains.hanoi.task:tower", "is not a domain"),
])
def test_an_object_that_is_not_a_domain_is_refused(where: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        domains.load(where, GIVEN)


def test_a_name_of_unknown_provenance_imports_nothing_of_others() -> None:
    """Whoever forgets to ask is refused, not obeyed."""
    for name in ("json:loads", "gym:CartPole-v1", "memento.domains.hanoi.task:tower", "memento.domains.gym:CartPole"):
        with pytest.raises(UsageError, match="add --trust"):
            domains.load(name)
