"""Takes the Apple out again and switches the empty Microwave on."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAWawTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAWawTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAWawTLMRMRRMMMLRMbFB",
    }
