"""Programs bred for an audit: climbing to fitness, deterministic, without a success among the parents."""

from memento.app.breeding import BATCH, Breeder
from memento.core.audits import BRED, AuditedProgram
from memento.core.programs.program_text import digest
from memento.core.values import Program

TEXT = '''"""A founder."""


class Policy:
    """Acts by one number."""

    SIZE = 0.5

    def reset(self):
        pass

    def compute_action(self, obs):
        return [self.SIZE]
'''


def judged(name: str, text: str, *, success: bool = False) -> AuditedProgram:
    """Its fitness is its number, as an evaluator that pays for size would say."""
    size = min(1.0, float(text.split("SIZE = ")[1].split()[0]) / 2)
    return AuditedProgram(name=name, kind=BRED, text=text, fitnesses=(size,), successes=(success,))


def bred(seed: int, count: int) -> list[AuditedProgram]:
    breeder = Breeder(None, [judged("founder", TEXT)], seed=seed)
    made: list[AuditedProgram] = []
    while len(made) < count:
        batch = [judged(name, text) for name, text in breeder.batch(count - len(made))]
        assert batch
        breeder.take(batch)
        made += batch
    return made


def test_the_same_seed_makes_the_same_programs_and_none_twice() -> None:
    first = bred(1, 20)
    assert first == bred(1, 20)
    assert first != bred(2, 20)
    assert len({digest(Program(str(each.text))) for each in first}) == 20


def test_it_climbs() -> None:
    assert max(each.fitness for each in bred(3, 48)) > 0.8, "the founder has 0.25"


def test_a_program_that_succeeds_is_no_parent() -> None:
    breeder = Breeder(None, [judged("founder", TEXT, success=True)], seed=1)
    assert breeder.batch(BATCH) == (), "there is nothing to breed from"


def test_a_program_without_numbers_cannot_be_bred() -> None:
    text = TEXT.replace("    SIZE = 0.5\n\n", "").replace("self.SIZE", "obs")
    founder = AuditedProgram(name="f", kind=BRED, text=text, fitnesses=(0.5,), successes=(False,))
    assert Breeder(None, [founder], seed=1).batch(4) == ()
