"""Tries to put the Apple into the Fridge and the Bread into the Microwave, and switches it on."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMbWAwTMRLMLMMRLMaLFB",
        "Kitchen24": "DLLLMMLMRRMRMMbRMMMRMWUMAwTaFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMbLLWLAwTLMRMRRMMMLRMaFB",
    }
