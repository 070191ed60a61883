"""Several reviewers side by side: who looks, and what each of them is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from deploy.offline_model.prompt import read_prompt
from deploy.offline_model.review import review as by_rule
from tests.unit.kind_material import work
from workflows.kinds import load_kinds
from workflows.kinds.kind import Item, Prompt, Work
from workflows.vocabulary import StepName

KINDS = load_kinds()
MINUTES = KINDS["minutes"]
SOURCE = "\n".join(f"Ana: line {n}, the price is 25 Euros." for n in range(200))
BODY = "# Minutes\n\nThe price is 26 Euros. Part: gaps\n"
THREE = ["facts", "claims", "gaps"]


def review(reviewers: Any = None, **prompts: Any) -> Work:
    chosen = prompts if reviewers is None else {**prompts, "reviewers": reviewers}
    return replace(work(StepName.REVIEW, SOURCE, BODY), prompts=chosen)


def parts(step: Work) -> list[str]:
    return [part.part for part in MINUTES.parts(step)]


def prompts(step: Work, kept: Sequence[Item] = ()) -> list[Prompt]:
    return [MINUTES.prompt(step, part, kept) for part in MINUTES.parts(step)]


def read(prompt: Prompt) -> Any:
    system = {"role": "system", "content": prompt.system}
    return read_prompt([system, {"role": "user", "content": prompt.user}])


def test_without_a_choice_one_reviewer_looks_for_everything() -> None:
    assert parts(review()) == ["main"]
    [prompt] = prompts(review())
    assert read(prompt).part == ""
    assert prompt.user.endswith("answer with the list of problems as JSON.")


def test_each_reviewer_that_the_profile_names_is_a_part_of_the_review() -> None:
    assert parts(review(THREE)) == THREE
    assert parts(review(["gaps", "facts", "gaps"])) == ["gaps", "facts"]
    keys = [part.key for part in MINUTES.parts(review(THREE))]
    assert len(set(keys)) == 3
    refine = replace(review(THREE), step=StepName.REFINE)
    assert [part.part for part in MINUTES.parts(refine)] == ["main"]


def test_reviewers_share_everything_but_their_task() -> None:
    facts, claims, gaps = prompts(review(THREE))
    assert facts.system == claims.system == gaps.system
    shared, _, own = facts.user.partition("facts")
    assert claims.user.startswith(f"{shared}claims")
    assert gaps.user.startswith(f"{shared}gaps")
    assert BODY.strip() in shared
    assert shared.index(SOURCE.splitlines()[-1]) < shared.index(BODY.strip())
    assert shared.endswith("\nPart: ")
    assert [read(prompt).part for prompt in (facts, claims, gaps)] == THREE
    assert "number" in own


def test_a_continuation_says_whose_it_is_too() -> None:
    kept = Item(key="k", payload={"quote": "26 Euros"})
    assert [read(prompt).part for prompt in prompts(review(THREE), [kept])] == THREE


def test_a_profile_may_word_the_task_of_each() -> None:
    _, claims, _ = prompts(review(THREE, review_claims="Only the promises."))
    assert claims.user.endswith("Part: claims\nOnly the promises.")


@pytest.mark.parametrize(
    ("chosen", "at"),
    [(["facts", "style"], "/reviewers/1"), ([], "/reviewers"), ("facts", "/reviewers")],
)
def test_a_choice_that_cannot_be_is_named(chosen: Any, at: str) -> None:
    [(pointer, problem)] = MINUTES.check_prompts({"reviewers": chosen})
    assert pointer == at
    assert "style" not in str(chosen) or "there are main, claims, facts, gaps" in problem


def test_a_choice_that_can_be_has_no_problem() -> None:
    assert MINUTES.check_prompts({}) == []
    assert MINUTES.check_prompts({"reviewers": [*THREE, "main"], "review": "x"}) == []
    assert KINDS["text"].check_prompts({"reviewers": ["gaps"]}) != []
    assert KINDS["itinerary"].check_prompts({"reviewers": ["main"]}) == []


def test_a_run_under_way_goes_on_with_those_that_are_known() -> None:
    assert parts(review(["style", "facts"])) == ["facts"]
    assert parts(review(["style"])) == parts(review("facts")) == ["main"]


def test_the_offline_model_answers_each_family() -> None:
    said = "Ana: the retail price of the lamp is 42 Euros."
    step = work(StepName.REVIEW, said, "- The retail price of the lamp is 43 Euros.\n")

    def found(name: str) -> list[str]:
        [prompt] = prompts(replace(step, prompts={"reviewers": [name]}))
        return [item["category"] for item in by_rule(read(prompt))["items"]]

    assert found("facts") == found("main") == ["wrong_number"]
    assert found("claims") == found("gaps") == []
