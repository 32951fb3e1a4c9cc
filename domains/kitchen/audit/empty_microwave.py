"""Switches the Microwave on with nothing in it, the Apple in the hand in front of it."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWwTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMwTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLwTLMRMRRMMMLRMbFB",
    }
