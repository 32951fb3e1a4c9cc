"""MEMENTO's tasks as Gymnasium environments. Importing this module registers them:

    memento/Hanoi-v0            Tower of Hanoi with a Franka Panda in robosuite: a goal environment
    memento/HanoiKinematic-v0   the same task without physics: a goal environment
    memento/Kitchen-v0          the household task

`gymnasium.make("memento.envs:memento/Hanoi-v0")` imports it. Keyword arguments are the options of the domain, such as
`variant`, `randomisation`, `physics` and `horizon`, completed from the preset `paper` as `memento evaluate` does it.

An environment lives in the caller's process, without a sandbox: the agent that steps it is trusted code. Generated
programs belong in `memento.evaluate`, which gives each one a separate process.

    episodes  the common part of the Gymnasium environments: a domain's environment, its seeds
    goals     the rewards of the Tower of Hanoi as a goal environment (paper, appendix on SAC + HER)
    hanoi     the two Towers of Hanoi as Gymnasium goal environments
    kitchen   the household task as a Gymnasium environment
"""

import gymnasium

IDS = {
    "memento/Hanoi-v0": "memento.domains.envs.hanoi:HanoiEnv",
    "memento/HanoiKinematic-v0": "memento.domains.envs.hanoi:HanoiKinematicEnv",
    "memento/Kitchen-v0": "memento.domains.envs.kitchen:KitchenEnv",
}

for _id, _entry_point in IDS.items():
    if _id not in gymnasium.registry:
        # The environments end their episodes themselves: the horizon is an option of the domain.
        gymnasium.register(id=_id, entry_point=_entry_point, order_enforce=True)
