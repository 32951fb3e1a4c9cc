"""The classes of commands and groups: help that lists choices, and errors in this project's form."""

import re
from difflib import get_close_matches
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from ..core import extensions
from ..core.errors import UsageError, no_such
from .choices import with_choices

CONTEXT: Final = {"help_option_names": ["-h", "--help"]}

_TYPE: Final = re.compile(r" <[^>]*>$")     # which Typer adds to an argument's name


class Command(TyperCommand):
    """A command whose help fills in `{placeholders}` when it is shown, and imports registries only then."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections on arguments and options."""
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            parameters = [each for each in self.get_params(ctx) if each.param_type_name == kind]
            records = [record for each in parameters if (record := each.get_help_record(ctx)) is not None]
            rows = [(with_choices(_TYPE.sub("", name), "|"), with_choices(text)) for name, text in records]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class CommandGroup(TyperGroup):
    """A command with subcommands, such as `memento` itself. Without arguments it shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse into `ctx`; returns the remaining arguments for the subcommand."""
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of this name. Raises UsageError with the nearest names."""
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            raise no_such("command", args[0], known)
        return super().resolve_command(ctx, args)


class AllCommands(CommandGroup):
    """`memento` itself: its own commands, and those of extensions, each imported when it is called or described."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return [*super().list_commands(ctx), *extensions.names(extensions.COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name; one that cannot be loaded says so in the list of commands."""
        if cmd_name in self.commands or cmd_name not in extensions.names(extensions.COMMANDS):
            return super().get_command(ctx, cmd_name)
        try:
            return self._extension(cmd_name)
        except UsageError as error:
            return TyperCommand(cmd_name, help=str(error))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of this name. Raises UsageError, also for one that cannot be loaded."""
        if args[0] in extensions.names(extensions.COMMANDS) and not ctx.resilient_parsing:
            self._extension(args[0])
        return super().resolve_command(ctx, args)

    def _extension(self, name: str) -> Any:
        found = typer.main.get_command(extensions.load(extensions.COMMANDS, name))
        found.name = name
        return found


def usage_error(error: typer.TyperException) -> UsageError:
    """The error in a command line as one sentence."""
    if hasattr(error, "possibilities"):     # an unknown option; Typer does not export its class
        return _unknown_option(getattr(error, "option_name", ""), getattr(error, "ctx", None))
    text = " ".join(error.format_message().split()).rstrip(".").partition(", unable to parse")[0]
    text = text.replace("Value error, ", "").replace(": Input should", ": it should")
    return UsageError(text[:1].lower() + text[1:])


def _unknown_option(given: str, ctx: Any) -> UsageError:
    known = [name for each in ctx.command.get_params(ctx) if isinstance(each, TyperOption) for name in each.opts]
    if get_close_matches(given, known):
        return no_such("option", given, known)
    return UsageError(f"unknown option {given!r}: {ctx.command_path} --help lists the options")
