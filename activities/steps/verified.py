"""What the verifiers say of a body, said once: a refine verifies the body that the next review
verifies again.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict

from workflows.kinds.kind import Finding, Kind, Material

_KEPT = 1024
_known: OrderedDict[bytes, tuple[Finding, ...]] = OrderedDict()


def verified(kind: Kind, material: Material, body: str) -> tuple[Finding, ...]:
    """All findings of the kind's verifiers. Takes 10 ms for 8 KB: call it in a thread."""
    key = _key(kind, material, body)
    known = _known.get(key)
    if known is None:
        known = _known[key] = tuple(kind.verify(material, body))
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return known


def _key(kind: Kind, material: Material, body: str) -> bytes:
    """Of everything a verifier is given; texts themselves are not kept here."""
    digest = hashlib.sha256()
    given = [kind.name, kind.version, material.title, material.language, material.attributes]
    texts = [json.dumps(given, ensure_ascii=False, sort_keys=True, default=str), body]
    for source in material.sources:
        texts += [source.id, source.name, source.media_type, source.text]
    for text in texts:
        piece = text.encode("utf-8", "surrogatepass")
        digest.update(len(piece).to_bytes(8, "big") + piece)
    return digest.digest()
