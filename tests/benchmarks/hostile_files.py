"""Changes files that come from elsewhere in many ways and uses each as people do; a release runs it.

    python -m memento.tests.benchmarks.hostile_files [KIND ...] [--count 200] [--seed 1]

Tapes, archives of evidence, logs of runs, of what-ifs and of comparisons, and kept exploits: damaged as `DAMAGES` says,
then `count` times by random values in random places. Each use must end with a result or with one sentence: no
traceback, no escape sequence on the terminal or in a page, and no file but the ones that it was to write.
"""

import argparse
import contextlib
import io
import json
import lzma
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memento.app.exploits import read_exploits
from memento.app.recorded_runs import read_recorded, replay_settings
from memento.cli import exit_code
from memento.core.errors import MementoError
from memento.domains import load

HORIZON = ("--set", "hanoi-kinematic.horizon=200")
COMMON = ("--preset", "smoke", "--evaluator", "reference", "--workers", "1", "--display", "none", *HORIZON)
OUTSIDE = "../../outside"
ODD: tuple[Any, ...] = (
    None, -1, 2**70, 1e308, float("nan"), float("-inf"), True, "", "\x1b]0;x\x07\x1b[2J\x9b", OUTSIDE, "/etc/passwd",
    "command:./x", "\ud800", "x" * 70_000, [], {}, [[[[]]]], {"x": {}}, [1] * 999, "kitchen", "init/0",
)
ENDS = (0, 1, 2, 3)     # done, done and something does not hold, refused, failed
PAGES = ("page.html", "page.files", "new.tape.xz", "kept")


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """The JSON value with each text and number changed."""
    if isinstance(value, dict):
        return {key: _each(each, change) for key, each in value.items()}
    return [_each(each, change) for each in value] if isinstance(value, list) else change(value)


def _texts(data: bytes, form: str) -> bytes:
    return _packed(_each(_opened(data), lambda leaf: form.format(leaf) if isinstance(leaf, str) else leaf))


def _numbers(data: bytes, number: float) -> bytes:
    return _packed(_each(_opened(data), lambda leaf: number if type(leaf) in (int, float) else leaf))


def _packed(content: Any) -> bytes:
    return lzma.compress(json.dumps(content).encode("utf-8", "surrogatepass"), preset=0)


def _opened(data: bytes) -> Any:
    return json.loads(lzma.decompress(data))


DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {     # of packed JSON
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "followed by more": lambda data: data + data,
    "no JSON": lambda data: lzma.compress(b"\x1b[2J\xff"),
    "huge": lambda data: lzma.compress(b'{"version": 1, "facts": [' + b"0," * 40_000_000 + b"0]}", preset=0),
    "nested": lambda data: lzma.compress(b"[" * 200_000 + b"]" * 200_000),
    "not a number": lambda data: _numbers(data, float("nan")),
    "too large numbers": lambda data: _numbers(data, 2**70),
    "members twice": lambda data: lzma.compress(lzma.decompress(data)[:-1] + b"," + lzma.decompress(data)[1:]),
    "lists twice": lambda data: _packed({
        key: each * 2 if isinstance(each, list) else each for key, each in _opened(data).items()
    }),
    "of another domain": lambda data: lzma.compress(lzma.decompress(data).replace(b"hanoi-kinematic", b"kitchen")),
    "of no domain": lambda data: lzma.compress(lzma.decompress(data).replace(b"hanoi-kinematic", b"\\u001b[2J")),
    "escape sequences": lambda data: _texts(data, "{}\x1b[2J\x9b1m"),
    "paths": lambda data: _texts(data, OUTSIDE),
    "halves of letters": lambda data: _texts(data, "{}\ud800"),
}


def changed(content: Any, draw: random.Random) -> Any:
    """The JSON value with one part of it replaced."""
    place: Any = content
    above: tuple[Any, Any] | None = None
    while isinstance(place, dict | list) and place and (above is None or draw.random() < 0.9):
        key = draw.choice(sorted(place) if isinstance(place, dict) else range(len(place)))
        above, place = (place, key), place[key]
    if above is not None:
        above[0][above[1]] = draw.choice(ODD)
    return content


class Desk:
    """A folder with one finished run, a what-if on it, a comparison, and what they export."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with contextlib.chdir(folder):
            _must("run", "hanoi-kinematic", *COMMON, "--seed", "3", "--name", "one", "--set", "k_macro=2")
            _must("what-if", "one", "g1/macro/0", "-n", "2", "--workers", "1")
            _must("compare", "--domain", "hanoi-kinematic", "--method", "random", "--seeds", "1", "--episodes", "1",
                  "--name", "two", *COMMON)
            _must("export", "one", "--to", "tape", "--out", "one.tape.xz")
            _must("report", "two", "--out", "page.html", "--no-pictures", "--archive", "two.json.xz")
        [self.what_if] = (folder / "runs" / "one" / "what-if").iterdir()
        (folder / "exploits").mkdir()
        self.uses: dict[str, tuple[Path, tuple[Callable[[], object], ...]]] = {
            "tape": (folder / "one.tape.xz", (
                lambda: read_recorded(Path("one.tape.xz"), exact=False),
                lambda: replay_settings(Path("one.tape.xz"), trusted=True),
                lambda: _told("run", "--replay", "one.tape.xz", "--estimate"),
            )),
            "archive": (folder / "two.json.xz", (
                lambda: _told("report", "two.json.xz", "--out", "page.html"),
                lambda: _told("audit", "two.json.xz"),
                lambda: _told("report", "two.json.xz", "good.json.xz", "--out", "page.html"),
            )),
            "log": (folder / "runs" / "one" / "run.sqlite", (
                lambda: _told("show", "one"), lambda: _told("show", "one", "g1/macro/0"), lambda: _told("show"),
                lambda: _told("report", "one", "--out", "page.html", "--no-pictures"),
                lambda: _told("audit", "one", "--keep", "kept"),
                lambda: _told("export", "one", "--to", "tape", "--out", "new.tape.xz"),
                lambda: _told("what-if", "one", "g1/macro/0", "--prompt"),
                lambda: _told("rank", "one", "--episodes", "1", "--programs", "1", "--workers", "0"),
            )),
            "what-if": (self.what_if / "run.sqlite", (
                lambda: _told("what-if", "one", "g1/macro/0", "-n", "2", "--workers", "1"),
            )),
            "comparison": (folder / "runs" / "two" / "comparison.json", self._compared()),
            "journal": (folder / "runs" / "two" / "journal.jsonl", self._compared()),
            "measures": (folder / "runs" / "two" / "measures.jsonl", self._compared()),
            "exploit": (folder / "exploits" / "x.py", (
                lambda: read_exploits("exploits", "hanoi-kinematic", load("hanoi-kinematic")),
            )),
        }
        shutil.copyfile(folder / "two.json.xz", folder / "good.json.xz")
        text = "# An exploit\n# domain: hanoi-kinematic\nclass FrankaPolicy:\n    x = 1\n"
        (folder / "exploits" / "x.py").write_text(text)

    def _compared(self) -> tuple[Callable[[], object], ...]:
        return (
            lambda: _told("report", "two", "--out", "page.html", "--no-pictures"),
            lambda: _told("show", "two"), lambda: _told("audit", "two"),
        )

    def tried(self, kind: str, *, count: int, seed: int) -> Iterator[tuple[str, str]]:
        """Each damage of this kind of file with what is wrong with one of its uses; "" if nothing is."""
        path, uses = self.uses[kind]
        whole = path.read_bytes()
        for name, data in self._variants(kind, whole, count=count, seed=seed):
            path.write_bytes(data)
            before = self._files()
            with contextlib.chdir(self.folder):
                found = [f"{number}: {wrong}" for number, use in enumerate(uses) if (wrong := trouble(use))]
            found += [f"it wrote {each}" for each in self._files() - before]
            found += [f"escapes in {each}" for each in PAGES[:1] if b"\x1b" in (self.folder / each).read_bytes()]
            yield f"{kind}, {name}", "; ".join(found)
            for each in PAGES:
                left = self.folder / each
                shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
            (self.folder / PAGES[0]).touch()
        path.write_bytes(whole)

    def _variants(self, kind: str, whole: bytes, *, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
        if kind in ("tape", "archive"):
            yield from ((name, damage(whole)) for name, damage in DAMAGES.items())
            other = self.folder / ("two.json.xz" if kind == "tape" else "one.tape.xz")
            yield "another kind of file", other.read_bytes()
        else:
            yield "truncated", whole[: len(whole) // 2]
            yield "empty", b""
            yield "twice", whole * 2
            yield "noise", random.Random(seed).randbytes(5000)
        for number in range(count):
            draw = random.Random(f"{seed} {kind} {number}")
            if kind in ("tape", "archive"):
                yield f"change {number}", _packed(changed(_opened(whole), draw))
            elif kind in ("log", "what-if"):
                yield f"change {number}", self._changed_log(whole, draw)
            elif kind == "exploit":
                yield f"change {number}", _noisy(whole, draw)
            else:
                lines = whole.decode().splitlines() if kind != "comparison" else [whole.decode()]
                place = draw.randrange(len(lines))
                lines[place] = json.dumps(changed(json.loads(lines[place]), draw))
                yield f"change {number}", "\n".join(lines).encode("utf-8", "surrogatepass")

    def _changed_log(self, whole: bytes, draw: random.Random) -> bytes:
        copied = self.folder / "copied.sqlite"
        copied.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(copied)) as db, db:
            seqs = [row[0] for row in db.execute("SELECT seq FROM facts")]
            (body,) = db.execute("SELECT body FROM facts WHERE seq = ?", (seq := draw.choice(seqs),)).fetchone()
            content = changed(json.loads(body), draw)
            db.execute("UPDATE facts SET body = ? WHERE seq = ?", (json.dumps(content), seq))
        data = copied.read_bytes()
        copied.unlink()
        return data

    def _files(self) -> set[str]:
        """The files below the folder and beside it, without those that the uses are to write."""
        found = {os.path.relpath(each, self.folder) for each in self.folder.parent.rglob("*")}
        return {each for each in found if not each.startswith((*PAGES, "runs/one/what-if", "runs/two/lock"))
                and not each.endswith(("-wal", "-shm", "-journal"))}


def _noisy(whole: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(whole))
    more = json.dumps(draw.choice(ODD), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return whole[:place] + more + whole[place + draw.randrange(9) :]


def _told(*arguments: str) -> int:
    return exit_code([*arguments])


def _must(*arguments: str) -> None:
    if wrong := trouble(lambda: _told(*arguments), ends=(0,)):
        raise RuntimeError(f"memento {' '.join(arguments)}: {wrong}")


def trouble(use: Callable[[], object], ends: Sequence[int] = ENDS) -> str:
    """What is wrong with this use; "" if it ended with a result or a sentence."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = use()
    except MementoError as error:
        return "" if str(error) and "\n" not in str(error).strip() else f"no sentence: {str(error)[:200]!r}"
    except (Exception, SystemExit) as error:    # noqa: BLE001 - the finding
        return f"{type(error).__name__}: {str(error)[:200]}"
    said = out.getvalue() + err.getvalue()
    if "Traceback" in said:
        return "a traceback: " + said[said.index("Traceback"):][-600:]
    if "\x1b" in said or "\x9b" in said:
        return "escape sequences on the terminal"
    if isinstance(status, int) and (status not in ends or (status and not err.getvalue().startswith("memento: "))):
        return f"exit code {status}: {err.getvalue()[:300]!r}"
    return ""


def main() -> None:
    """Try and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("kinds", nargs="*", help="all without any")
    arguments.add_argument("--count", type=int, default=200, help="random changes of each kind of file")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="memento-hostile-files-") as folder:
        (place := Path(folder) / "a" / "b").mkdir(parents=True)
        desk = Desk(place)
        for kind in given.kinds or desk.uses:
            tried = gave_way = 0
            for name, wrong in desk.tried(kind, count=given.count, seed=given.seed):
                tried, gave_way = tried + 1, gave_way + bool(wrong)
                if wrong:
                    print(f"GAVE WAY {name}: {wrong}", flush=True)
            failed += gave_way
            print(f"{kind}: tried {tried}, held {tried - gave_way}, gave way {gave_way}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
