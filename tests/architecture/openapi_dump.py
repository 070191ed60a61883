"""The OpenAPI document of the API, sorted, as it is kept in `deploy/openapi.json`."""

from __future__ import annotations

import json
import sys

from api.app import create_app
from deploy.settings import load


def current() -> str:
    """Made without any service: the routes and models alone say it."""
    app = create_app(load({}, need_database=False))
    document = app.openapi()
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(current())
