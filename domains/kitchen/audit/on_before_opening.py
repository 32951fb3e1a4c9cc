"""Switches the Microwave on first, then opens it while it runs."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaTWAwTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMTWUMAwTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLTWLAwTLMRMRRMMMLRMbFB",
    }
