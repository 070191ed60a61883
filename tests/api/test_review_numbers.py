"""Numbers that a review is sent: thousands of digits are refused like any other text."""

from __future__ import annotations

from tests.api.harness import Api
from tests.api.test_review import press, waiting
from tests.pages.forms import Browser


async def test_a_number_of_thousands_of_digits_is_no_number(api: Api) -> None:
    browser, digits = Browser(api.client), "9" * 5000
    run, _ = await waiting(api)
    for do, field in (
        ("save", "base_revision"),
        ("comment", "version"),
        ("confirm", "offered"),
        ("comment", "shown_to"),
        ("rework", "extra_rounds"),
        (f"accept:0.{digits}", ""),
        (f"comment:{digits}", ""),
    ):
        typed = {"say": "x"} | ({field: digits} if field else {})
        answer = await press(browser, run, do, **typed)
        assert answer.status_code == 422, (do[:20], field)
    # To take back a remark that is not there does nothing.
    assert (await press(browser, run, f"uncomment:{digits}")).status_code == 303
