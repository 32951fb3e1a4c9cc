"""The screens of the terminal UI, one per file.

    candidate   one policy, evaluator or vote: code, differences, metrics, episodes, prompt and reply
    candidates  every candidate of the run in a list with filter and sorting
    dialogs     dialogs: a line of text such as the path of a file, the time of a stop
    evaluators  the evolution of the evaluator: each pool with its scores, every judge's vote and reason
    filtered    the base class of screens with a filter above a list
    help        the help screen: the keys and the marks
    lineage     the tree of descent: the elites' ancestors, or all candidates
    log         every fact of the run, one per line, filtered by kind and order
    memory      the rejection memory with its fitness differences, and the elites of all generations
    models      the models: each role's calls with latency, tokens and cost, then every call
    overview    the run at a glance: slots, curves, elites, rejection memory, workers and spending
    page        the base class of all screens of a run: the header, the footer, and the messages to the app
    runs        all runs of a folder, with the curves of some of them compared
"""
