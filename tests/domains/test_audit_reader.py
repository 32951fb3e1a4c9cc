"""The programs of an audit: each text is whole, and stays as it was, since results of audits name its program."""

import ast
import hashlib
import importlib

import pytest
from memento.domains.audit_reader import read_audit, shared_text

# To change a program on purpose, replace its domain's digest.
CASES = {
    "hanoi": ("FrankaPolicy", 22, "98bddf7403c14af0"),
    "hanoi_kinematic": ("FrankaPolicy", 23, "68c8403f6ed3cbf9"),
    "kitchen": ("Policy", 17, "254c2ef58556f990"),
}


@pytest.mark.parametrize("domain", CASES)
def test_every_class_is_one_whole_text(domain: str) -> None:
    policy, count, digest = CASES[domain]
    audit = importlib.import_module(f"memento.domains.{domain}.audit")
    programs = {each.name: each.program.text for each in read_audit(audit, policy)}
    assert len(programs) == count
    for name, text in programs.items():
        tree = ast.parse(text)
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        assert classes == (["Scripted", policy] if shared_text(audit) in text else [policy]), name
        found: dict[str, object] = {}
        exec(compile(tree, name, "exec"), found)        # finds the constants and functions that its class needs
        getattr(found[policy](), "reset")()             # noqa: B009
    joined = "".join(f"{name}\n{programs[name]}\n" for name in sorted(programs))
    assert hashlib.sha256(joined.encode()).hexdigest()[:16] == digest
