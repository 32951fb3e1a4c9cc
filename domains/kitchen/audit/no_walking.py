"""Turns, and acts from the place where it starts, far out of reach."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLRRRLRLaWAwTRLLRLbLFB",
        "Kitchen24": "DLLLLRRRaRRWUAwTbFB",
        "Kitchen10": "DLLLRRRRRLLLRLRLRLaLLWLAwTLRRRLRbFB",
    }
