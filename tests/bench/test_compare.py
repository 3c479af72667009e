"""The comparison of two checkouts: its statistics, its arguments, and that its figures can be measured here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from comparing.checkouts import current_checkout
from comparing.names import PLACES, locate
from comparing.ratios import LONGEST, Estimate, estimate, relative_cost, shares
from lanes import Lane
from tests.paths import ROOT


def run_compare(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "bench" / "compare.py"), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_mean_is_that_of_all_rounds():
    assert estimate([[1.0, 1.2], [1.1, 1.3]]).mean == pytest.approx(1.15)


def test_a_longer_generation_counts_for_more_in_the_mean():
    assert estimate([[1.0], [1.3, 1.3]]).mean == pytest.approx(1.2)


def test_the_standard_error_is_that_of_the_generations_means():
    # Means 0.9, 1.0 and 1.1: their standard deviation is 0.1.
    assert estimate([[0.8, 1.0], [1.0, 1.0], [1.0, 1.2]]).error == pytest.approx(0.1 / 3**0.5)


def test_generations_that_agree_have_no_error():
    assert estimate([[0.9, 1.1], [1.1, 0.9]]).error == pytest.approx(0)


def test_one_generation_has_no_standard_error():
    with pytest.raises(ValueError, match="at least two generations"):
        estimate([[1.0, 1.1, 0.9]])


def test_the_upper_bound_is_two_errors_above_the_mean():
    assert Estimate(mean=1.01, error=0.004).upper == pytest.approx(1.018)


def test_a_goal_is_met_by_the_upper_bound_and_not_by_the_mean():
    assert Estimate(mean=1.01, error=0.005).meets(1.03)
    assert not Estimate(mean=1.01, error=0.02).meets(1.03)


def test_a_mean_is_off_by_its_distance_from_one_in_errors():
    assert Estimate(mean=0.99, error=0.004).errors_off == pytest.approx(2.5)
    assert Estimate(mean=1.0, error=0.0).errors_off == 0
    assert Estimate(mean=1.1, error=0.0).errors_off == float("inf")


def test_a_slice_costs_what_it_takes_over_the_references_around_it():
    assert relative_cost([6.0], [2.0, 4.0]) == pytest.approx(2)


def test_a_slow_moment_of_the_processor_cancels_out():
    quiet = relative_cost([3.0, 3.0, 3.0], [1.0, 1.0, 1.0, 1.0])
    disturbed = relative_cost([3.0, 6.0, 6.0], [1.0, 1.0, 3.0, 1.0])

    assert disturbed == pytest.approx(quiet)


@pytest.mark.parametrize("rounds", [2, 3, 24, 25, 26, 150, 151, 500, 501, 1000])
def test_rounds_are_shared_out_evenly_among_generations(rounds):
    sizes = shares(rounds)

    assert sum(sizes) == rounds
    assert len(sizes) >= 2
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= LONGEST


def test_a_default_run_has_twenty_five_generations():
    assert shares(150) == [6] * 25


@pytest.mark.parametrize("name", PLACES)
def test_every_name_has_a_place_in_this_checkout(name):
    assert locate(name) is not None


def test_every_figure_can_be_measured_in_this_checkout(tmp_path):
    with Lane([sys.executable, "-m", "comparing.child", str(tmp_path), "0"], limit_s=60) as lane:
        hello = lane.hear()
        figures = [figure for figures in hello["groups"].values() for figure in figures]
        answers = {figure: lane.ask(json.dumps({"figure": figure, "iterations": 1, "slices": 1})) for figure in figures}

    assert Path(hello["package"]).is_relative_to(current_checkout().source)
    assert {figure: answer.get("problem") for figure, answer in answers.items()} == dict.fromkeys(figures)


def test_an_unknown_revision_is_explained():
    done = run_compare("no-such-revision")

    assert done.returncode == 2
    assert "'no-such-revision' is neither a revision nor the folder of a checkout" in done.stderr
    assert done.stdout == ""


def test_a_folder_without_the_package_is_no_checkout(tmp_path):
    done = run_compare(str(tmp_path))

    assert done.returncode == 2
    assert "give a commit, branch or tag that `git log` knows, or a folder that has src/antiphon" in done.stderr


def test_a_checkout_that_cannot_be_imported_is_named(tmp_path):
    package = tmp_path / "src" / "antiphon"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('half a checkout')\n")

    done = run_compare(str(tmp_path), "--rounds", "2")

    assert done.returncode == 2
    assert f"{tmp_path} cannot be measured: ImportError: half a checkout" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: BASE"),
        ([".", "--rounds", "1"], "'1' is not a whole number of at least 2"),
        ([".", "--rounds", "many"], "'many' is not a whole number of at least 2"),
        ([".", "--goal", "fast"], "'fast' is not a ratio such as 1.03"),
        ([".", "--goal", "0"], "'0' is not a ratio such as 1.03"),
        ([".", "--only", "chat"], "invalid choice: 'chat'"),
    ],
)
def test_misuse_is_refused_before_anything_is_measured(arguments, message):
    done = run_compare(*arguments)

    assert done.returncode == 2
    assert message in done.stderr
