"""Who recognises speech here: the profile `speech`, and what it can be asked for.

`up --speech` runs a recogniser of its own and names it by `REDRAFT_SPEECH_URL`; the profile stands
for it without that address, whose port may be another with each start. A profile of that name which
a person made is left alone.
"""

from __future__ import annotations

from api.http.errors import misfit
from api.queries.rows import Reader
from deploy.database import Pool
from deploy.settings import Settings
from workflows.vocabulary import SPEECH_KEY, SPEECH_PROFILE, Actor

ENGLISH_ONLY = ".en"
"""How Whisper's models are named that know no other language."""
OWN_MODEL = f"whisper-tiny{ENGLISH_ONLY}"
NO_RECOGNISER = (
    "nothing here recognises speech: start the stack with ./redraft up --speech, or name a server "
    "with /audio/transcriptions in a profile `speech`; or send the transcript as source"
)
OTHER_LANGUAGES = (
    "the recogniser here knows English only; for other languages set REDRAFT_SPEECH_MODEL to the "
    "folder of a multilingual model, or name a server with /audio/transcriptions in a profile "
    "`speech`"
)
_FREE = {"currency": "USD", "tables": [{"minute": "0"}]}


async def ensure_speech_profile(pool: Pool, settings: Settings) -> None:
    """A version of the profile for the recogniser of this stack, if it has one and its newest
    version is not that already, or a person's."""
    if not settings.speech_url:
        return
    await pool.execute(
        """
        INSERT INTO profiles (name, version, model, key_env, prices, actor)
        SELECT $1, coalesce(max(p.version), 0) + 1, $2, $3, $4, $5
        FROM profiles p WHERE p.name = $1
        HAVING coalesce((SELECT n.actor = $5 AND (n.base_url, n.model, n.prices)
                                IS DISTINCT FROM (NULL::text, $2, $4)
                         FROM profiles n WHERE n.name = $1 ORDER BY n.version DESC LIMIT 1), true)
        ON CONFLICT (name, version) DO NOTHING
        """,
        SPEECH_PROFILE,
        settings.speech_model.rstrip("/").rpartition("/")[2] or OWN_MODEL,
        SPEECH_KEY,
        _FREE,
        Actor.SYSTEM,
    )


async def require_recogniser(reader: Reader, settings: Settings, language: str | None) -> None:
    """Raises 422 where nobody could transcribe a recording, or not one in this language."""
    row = await reader.fetchrow(
        """
        SELECT model, actor = $2 AS ours FROM profiles
        WHERE name = $1 ORDER BY version DESC LIMIT 1
        """,
        SPEECH_PROFILE,
        Actor.SYSTEM,
    )
    if row is None or (row["ours"] and not settings.speech_url):
        raise misfit("/audio", NO_RECOGNISER)
    if not row["model"].endswith(ENGLISH_ONLY):
        return
    if language is None:
        raise misfit("/language", f"say the language of the recording: {OTHER_LANGUAGES}")
    if language.partition("-")[0].lower() not in ("en", "eng"):
        raise misfit("/language", OTHER_LANGUAGES)
