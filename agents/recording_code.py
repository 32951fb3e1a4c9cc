"""Code over a recording: the program that runs it where evaluators run, and its output.

The code gets what an evaluator gets. It could send any result, as every evaluator could: the result is bounded text.
"""

from collections.abc import Mapping

from ..core.text import excerpt
from ..core.values import JSON, Contract, Program

MAX_OUTPUT = 3_600  # characters of what it prints; as JSON at most twice as many bytes

_PROGRAM = '''import contextlib, io, json, traceback
import numpy as np

CODE = {code}


class _Output(io.StringIO):
    def write(self, text):
        if self.tell() < {limit} * 4:
            super().write(str(text)[: {limit} * 4])
        return len(text)


class {class_name}:
    def {method}(self, arrays):
        output = _Output()
        problem = ""
        try:
            with contextlib.redirect_stdout(output):
                exec(compile(CODE, "compute.py", "exec"), {{"np": np, "arrays": arrays, "__name__": "compute"}})
        except BaseException as error:
            frame = error.__traceback__
            while frame is not None and frame.tb_frame.f_code.co_filename != "compute.py":
                frame = frame.tb_next
            problem = "".join(traceback.format_exception(type(error), error, frame))[-1200:]
        text = output.getvalue()
        text = text if len(text) <= {limit} else text[:{limit}] + " [...]"
        while len(json.dumps([text, problem])) > 7500:
            text, problem = text[: len(text) * 3 // 4], problem[-len(problem) * 3 // 4 :]
        return 0.0, {{"printed": text, "problem": problem}}
'''


def code_program(code: Program, contract: Contract) -> Program:
    """An evaluator that runs the code with `arrays` and `np`, and returns what it printed and how it failed."""
    return Program(_PROGRAM.format(
        code=repr(code.text), limit=MAX_OUTPUT, class_name=contract.class_name, method=contract.methods[0][0],
    ))


def output_of(metrics: Mapping[str, JSON]) -> str:
    """What the code printed, and its exception if it raised one."""
    printed, problem = str(metrics.get("printed", "")), str(metrics.get("problem", ""))
    parts = [excerpt(printed.rstrip("\n"), 2 * MAX_OUTPUT)] if printed.strip() else []
    parts += [f"it raised:\n{excerpt(problem, MAX_OUTPUT)}"] if problem.strip() else []
    return "\n".join(parts) or "the code printed nothing"
