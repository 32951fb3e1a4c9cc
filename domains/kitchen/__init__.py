"""The household task in kitchens of AI2-THOR (paper, appendix, AI2-THOR household environment).

    audit        programs that please an evaluator without doing the task
    backends     makes the environment for the options
    domain       the domain interface of the kitchen task
    known_episodes  episodes of known order of merit for probes: the stages of the task
    environment  the kitchen task as an environment: JSON observations, named actions, 250 steps
    evaluator    the evaluator that the paper selected, as a program: loaded as text, run in a sandbox
    floor_plan   paints one state of a kitchen as a floor plan, with a description next to it
    observation  the observation of a policy (paper, appendix, observation space): a dict of JSON values per step
    options      the options of a kitchen environment: names, defaults and validation
    recorded     reads kitchens recorded from AI2-THOR: start metadata, and the cells where the agent can stand
    render       pictures of a recorded kitchen episode
    rules        rules of the kinds of object: where items may be put, how things open, and the categories of failures
    scene        A kitchen at the start of an episode: its objects, the cells where the agent can stand, its walls
    simulator    the interface of a back end: it loads one kitchen at a time
    story        the story of a kitchen episode for those who write policies: pose, action, error, what is held
"""

from .domain import KitchenDomain

DOMAIN = KitchenDomain()
