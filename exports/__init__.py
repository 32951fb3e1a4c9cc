"""Exports of a run to other tools. They follow its log from a separate process; the run knows nothing of them.

The pure half turns facts into what other tools know: tables (`rows`), series (`points`), spans (`spans`). A sink per
tool (`sink.Sink`) writes them, and `follow` hands it the facts.
"""
