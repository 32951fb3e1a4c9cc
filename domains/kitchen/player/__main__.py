"""The player's process, started by the client."""

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
LOOK_S = 0.5        # period of the check that the client is alive


def main(arguments: list[str], environment: dict[str, str]) -> int:
    """Play until the client disconnects. Returns the exit code."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    given, _ = _parser().parse_known_args(arguments)
    try:
        player = _player(given.recordings, screen=(given.width, given.height))
        link = link_of(environment)
    except (UsageError, ValueError) as error:
        sys.stderr.write(f"player: {error}\n")
        return 2
    except KeyError as error:
        sys.stderr.write(f"player: {error.args[0]} is not set: start the player through the ai2thor client\n")
        return 2
    event, sequence = player.event(), FIRST_SEQUENCE
    while (action := link.exchange(_message(event, sequence))) is not None:
        event, sequence = player.perform(action), int(action.get("sequenceId", sequence))
    return 0


def _end_with(client: int) -> None:
    """Exit when the client has ended. If the client dies before it opens its pipe, the player would wait forever."""
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
    parser = argparse.ArgumentParser(prog="player", description="Serves AI2-THOR's wire protocol.", allow_abbrev=False)
    parser.add_argument("--recordings", type=Path, metavar="FOLDER", help="recorded kitchens; default: generated")
    parser.add_argument("-screen-width", dest="width", type=int, default=300, help="set by the client")
    parser.add_argument("-screen-height", dest="height", type=int, default=300, help="set by the client")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
