"""Patches: the definitions of a program that change, merged into the rest of it, which stays as it is to the letter.

A patch is Python code that holds only definitions: functions, classes, imports, and assignments to names. A definition
replaces the one with the same name in the same place (`class X:` around a method names the method X.m), or is added.
The comment line `# delete: X.m, LIMIT` removes definitions. A class of the parent keeps all members that the patch
does not name, and its header unless the patch has bases or decorators.
"""

import ast
import re
from collections.abc import Iterable, Sequence

from ...core.faults import Fault, FaultKind
from ...core.programs.program_text import MAX_FAULT, MAX_PROGRAM, FunctionNode, parse
from ...core.programs.source_units import ParsedText, Statement, body_begin, units_of
from ...core.text import one_line
from ...core.values import Program
from .patch_order import (
    Added,
    Group,
    NameUse,
    Ordering,
    Scope,
    dependencies_first,
    groups_of,
    piece_of,
    preferred_gap,
    rows_of,
)
from .patch_statements import (
    OMISSION,
    Import,
    constants,
    has_stub,
    imports,
    imports_of,
    is_aside,
    is_filler,
    is_history,
    why_entangled,
)
from .patch_text import PatchWriter, TextEdit, string_lines, with_edits

MAX_DEFINITIONS = 100  # of one patch: more is a whole program
WHOLE = "send the whole program instead, after the line `# whole program`"
_DELETE = re.compile(r"[ \t]*#[ \t]*delete[ \t]*:(.*)", re.IGNORECASE)
_SELF = ("self", "cls")


class _Unclear(Exception):
    """The patch cannot be merged; the message is one sentence for its writer."""


def merge(parent: Program, patch: Program, limit: int = MAX_PROGRAM) -> Program | Fault:
    """The parent with the patch merged into it, or a fault with one sentence on what is unclear. Never raises.

    The result parses and has at most `limit` characters.
    """
    old, new = parse(parent), parse(patch, limit)
    if isinstance(old, Fault):
        return old
    if isinstance(new, Fault):
        return new
    merging = _Merging(ParsedText(parent.text, old), ParsedText(patch.text, new))
    try:
        merging.run()
    except _Unclear as unclear:
        return Fault(kind=FaultKind.BAD_PATCH, message=one_line(str(unclear), MAX_FAULT))
    merged = Program(with_edits(parent.text, merging.edits))
    tree = parse(merged, limit)
    if isinstance(tree, Fault):
        return Fault(kind=tree.kind, message=one_line(f"after the patch was merged, {tree.message}", MAX_FAULT))
    return merged


class _Merging:
    """One merge; `edits` holds its result."""

    def __init__(self, old: ParsedText, new: ParsedText) -> None:
        self.old = old
        self.new = new
        self.edits: list[TextEdit] = []
        self._strings = string_lines(new.tree)
        self._writer = PatchWriter(
            old, new, self._strings, drops=lambda line: bool(_DELETE.match(line) or is_aside(line))
        )
        self._known_lines = {line.strip() for line in old.text.splitlines()}
        self._deletes = self._read_deletes()
        self._count = 0

    def run(self) -> None:
        """Merge the whole patch. Raises _Unclear."""
        wanted = set(self._deletes)
        if len(wanted) > MAX_DEFINITIONS:
            raise _Unclear(f"the patch deletes more than {MAX_DEFINITIONS} definitions: {WHOLE}")
        scope = Scope(path="", units=units_of(self.old, self.old.tree.body, 0), indent="")
        self._constants = constants(scope.units)
        self._merge(scope, units_of(self.new, self.new.tree.body, 0), imports(self.old.tree))
        if not self._count and not wanted:
            raise _Unclear("the patch holds no definition: send the definitions that change")
        if self._deletes:
            raise _Unclear(f"the patch deletes {', '.join(sorted(self._deletes))}, which the program does not define")

    # ------------------------------------------------------------------------------------ one scope

    def _merge(self, scope: Scope, patch: Iterable[Statement], known: set[Import]) -> None:
        self._delete(scope)
        definitions: list[Statement] = []
        for unit in patch:
            if is_filler(unit.node) or (not scope.path and is_history(unit.node)):
                continue
            if imports_of(unit.node) is not None:
                self._import(scope, unit, known)
            else:
                definitions.append(unit)
                self._check(scope, unit)
            self._count += 1
            if self._count > MAX_DEFINITIONS:
                raise _Unclear(f"the patch has more than {MAX_DEFINITIONS} definitions: {WHOLE}")
        for group in groups_of(scope, definitions):
            self._settle(scope, group)
        for index, unit in enumerate(scope.units):
            self._descend(scope, index, unit)
        self._write(scope)

    def _delete(self, scope: Scope) -> None:
        for full in sorted(name for name in self._deletes if name.rpartition(".")[0] == scope.path.rstrip(".")):
            name = full.rpartition(".")[2]
            indices = scope.where.get(name)
            if indices is None:
                continue  # which run() reports
            for index in indices:
                unit = scope.units[index]
                others = unit.names - {name}
                if others or not unit.plain:
                    raise _Unclear(f"{full} cannot be deleted, {why_entangled(self.old, unit, name)}: {WHOLE}")
                scope.gone.add(index)
            self._deletes.discard(full)

    def _check(self, scope: Scope, unit: Statement) -> None:
        """Raise _Unclear for a statement that is no definition, or one that seems to stand in the wrong place."""
        line = self.new.line_of(unit.start) + 1
        if not unit.plain:
            raise _Unclear(
                f"line {line} of the patch is a statement that defines nothing by name ({type(unit.node).__name__}): "
                f"a patch holds only imports, constants, functions and classes; {WHOLE}"
            )
        self._check_complete(scope, unit)
        fresh = [name for name in sorted(unit.names) if name not in scope.where]
        if fresh and not scope.path:
            self._check_place(unit, fresh[0])
        elif fresh and isinstance(unit.node, ast.Assign | ast.AnnAssign):
            owners = self._constants.get(fresh[0], ())
            if "" in owners:
                holder = scope.path.rstrip(".")
                raise _Unclear(f"{fresh[0]} is a constant of the module: define it outside of the class {holder}")

    def _check_place(self, unit: Statement, name: str) -> None:
        """Raise _Unclear for what is new at module level but looks like a member of a class."""
        node = unit.node
        owners = [owner for owner in self._constants.get(name, ()) if owner]
        if isinstance(node, FunctionNode):
            given = [*node.args.posonlyargs, *node.args.args]
            if given and given[0].arg in _SELF:
                raise _Unclear(f"the method {name} stands outside of a class: put it inside of `class …:` in the patch")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and owners:
            raise _Unclear(f"{name} is a constant of {owners[0]}: put it inside of `class {owners[0]}:` in the patch")

    def _check_complete(self, scope: Scope, unit: Statement) -> None:
        """Raise _Unclear for a definition in which a placeholder stands for code."""
        known = [scope.units[index] for name in unit.names for index in scope.where.get(name, ())]
        if isinstance(unit.node, ast.ClassDef) and any(isinstance(each.node, ast.ClassDef) for each in known):
            return  # its members are checked one by one
        for part in ast.walk(unit.node) if not any(has_stub(each.node) for each in known) else ():
            if isinstance(part, FunctionNode) and has_stub(part):
                raise _Unclear(f"{scope.path}{part.name} is not written out: `...` stands for code in the patch")
        first, last = self.new.line_of(unit.start), self.new.line_of(unit.code_end)
        for index in range(first, last + 1):
            line = self.new.line(index)
            if index + 1 not in self._strings and OMISSION.match(line) and line.strip() not in self._known_lines:
                name = min(unit.names)
                raise _Unclear(f"{scope.path}{name} is not written out: `{line.strip()}` stands for code in the patch")

    def _settle(self, scope: Scope, group: Group) -> None:
        """Decide what a group replaces, changes or adds."""
        old, new = [scope.units[index] for index in sorted(group.old)], group.new
        if not old:
            scope.added += [Added(unit, piece_of(unit.node, unit.names)) for unit in new]
            return
        name = scope.path + min(group.names)
        for index, unit in zip(sorted(group.old), old, strict=True):
            if index in scope.gone:
                raise _Unclear(f"{name} is both deleted and defined in the patch")
            if not unit.plain or not unit.names <= group.names:
                why = why_entangled(self.old, unit, min(group.names))
                raise _Unclear(f"{name} is unclear, {why}: define all, or {WHOLE}")
        if len(old) == 1:
            self._replace(scope, min(group.old), new, name)
        elif len(old) == len(new) and all(a.names == b.names for a, b in zip(old, new, strict=True)):
            for index, unit in zip(sorted(group.old), new, strict=True):
                self._replace(scope, index, [unit], name)
        else:
            lines = ", ".join(str(self.old.line_of(unit.start) + 1) for unit in old[:4])
            raise _Unclear(f"{name} is set in {len(old)} places of the program (lines {lines}): define all, or {WHOLE}")

    def _replace(self, scope: Scope, index: int, new: list[Statement], name: str) -> None:
        unit = scope.units[index]
        classes = [each for each in new if isinstance(each.node, ast.ClassDef)]
        if isinstance(unit.node, ast.ClassDef) and classes:
            if len(new) > 1:
                raise _Unclear(f"the patch defines {name} {len(new)} times: put all its changes into one class")
            scope.inner[index] = new[0]
            return
        simple = len(new) == 1 and not new[0].compound
        if not unit.alone and not simple:
            raise _Unclear(f"{name} shares its line with other statements of the program: {WHOLE}")
        scope.replaced[index] = new

    def _descend(self, scope: Scope, index: int, unit: Statement) -> None:
        """Merge the members of a class that the patch changes."""
        if not isinstance(unit.node, ast.ClassDef) or index in scope.gone or index in scope.replaced:
            return
        path = f"{scope.path}{unit.node.name}."
        patch = scope.inner.get(index)
        if patch is None and not any(full.startswith(path) for full in self._deletes):
            return
        begin = body_begin(self.old, unit.node)
        members = units_of(self.old, unit.node.body, begin)
        indent = members[0].indent
        inner = Scope(path=path, units=members, indent=(unit.indent or "") + "    " if indent is None else indent)
        changes: Sequence[Statement] = ()
        if patch is not None and isinstance(patch.node, ast.ClassDef):
            self.edits += self._writer.header(unit, unit.node, patch, patch.node)
            changes = units_of(self.new, patch.node.body, body_begin(self.new, patch.node))
        self._merge(inner, changes, imports(unit.node))

    def _import(self, scope: Scope, unit: Statement, known: set[Import]) -> None:
        """Add the imports of a statement that the scope does not have yet."""
        given = imports_of(unit.node) or []
        fresh = [each for each in given if each not in known]
        if not fresh:
            return
        known.update(fresh)
        for module, _, name, alias in fresh:
            sets = alias or name.partition(".")[0]
            nodes = [scope.units[index].node for index in scope.where.get(sets, ())]
            packages = module is None and alias is None and all(isinstance(node, ast.Import) for node in nodes)
            if nodes and sets != "*" and not packages:
                raise _Unclear(f"the import of {sets} is unclear: the program sets {sets} in another way; {WHOLE}")
        code = None
        if len(fresh) < len(given) and isinstance(unit.node, ast.Import | ast.ImportFrom):
            node = unit.node
            kept = [alias for alias, each in zip(node.names, given, strict=True) if each in fresh]
            names = ", ".join(f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in kept)
            origin = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
            code = f"{origin}import {names}"
        scope.added.append(Added(unit, piece_of(unit.node, unit.names), code))

    # ------------------------------------------------------------------------------------- the text

    def _write(self, scope: Scope) -> None:
        """The edits for what was decided on a scope."""
        rows = rows_of(scope.units)
        order = self._arrangement(scope, rows)
        for index, new in scope.replaced.items():
            self.edits.append(self._writer.replacement(scope.units[index], new))
        gone = [index for index in sorted(scope.gone) if scope.units[index].alone]
        self.edits += [self._writer.neutral(scope.units[index]) for index in scope.gone if index not in gone]
        host: int | None = None
        if scope.path and len(gone) == len(scope.units):
            host = gone.pop(0)  # a class needs a body
        self.edits += [self._writer.removal(scope.units[index]) for index in gone]
        if host is not None:
            self.edits.append(self._writer.refill(scope.units[host], [(each.unit, each.code) for each in scope.added]))
            return
        run: list[Added] = []
        before: Statement | None = None
        for item in order:
            if isinstance(item, Added):
                run.append(item)
            elif any(index not in gone for index in item):
                self._insert(scope, before, run, scope.units[item[0]])
                before, run = scope.units[item[-1]], []
        self._insert(scope, before, run, None)

    def _insert(self, scope: Scope, before: Statement | None, run: Sequence[Added], after: Statement | None) -> None:
        """New definitions between two units of the parent that stay."""
        if not run:
            return
        new = [(each.unit, each.code) for each in run]
        if before is not None:
            if scope.units[0].indent is None:
                self.edits.append(self._writer.class_opening(scope.units[0], scope.indent))
            self.edits.append(self._writer.behind(before, new, after, scope.indent))
        elif after is not None and after.indent is not None:
            self.edits.append(self._writer.ahead(after, new, scope.indent))
        else:
            name = scope.path + min(run[0].unit.names, default="")
            raise _Unclear(f"{name} has no place before the statements on the line of its class: {WHOLE}")

    def _arrangement(self, scope: Scope, rows: Sequence[list[int]]) -> list["list[int] | Added"]:
        """The rows of a scope and the new definitions, in an order that executes."""
        order: list[list[int] | Added] = [*rows]
        if not scope.added:
            return order
        ordering = Ordering([self._piece(scope, row) for row in rows], [new.piece for new in scope.added])
        for new in dependencies_first(scope.added, ordering):
            gap = ordering.insert(new.piece, preferred_gap(scope, order, new))
            if gap is None:
                name = scope.path + min(new.unit.names, default="an import")
                raise _Unclear(f"{name} is used before what it is made of is defined: {WHOLE}")
            order.insert(gap, new)
        return order

    def _piece(self, scope: Scope, row: Sequence[int]) -> NameUse:
        """What a row sets and uses after the patch."""
        total = NameUse()
        for index in row:
            if index in scope.gone:
                continue
            changed = scope.replaced.get(index)
            nodes = [scope.units[index]] if changed is None else changed
            nodes = [*nodes, scope.inner[index]] if index in scope.inner else nodes
            for unit in nodes:
                total = total.plus(piece_of(unit.node, unit.names))
        return total

    def _read_deletes(self) -> set[str]:
        """The dotted names in the lines `# delete: …` of the patch. Raises no error for other comments."""
        found: set[str] = set()
        for index in range(len(self.new.starts)):
            line = self.new.line(index)
            given = _DELETE.match(line) if "#" in line and index + 1 not in self._strings else None
            if given:
                found.update(name.strip(" \t`") for name in given[1].split(",") if name.strip(" \t`"))
        return found
