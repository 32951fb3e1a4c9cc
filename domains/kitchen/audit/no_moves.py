"""Does every deed from where it stands at the start."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "aWAwTbFB",
        "Kitchen24": "aWAwTbFB",
        "Kitchen10": "aWAwTbFB",
    }
