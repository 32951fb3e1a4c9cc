"""Skips looking and turning, and acts on what it cannot see."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "MMMMMaWAwTMMMMMbFB",
        "Kitchen24": "MMMMMMaMMMMWMAwTbFB",
        "Kitchen10": "MMMMMMMMMMMMMMMMMaWAwTMMMMMMbFB",
    }
