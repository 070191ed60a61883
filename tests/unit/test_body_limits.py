"""How large the body of a request may be, by where it goes."""

import pytest
from starlette.datastructures import Headers

from api.files import recordings
from api.http import edge
from deploy.settings import Settings

FORM = Headers({"content-type": "multipart/form-data; boundary=b"})
SETTINGS = Settings(database_url="")


@pytest.mark.parametrize(
    "path",
    [
        "/api/documents",
        "/api/runs",
        "/api/documents/d1/sources",
        "/runs/new",
        "/documents/d1/recordings",
    ],
)
def test_a_form_that_may_bring_a_recording_may_be_as_large_as_one(path: str) -> None:
    assert edge.largest_body(path, FORM, SETTINGS) > recordings.limit(SETTINGS)
    assert edge.largest_body(path, Headers({}), SETTINGS) < recordings.limit(SETTINGS)


@pytest.mark.parametrize("path", ["/api/estimate", "/documents/d1", "/api/documents/d1/revisions"])
def test_any_other_form_may_not(path: str) -> None:
    assert edge.largest_body(path, FORM, SETTINGS) < recordings.limit(SETTINGS)
