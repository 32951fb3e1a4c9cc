"""Opens the Fridge from the front, walks round it and puts the Bread in through its side wall."""

from memento.domains.kitchen.audit import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAwTMRLMLMMRLMbLFMRMMLMMMMMMLMMMMMMMB",
        "Kitchen10": (
            "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAwTLMRMRRMMMLRMbFLMMLMMMRMMMMRMMMMMMMMB"
        ),
        "Kitchen27": "DLLaWAwTbLLFMMRMMLMMB",
    }
