"""Any Gymnasium environment as a domain: the attribute "CartPole-v1" of this module is the domain of that id.

Gymnasium and the simulators are imported by workers and by a short-lived helper process, never by the controller.

    bodies       the simulated bodies of Box2D, pymunk and PyBullet in tables
    brief        the texts of a Gymnasium environment for prompts
    description  what is known of an environment without importing it: spaces, texts
    documentation  an environment's docstring as text for prompts: what is left out, its tables, its sections
    domain       the domain interface of a Gymnasium environment
    environment  A Gymnasium environment behind MEMENTO's port
    endings      why a known environment ended an episode: the value and the bound, or what happened
    evaluator    the reference evaluator as a program: loaded as text, run in a sandbox
    facts        what is in force in a made environment: its arguments
    model_facts  the model of a made environment: its simulated bodies, and the constants of its code
    helper       the helper process that looks at an environment and describes it
    loading      makes Gymnasium environments
    mujoco_model  MuJoCo's compiled model in tables: actuators, joints, bodies and sensors
    names        the ids of Gymnasium environments, and the packages that register them
    options      the options of a Gymnasium environment: names, defaults and validation
    origins      where the numbers of an observation come from, found by comparing values along an episode
    own_code     what an environment's own source says: its constants, success, the names of its actions
    playing      random episodes of an environment that is looked at: their digests, returns and ranges
    perturbing   changed physics: factors drawn for an episode, for MuJoCo and Box2D
    render       pictures of a recorded episode: its actions are repeated in an environment that draws itself
    reward_shape  how rewards and success go together in the episodes of a look, and whether they contradict each other
    spaces       spaces of observations and actions as plain data: a flat list of leaves, each with a name
    masks        masks of actions: a flag for each choice, the choices of one number after those of another
    actions      actions of a policy, flat vectors, as values of the environment's action space: clipped or refused
    success      what an environment says of success: the usual names in `info`
    trace        the recording of an episode: fields, actions, rewards, endings and the numbers of `info` as arrays
    unknown      the sentence for an id that is not registered: which installed module registers it, or how to get it
    versions     the versions of what simulates an environment, also of a module that has none
"""

from .domain import GymDomain, domain_of

__all__ = ["GymDomain", "named", "titles"]

named = domain_of


def titles() -> dict[str, str]:
    """The entry for the list of domains; the ids themselves are in Gymnasium's registry."""
    return {"ID": "Any Gymnasium environment, such as gym:HalfCheetah-v5 or gym:your_package:YourEnv-v0"}


def __getattr__(name: str) -> GymDomain:
    """The domain of an environment's id, such as "HalfCheetah-v5" or "my_package:MyEnv-v0". Raises UsageError."""
    if name.startswith("__"):
        raise AttributeError(name)
    return domain_of(name)
