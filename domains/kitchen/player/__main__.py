"""The player as a process, as the client starts it."""

import argparse
import os
import sys
import threading
import time
from functools import partial
from pathlib import Path

from ....core.errors import UsageError
from .. import procedural as generated
from .. import recorded
from ..options import HELD_OUT, PREFIX, TRAINING
from .actions import Player
from .links import Message, link_of

FIRST_SEQUENCE = 0
LOOK_S = 0.5        # how often it looks whether the client is still there


def main(arguments: list[str], environment: dict[str, str]) -> int:
    """Play until the client goes. Returns the exit code."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    given, _ = _parser().parse_known_args(arguments)
    try:
        player = _player(given.recordings, screen=(given.width, given.height))
        link = link_of(environment)
    except (UsageError, ValueError) as error:
        sys.stderr.write(f"player: {error}\n")
        return 2
    except KeyError as error:
        sys.stderr.write(f"player: {error.args[0]} is not set: a player is started by the ai2thor client\n")
        return 2
    event, sequence = player.event(), FIRST_SEQUENCE
    while (action := link.exchange(_message(event, sequence))) is not None:
        event, sequence = player.perform(action), int(action.get("sequenceId", sequence))
    return 0


def _end_with(client: int) -> None:
    """End when the client has: one that dies before it opens its pipe leaves a player waiting there for ever."""
    while os.getppid() == client:
        time.sleep(LOOK_S)
    os._exit(1)


def _message(event: Message, sequence: int) -> Message:
    return {"agents": [event], "thirdPartyCameras": [], "activeAgentId": 0, "sequenceId": sequence}


def _player(recordings: Path | None, *, screen: tuple[int, int]) -> Player:
    if recordings is not None:
        scenes = {f"{name}_physics": name for name in recorded.scene_names(recordings)}
        return Player(scenes, partial(recorded.load, recordings), screen=screen)
    names = [f"{PREFIX['generated']}{number}" for number in (*TRAINING, *HELD_OUT)]
    return Player({name: name for name in names}, generated.load, screen=screen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="player", description="Speaks AI2-THOR's wire protocol.", allow_abbrev=False)
    parser.add_argument("--recordings", type=Path, metavar="FOLDER", help="recorded kitchens; else generated ones")
    parser.add_argument("-screen-width", dest="width", type=int, default=300, help="as the client gives it")
    parser.add_argument("-screen-height", dest="height", type=int, default=300, help="as the client gives it")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
