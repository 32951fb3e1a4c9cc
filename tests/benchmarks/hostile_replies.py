"""Draws replies that no reader may break on: real programs changed in many ways, grammar, nests, huge literals.

Everything is drawn from one `random.Random`, so that a seed names a reply.
"""

import ast
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

NASTY = (
    "\xa0", "\u200d", "\u200b", "\ufeff", "\x00", "\ud800", "\udfff", "\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\r",
    "\x07", "\x1b[2K", "\u202e", "\u0301", "\U0001f600", "\U000e0001", "\\", "\\N{DASH}", "'", '"', '"""', "{", "}",
    "{{", "(", ")", "[", "]", ":", "\t", "\n", " ", "`", "```", "~~~", "#", "@", "=", ":=", "*", "->", "0", "9", "_",
    ",", ".", "\u0660", "\u212a",
)  # fmt: skip
WORDS = (
    "async ", "await ", "yield ", "yield from ", "lambda: ", "not ", "-", "~", "*", "**", "match x:\n", "case _:",
    "if x", "else", "for x in y", "with x as y:", "class P:", "def f():", "return", "global x", "nonlocal x", "del x",
    "import x", "from . import *", "try:", "finally:", "except* E:", "raise", "assert", "pass", "f'{x!r:>{w}}'",
    "HISTORY = ['x']", "def hill_climb_history(self): return 'x'", "# -*- coding: utf-7 -*-", "print(x, end='')",
    "type X = int", "...",
)  # fmt: skip
NESTS = (
    ("{0: ", "1", "}"), ("[", "1", "]"), ("(a or (b and ", "c", "))"), ("(1 < ", "2", ")"), ("f(", "", ")"),
    ("a[", "1", "]"), ("f(a=", "1", ")"), ("lambda a=", "0", ": 0"), ("1 if x else ", "0", ""), ("not ", "x", ""),
    ("-", "1", ""), ("1 + ", "1", ""), ("1 ** ", "1", ""), ("[y for y in ", "z", "]"), ("(a := ", "1", ")"),
    ("[*", "z", "]"), ("(yield ", "1", ")"), ("x.", "y", ""), ("lambda: ", "0", ""), ("{", "1", "}"),
    ("(a, ", "b", ")"), ("x[1:", "2", "]"), ("await (", "x", ")"), ("f'{", "x", "}'"),
)  # fmt: skip
BLOCKS = (
    "if x:", "def f():", "class C:", "with x:", "for x in y:", "while x:", "async def f():", "match x:\n{}  case 1:",
)  # fmt: skip
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A reply, how its program was drawn, and why the model stopped."""

    how: str
    text: str
    stop: str


def draw_reply(random: Random, programs: Sequence[str]) -> Drawn:
    """A reply with a program that was made of one of these."""
    how = random.choice([*WAYS])
    program = WAYS[how](random, random.choice(programs), programs)
    if random.random() < 0.2:
        other = random.choice(["characters", "tokens", "places"])
        how, program = f"{how}, {other}", WAYS[other](random, program, programs)
    if random.random() < 0.8:
        return Drawn(how, f"{_prose(random)}\n`````python\n{program}\n`````\n", "end")
    fence = random.choice(["```", "````", "~~~", "``", "`" * random.randrange(1, 40)])
    language = random.choice(["python", "py", "", "Python x=1", "text", " " * random.randrange(9000) + "`"])
    forms = ["{0}{1}{2}\n{3}\n{1}\n", "{0}{3}", "{0}{1}{2}\n{3}", "{1}\n{3}\n{1}\n{0}\n{1}{2}\n{3}\n{1}"]
    text = random.choice(forms)
    stop = random.choice(["end"] * 4 + ["length", "refusal", "error", "\ud800"])
    return Drawn(how, text.format(_prose(random), fence, language, program), stop)


def _prose(random: Random) -> str:
    odd = _letters(random, 60)
    return random.choice(["", "Summary: gain up\n", f"**Summary** : {odd}\n", odd])


def _letters(random: Random, most: int) -> str:
    return "".join(random.choice([*NASTY, "a", "b"]) for _ in range(random.randrange(most)))


# ------------------------------------------------------------------------------------ changes of programs


def _unchanged(random: Random, text: str, programs: Sequence[str]) -> str:
    return text


def _characters(random: Random, text: str, programs: Sequence[str]) -> str:
    for _ in range(random.randrange(1, 6)):
        place = random.randrange(len(text) + 1)
        text = text[:place] + random.choice([*NASTY, ""]) + text[place + random.randrange(3) :]
    return text


def _tokens(random: Random, text: str, programs: Sequence[str]) -> str:
    tokens, others = _TOKEN.findall(text), _TOKEN.findall(random.choice(programs))
    for _ in range(random.randrange(1, 6)):
        if tokens:
            place = random.randrange(len(tokens))
            new = random.choice([random.choice(WORDS), random.choice(others or ["x"]), random.choice(tokens), ""])
            tokens[place : place + random.randrange(3)] = [new]
    return "".join(tokens)


def _places(random: Random, text: str, programs: Sequence[str]) -> str:
    """Expressions, patterns and statements of a program are replaced by others, where they stand in the text."""
    for _ in range(random.randrange(1, 4)):
        places = _spans(text)
        if not places:
            return text
        begin, end = random.choice(places)
        raw = text.encode("utf-8", "surrogatepass")
        new = random.choice([_nest, _literal, _expression, _quoted])(random)
        text = (raw[:begin] + new.encode("utf-8", "surrogatepass") + raw[end:]).decode("utf-8", "surrogatepass")
    return text


def _parses(text: str) -> bool:
    return _tree(text) is not None


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _spans(text: str) -> list[tuple[int, int]]:
    """Where the nodes of a program stand, in bytes; empty where it does not parse."""
    tree = _tree(text)
    if tree is None:
        return []
    starts = [0]
    for line in re.split("(?<=\n)", text.replace("\r\n", "\n ").replace("\r", "\n")):
        starts.append(starts[-1] + len(line.encode()))
    return [
        (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.pattern) and node.end_lineno is not None and node.end_col_offset is not None
    ]


# ---------------------------------------------------------------------------------------- new programs


def _nest(random: Random) -> str:
    """A nest around the limits of the parser, of the check and of Python's stack."""
    levels = random.choice([random.randrange(1, 100), random.randrange(80, 100), random.randrange(100, 400), 5000])
    kinds = [random.choice(NESTS) for _ in range(random.choice([1, 1, 3]))]
    chosen = [random.choice(kinds) for _ in range(levels)]
    middle = random.choice(["", _literal(random), _quoted(random)]) or chosen[-1][1]
    return "".join(kind[0] for kind in chosen) + middle + "".join(kind[2] for kind in reversed(chosen))


def _literal(random: Random) -> str:
    digits = random.choice([1, 20, 400, 1200, 4299, 5000, 30_000])
    return random.choice([
        "9" * digits, "0x" + "f" * digits, "0b" + "1" * digits, "1e999", "-1e999j", f"1{'0' * digits}.5e-{digits}",
        "0o7_7", repr(_letters(random, 30)), repr(b"\x00\xff" * digits), "r'\\d'", "'\\d'",
        '"""' + "x\n" * digits + '"""', "...", "None", "'" + _letters(random, 9) + "'", "u'x'", "'a' 'b' f'{c}'",
        "1_000.0_1", "0xdead_beef", "float('nan')",
    ])  # fmt: skip


def _quoted(random: Random) -> str:
    """An f-string with quotes, escapes and odd characters inside of its expressions."""
    inner = random.choice([
        "'{}'", '"{}"', "x['{}']", "x!r:{{y}}", "'''{}'''", "d[\"{}\"]!s:>{{w}}", "lambda: '{}'",
        "'{}' if x else \"y\"", "f'{{z}}{}'", "'{}':>{{'w'}}", "x=", "{{'a': '{}'}}", "'\\n{}'", "b'{}'", "(y:='{}')",
        "x:%H:{{z}}:{}",
    ]).format(random.choice([*NASTY, "a", "5\xa0mm"]))  # fmt: skip
    quote = random.choice(["'", '"', "'''", '"""'])
    return f"{random.choice(['f', 'rf', 'F'])}{quote}{random.choice(['', 'a', '{{', *NASTY])}{{{inner}}}{quote}"


def _name(random: Random) -> str:
    return random.choice(["x", "self.x", "obs['x']", "np.pi"])


def _expression(random: Random, depth: int = 4) -> str:
    if depth == 0 or random.random() < 0.15:
        return random.choice([_literal, _quoted, _name])(random)
    parts = [_expression(random, depth - 1) for _ in range(3)]
    form = random.choice([
        "({0} + {1})", "{0} or {1} and {2}", "not {0}", "-{0} ** -{1}", "{0} if {1} else {2}", "f({0}, *{1}, **{2})",
        "{0}[{1}:{2}]", "[{0} for x in {1} if {2}]", "{{{0}: {1}, **{2}}}", "{{{0}, {1}}}",
        "lambda a={0}, /, *b, c={1}, **d: {2}", "(x := {0})", "{0} < {1} not in {2}", "({0},)", "(await {0})",
        "(yield {0}, {1})", "{0}.x", "({0} for x in {1} async for y in {2})", "{0} is not {1} @ {2}",
        "{0}[{1}, ::{2}]", "f'{{{0}}}'", "{0} % {1} // {2}", "(yield from {0})", "~{0} << {1}", "[*{0}, {1}]",
    ])  # fmt: skip
    return form.format(*parts)


def _statement(random: Random, indent: str = "", depth: int = 3) -> str:
    def one() -> str:
        return _expression(random, random.randrange(4))

    if depth == 0 or random.random() < 0.4:
        return indent + random.choice([
            f"x = {one()}", f"x: {one()} = {one()}", f"x += {one()}", one(), f"return {one()}",
            f"assert {one()}, {one()}", f"del x[{one()}]", "global x", f"raise {one()} from {one()}",
            "HISTORY = [" + _literal(random) + "]", _literal(random), f"a, (b, *c) = d[{one()}] = {one()}",
            "import a.b as c", "from .x import (y, z as w)", f"print({one()}); y = {one()}",
        ])  # fmt: skip
    below = [_statement(random, indent + "    ", depth - 1) for _ in range(random.randrange(1, 3))]
    head = random.choice([
        f"if {one()}:", f"for x, *y in {one()}:", f"while {one()}:", f"with {one()} as (x, y), z:",
        f"class C({one()}, k={one()}):",
        f"@{one()}\n{indent}def f(a: {one()} = {one()}, /, *b, c=1, **d) -> {one()}:", f"@{one()}\n{indent}class C:",
        f"async def f(self, x={one()}):", f"try: {one()}\n{indent}except {one()} as e:",
        f"try: x\n{indent}except* E:", f"try: x\n{indent}finally:",
        f"match {one()}:\n{indent}  case {_pattern(random)}:", f"async def f():\n{indent}  async with x:",
        f"if {one()}: pass\n{indent}elif x: pass\n{indent}else:", f"for x in y: pass\n{indent}else:",
    ])  # fmt: skip
    return f"{indent}{head}\n" + "\n".join(below)


def _pattern(random: Random, depth: int = 3) -> str:
    if depth == 0:
        return random.choice(["_", "x", "1", "-1.5", "'a'", "None", "a.b", "1+2j", "b'x'", "f'{x}'"])
    parts = [_pattern(random, depth - 1) for _ in range(2)]
    form = random.choice(["[{0}, *_]", "{{'a': {0}, **rest}}", "C({0}, k={1})", "({0} | {1})", "{0} as y",
    "{0}, {1}", "({0})", "C()"])
    return form.format(*parts)


def _grammar(random: Random, text: str, programs: Sequence[str]) -> str:
    """New statements within a real program: at its end, in its class, or in a method."""
    lines = text.split("\n")
    for _ in range(random.randrange(1, 5)):
        place = random.randrange(len(lines) + 1)
        before = lines[place - 1] if place else ""
        indent = " " * (len(before) - len(before.lstrip()) + 4 * before.rstrip().endswith(":"))
        drawn = [_statement(random, indent) for _ in range(4)]
        lines.insert(place, next((each for each in drawn if _parses(each.strip())), drawn[0]))
    return "\n".join(lines)


def _nested(random: Random, text: str, programs: Sequence[str]) -> str:
    nest = _nest(random)
    form = random.choice([
        "{1}\nx = {0}\n", "@{0}\n{1}", "{1}\nmatch x:\n    case {2}: pass\n", "{1}\n{3}", "x: {0}\n{1}",
        "{1}\nclass C({0}): pass\n",
    ])  # fmt: skip
    levels = random.randrange(1, 120)
    open_pattern, close_pattern = random.choice([("{'a': ", "}"), ("[", "]"), ("C(", ")"), ("(1 | ", ")"),
    ("[1, 0 | ", "]")])
    pattern = open_pattern * levels + "_" + close_pattern * levels
    block = random.choice(BLOCKS)
    heads = [f"{'    ' * level}{block.format('    ' * level)}\n" for level in range(levels)]
    blocks = "".join([*heads, "    " * levels, "pass\n"])
    return form.format(nest, text, pattern, blocks)


def _huge(random: Random, text: str, programs: Sequence[str]) -> str:
    many = random.choice([60, 89, 1000, 4000, 9000, 200_000])
    return text + "\n" + random.choice([
        "x = 1\n" * many, "x = " + " + ".join("x" * many) + "\n", "x = " + " or ".join("x" * many) + "\n",
        "if a: pass\n" + "elif b: pass\n" * many, "x = [" + "1, " * many + "]\n", "# comment\n" * many,
        "x = '" + "y" * many + "'\n", "x = y" + ".z" * many + "\n", "\n" * many, " " * many + "x\n",
        ";".join(["x"] * many) + "\n", "x = " + "'a' " * many + "\n", "x = f'" + "{y}" * many + "'\n",
        "def f(" + ", ".join(f"a{n}" for n in range(many)) + "): pass\n", "x = " * many + "1\n",
    ])  # fmt: skip


def _patch(random: Random, text: str, programs: Sequence[str]) -> str:
    """Definitions of real programs, changed or not, deletions, and statements that may define nothing."""
    parts = [random.choice(["# patch", "# whole program", ""])]
    for _ in range(random.randrange(1, 6)):
        source = random.choice([text, *programs])
        parts.append(random.choice([_definition, _definition, _deletion, _new])(random, source, programs))
    return "\n".join(parts) + "\n"


def _members(text: str) -> list[tuple[str, str, str]]:
    """The owner ("" for the module), the name and the lines of the definitions of a program."""
    tree = _tree(text)
    found: list[tuple[str, str, str]] = []
    for node in [] if tree is None else tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else ()
        for owner, each in [("", node), *((getattr(node, "name", ""), member) for member in inner)]:
            names = [part.id for part in ast.walk(each) if isinstance(part, ast.Name)]
            lines = re.split("\r\n|\r|\n", text)[each.lineno - 1 : each.end_lineno]
            found.append((owner, getattr(each, "name", names[0] if names else "x"), "\n".join(lines)))
    return found


def _definition(random: Random, text: str, programs: Sequence[str]) -> str:
    members = _members(text)
    if not members:
        return "X = 1"
    owner, _, lines = random.choice(members)
    if random.random() < 0.5:
        lines = random.choice([_characters, _tokens, _places])(random, lines, programs)
    return f"class {owner}:\n{lines}" if owner and random.random() < 0.9 else lines


def _deletion(random: Random, text: str, programs: Sequence[str]) -> str:
    names = [f"{owner}.{name}" if owner else name for owner, name, _ in _members(text)] or ["x"]
    chosen = [random.choice([*names, _letters(random, 9), "x.y.z"]) for _ in range(random.randrange(1, 4))]
    return f"{random.choice(['', '    '])}# delete: {', '.join(chosen)}"


def _new(random: Random, text: str, programs: Sequence[str]) -> str:
    owner = random.choice(["", *(owner for owner, _, _ in _members(text))])
    return f"class {owner}:\n{_statement(random, '    ')}" if owner else _statement(random)


WAYS: dict[str, Callable[[Random, str, Sequence[str]], str]] = {
    "as it is": _unchanged,
    "characters": _characters,
    "tokens": _tokens,
    "places": _places,
    "grammar": _grammar,
    "nested": _nested,
    "huge": _huge,
    "patch": _patch,
}
