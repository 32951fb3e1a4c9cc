"""The keys of `memento watch`, in one table: the bindings of all screens and the help screen are made from it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from .pages import PAGES, PageOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One binding. `label` is its text in the footer (if `footer`); `name` the key as in documents.

    Keys in a row with the same `help` share a line of the help screen; without `help` a key is not listed.
    """

    key: str
    action: str
    label: str
    help: str = ""
    name: str = ""
    footer: bool = True
    first: bool = False     # handled before the focused widget

    @property
    def title(self) -> str:
        """The key as written in documents."""
        return self.name or self.key


def _page(page: PageOf) -> Key:
    words = "all runs of the folder" if page.name == "runs" else "the screens named on top"
    return Key(key=page.key, action=f"page({page.name!r})", label=page.label.lower(), help=words, footer=False)


def _tab(key: str, tab: str, help_words: str) -> Key:
    return Key(key=key, action=f"tab({tab!r})", label=tab, help=help_words, footer=False)


def _move(key: str, action: str, help_words: str, name: str) -> Key:
    return Key(key=key, action=action, label="", help=help_words, name=name, footer=False)


EXPORT = Key(key="e", action="export", label="export", help="export the program to a file")
RENDER = Key(key="v", action="render", label="render", help="render a rollout")
OTHER_LIST = Key(key="tab", action="app.focus_next", label="other list", help="the other list", name="Tab")
CODE_TABS, TALK_TABS = "code, diff to parent, diff to elite, metrics", "episodes, prompt, reply"

KEYS: Mapping[str, tuple[Key, ...]] = {
    "app": (
        *(_page(page) for page in PAGES),
        Key(key="p", action="pause", label="pause", help="pause, or continue"),
        Key(key="s", action="stop", label="stop", help="stop: now, after a candidate, a generation"),
        Key(key="i", action="hint", label="hint", help="give proposers a hint"),
        Key(key="question_mark", action="help", label="help", help="this help", name="?"),
        Key(key="d", action="dark", label="dark/light", help="dark or light", footer=False),
        Key(key="q", action="quit", label="quit", help="quit; the run goes on"),
    ),
    "page": (
        Key(key="e", action="export", label="export", footer=False),
        Key(key="v", action="render", label="render", footer=False),
    ),
    "rows": (
        _move("up,k", "move(-1)", "a row up or down", "↑ k"), _move("down,j", "move(1)", "a row up or down", "↓ j"),
        _move("pageup,ctrl+b", "page(-1)", "a page up or down", "PgUp"),
        _move("pagedown,ctrl+f,space", "page(1)", "a page up or down", "PgDn"),
        _move("home,g", "first", "first or last row", "g"), _move("end,G", "last", "first or last row", "G"),
            Key(key="enter", action="open", label="open", help="open, as a click on the cursor does", name="Enter"),
    ),
    "lines": (
        _move("j", "scroll_down", "", ""), _move("k", "scroll_up", "", ""), _move("space", "page_down", "", ""),
        _move("g", "scroll_home", "", ""), _move("G", "scroll_end", "", ""),
    ),
    "filtered": (
        Key(key="slash", action="filter", label="filter", help="filter (candidates, log)", name="/"),
        Key(key="escape", action="all", label="all", footer=False),
    ),
    "candidates": (
        Key(key="o", action="order", label="order", help="another order (candidates)"), EXPORT, RENDER,
    ),
    "lineage": (
        Key(key="a", action="all", label="all / elites", help="all, or the elites' ancestors (lineage)"), EXPORT,
    ),
    "runs": (
        Key(key="space", action="compare", label="compare", help="add to the comparison (runs)", first=True),
    ),
    "two lists": (OTHER_LIST, EXPORT),
    "models": (OTHER_LIST,),
    "candidate": (
        Key(key="escape", action="back", label="back", help="back", name="Esc"),
        Key(key="n", action="step(1)", label="next", help="next, previous"),
        Key(key="N", action="step(-1)", label="prev", help="next, previous"),
        EXPORT, RENDER,
        _tab("c", "code", CODE_TABS), _tab("f", "parent", CODE_TABS), _tab("l", "elite", CODE_TABS),
        _tab("m", "metrics", CODE_TABS),
        _tab("x", "episodes", TALK_TABS), _tab("w", "prompt", TALK_TABS), _tab("r", "reply", TALK_TABS),
    ),
    "dialog": (Key(key="escape", action="dismiss(None)", label="cancel"),),
    "help": (Key(key="escape,question_mark,q", action="dismiss(None)", label="close"),),
}
PALETTE = Key(key="ctrl+p", action="command_palette", label="palette", help="every command by name", name="Ctrl+P")
SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Screens and the run", ("app",)), ("Lists", ("rows", "filtered", "candidates", "lineage", "runs", "models")),
    ("A candidate", ("candidate",)),
)


def bindings(place: str) -> list[BindingType]:
    """The bindings of a screen or widget."""
    return [
        Binding(
            key.key, key.action, key.label, show=key.footer, priority=key.first,
            key_display=key.name if key.name in ("/", "?") else None,
        )
        for key in KEYS[place]
    ]


def help_rows() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sections of the help screen: a title, then keys and their actions."""
    for title, places in SECTIONS:
        rows: dict[str, list[str]] = {}
        for key in (*(key for place in places for key in KEYS[place]), *((PALETTE,) if "app" in places else ())):
            if key.help and key.title not in rows.setdefault(key.help, []):
                rows[key.help].append(key.title)
        yield title, [(" ".join(keys) if len(keys) < 6 else f"{keys[0]} … {keys[-1]}", words)
                      for words, keys in rows.items()]
