"""Programs that a user gives as files: however an editor wrote them, the text is what Python would read."""

from pathlib import Path

import pytest
from memento.app.given_files import read_program
from memento.core.errors import UsageError
from memento.core.values import Contract

CONTRACT = Contract(class_name="Policy", methods=(("act", 1),))
TEXT = '# é\nclass Policy:\n    def act(self, observation):\n        return "é"\n'


@pytest.mark.parametrize(("content", "text"), [
    (TEXT.encode("utf-8-sig"), TEXT), (TEXT.replace("\n", "\r\n").encode(), TEXT),
    (("# coding: latin-1\n" + TEXT).encode("latin-1"), "# coding: latin-1\n" + TEXT),
], ids=["mark", "crlf", "coding"])
def test_a_program_is_read_as_python_reads_it(content: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_bytes(content)
    assert read_program(tmp_path / "policy.py", CONTRACT, role="policy").text == text


@pytest.mark.parametrize("content", [TEXT.encode("latin-1"), b"# coding: klingon\n" + TEXT.encode()])
def test_another_encoding_must_be_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_bytes(content)
    with pytest.raises(UsageError, match="is not UTF-8 text, and names no other encoding"):
        read_program(tmp_path / "policy.py", CONTRACT, role="policy")
