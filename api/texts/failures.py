"""What a row of a call says of its failure, for a reader of another language.

The row holds a sentence of ours in English and behind it what the server itself said, which stays
as it came. A test holds these sentences equal to those that are stored.
"""

from __future__ import annotations

import re

from api.texts.text import Catalogue

_MARK = " It says: "
_STATUS = re.compile(r"The model server answered (\d{3}|None)\.")


def N_(msgid: str) -> str:
    """Marks a string for extraction."""
    return msgid


OURS = (
    N_(
        "The provider refused the key; put a valid one into the environment variable that "
        "the profile names, restart the worker, resume."
    ),
    N_("The provider's account has no quota left; raise it there, resume."),
    N_(
        "The provider does not know this model or path; correct model or base URL in a new "
        "version of the profile, resume."
    ),
    N_(
        "The request does not fit the model's context; use a model with a larger one in the"
        " profile, or shorter sources, resume."
    ),
    N_(
        "The model server counted far fewer tokens than were sent: it read only part of the"
        " prompt; give it more context (Ollama: num_ctx), or lower window_tokens in the "
        "profile, resume."
    ),
    N_("The provider refused the request; correct the profile's parameters, resume."),
    N_(
        "The base URL of the profile is not the http or https address of a model server, "
        "without user name; correct it, resume."
    ),
    N_(
        "The proxy between here and the model server wants other credentials; set them in "
        "the proxy variables of the worker, restart it, resume."
    ),
    N_(
        "The model server's certificate is not trusted, expired or for another name; set "
        "SSL_CERT_FILE to your authority's file and restart the worker, or repair the "
        "server, resume."
    ),
    N_("The provider's content filter stopped the request or the reply."),
    N_("The model refused to answer."),
    N_("The provider asks to slow down."),
    N_("The profile's own rate limit is used up for the moment."),
    N_("The provider is overloaded."),
    N_(
        "The model server's context is shared by its requests and was full; start it with "
        "more, or with a fixed share for each."
    ),
    N_("The model server did not answer in time."),
    N_("The connection to the model server broke before anything arrived."),
    N_("The model server cannot be reached."),
    N_("The model server answered with something that is no reply."),
    N_("The model server reported an error inside its reply."),
    N_(
        "The model server does not take this form of request; the part is asked again at "
        "once in a plainer one."
    ),
)


def failure_told(error: str, words: Catalogue) -> str:
    """The stored error in the reader's language, as far as it is ours."""
    sentence, mark, told = error.partition(_MARK)
    status = _STATUS.fullmatch(sentence)
    if sentence in OURS:
        sentence = words.text(sentence)
    elif status is not None and status[1].isdigit():
        sentence = words.sentence("provider", "http", {"status": status[1]})
    if not mark:
        return sentence
    return words.text("%(sentence)s It says: %(told)s") % {"sentence": sentence, "told": told}
