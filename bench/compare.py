"""Speed of this checkout beside another one of the same project: ratios of CPU time, and how sure they are.

How the figures are made is said in `comparing/turns.py` and in README.md.
"""

from __future__ import annotations

import json
import platform
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from comparing.checkouts import Checkout, UnknownBase, current_checkout, open_base
from comparing.ratios import ERRORS, Estimate, estimate
from comparing.turns import Measurements, compare
from tables import ABSENT, print_table, report

ROUNDS, GOAL = 150, 1.03
FIGURE_MISSED, MISUSE, INTERRUPTED = 1, 2, 130


def print_estimates(measurements: Measurements, base: Checkout, rounds: int, goal: float) -> None:
    """A line for each figure, with the control beside it."""
    head = [
        "",
        "new / base",
        "standard error",
        f"upper bound (mean + {ERRORS} standard errors)",
        f"goal ≤ {goal:g}",
        "base / base",
        "standard error",
        "off by (standard errors)",
    ]
    rows = [row(figure, *estimates, goal=goal) for figure, estimates in read_estimates(measurements).items()]
    rows += [[figure, *[ABSENT] * 3, "MISSED", *[ABSENT] * 3] for figure in measurements.problems]
    print_table(f"CPU time of this checkout over that of {base.name}, {rounds} rounds", head, rows)
    for figure, reason in measurements.problems.items():
        print(f"\n– {figure}: {reason}")


def row(figure: str, compared: Estimate, control: Estimate, *, goal: float) -> list[str]:
    """The cells of a line."""
    verdict = "met" if compared.meets(goal) else "MISSED"
    values = [f"{value:.4f}" for value in (compared.mean, compared.error, compared.upper)]
    return [figure, *values, verdict, f"{control.mean:.4f}", f"{control.error:.4f}", f"{control.errors_off:.1f}"]


def read_estimates(measurements: Measurements) -> dict[str, tuple[Estimate, Estimate]]:
    """The comparison and the control of every figure that was measured to the end."""
    return {
        figure: (estimate(measurements.compared[figure]), estimate(measurements.control[figure]))
        for figure in measurements.sizes
    }


def are_all_met(measurements: Measurements, goal: float) -> bool:
    """Whether every figure was measured and meets the goal."""
    estimates = read_estimates(measurements).values()
    return not measurements.problems and all(compared.meets(goal) for compared, _ in estimates)


def as_json(measurements: Measurements, base: Checkout, options: Namespace) -> dict[str, Any]:
    """Everything for a program."""
    figures = {
        figure: {
            "compared": asdict(compared),
            "control": asdict(control),
            "upper": compared.upper,
            "is_met": compared.meets(options.goal),
            "size": asdict(measurements.sizes[figure]),
            "ratios_by_generation": measurements.compared[figure],
            "control_ratios_by_generation": measurements.control[figure],
        }
        for figure, (compared, control) in read_estimates(measurements).items()
    }
    return {
        "python": platform.python_version(),
        "base": base.name,
        "rounds": options.rounds,
        "goal": options.goal,
        "figures": figures,
        "problems": measurements.problems,
    }


def read_rounds(text: str) -> int:
    """A number of rounds that has a standard error."""
    if not text.isdecimal() or int(text) < 2:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 2")
    return int(text)


def read_goal(text: str) -> float:
    """A ratio."""
    try:
        goal = float(text)
    except ValueError:
        goal = 0.0
    if not 0 < goal < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a ratio such as {GOAL}")
    return goal


def build_parser() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("base", metavar="BASE", help="what to compare with: a git revision or the folder of a checkout")
    parser.add_argument("--rounds", type=read_rounds, default=ROUNDS, help=f"how many rounds (default: {ROUNDS})")
    parser.add_argument("--goal", type=read_goal, default=GOAL, help=f"highest upper bound (default: {GOAL})")
    parser.add_argument("--only", choices=("engine", "runtime"), help="only the figures of this part")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    parser.add_argument("--cache", type=Path, help="where revisions are unpacked (default: .bench)")
    return parser


def run(options: Namespace) -> int:
    """Compare, print, write the JSON file if asked to, and give the exit code."""
    base = open_base(options.base, options.cache)
    measurements = compare(current_checkout(), base, options.only, options.rounds, report)
    report("")
    print_estimates(measurements, base, options.rounds, options.goal)
    if options.json:
        options.json.write_text(json.dumps(as_json(measurements, base, options), indent=2) + "\n")
    return 0 if are_all_met(measurements, options.goal) else FIGURE_MISSED


def main() -> int:
    """Run as the command line says."""
    parser = build_parser()
    options = parser.parse_args()
    try:
        return run(options)
    except UnknownBase as reason:
        report("")
        print(f"{parser.prog}: {reason}", file=sys.stderr)
        return MISUSE
    except KeyboardInterrupt:
        report("")
        print(f"{parser.prog}: interrupted; there are no figures", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
