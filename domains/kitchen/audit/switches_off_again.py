"""Switches the Microwave off as soon as it was on, to have been on once."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAwTtMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAwTtbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAwTtLMRMRRMMMLRMbFB",
    }
