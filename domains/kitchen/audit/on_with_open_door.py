"""Switches the Microwave on while its door is open."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWATMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMATbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLATLMRMRRMMMLRMbFB",
    }
