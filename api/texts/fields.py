"""Sentences about what kinds ask for and what their steps are made of: attributes, items, and why
an item of a reply was not kept. As in `codes`, whose families they are.
"""

from __future__ import annotations

from collections.abc import Mapping

Wordings = Mapping[str, tuple[str, ...]]


def N_(msgid: str) -> str:
    """Marks a string for extraction."""
    return msgid


ATTRIBUTE: Wordings = {
    "from": (N_("From"),),
    "to": (N_("To"),),
    "days": (N_("Days"),),
    "cities": (N_("Number of cities"),),
    "start_date": (N_("First day"),),
    "end_date": (N_("Last day"),),
    "people": (N_("People"),),
    "budget": (N_("Budget for all"),),
    "currency": (N_("Currency"),),
    "room_rule": (N_("What the house must allow"),),
    "room_type": (N_("Type of room"),),
    "transport": (N_("How to travel from city to city"),),
    "minimum_nights": (N_("Nights in one place at least"),),
    "cuisine": (N_("Cuisines to be eaten"),),
    "meeting_date": (N_("Date of the meeting"),),
    "timezone": (N_("Time zone"),),
    "participants": (N_("Participants"),),
    "agenda": (N_("Agenda"),),
    "template": (N_("Template"),),
}

HINT: Wordings = {
    "to": (N_("A city, or a region with its number of cities."),),
    "days": (N_("1 to 30."),),
    "currency": (N_("For example EUR."),),
    "room_rule": (N_("For example pets, or no smoking."),),
    "room_type": (N_("For example entire room, or not shared room."),),
    "transport": (N_("For example train, or no flight."),),
    "cuisine": (N_("Several with commas."),),
    "participants": (N_("Several with commas."),),
    "agenda": (N_("Several with commas."),),
    "timezone": (N_("For example Europe/Berlin."),),
}

STALE_DRAFT = (
    N_(
        "Another tab or person saved this draft since (version {draft_version}). Nothing was "
        "overwritten: your text is kept in the form below, and saving it again replaces theirs."
    ),
    N_(
        "Your draft is kept, but revision {newest} is the newest text now; it was made from "
        "revision {base_revision} (saved as version {saved})."
    ),
)
"""Why an unsent edit was not kept, or is kept beside a newer text."""

REVIEW: Wordings = {
    "not_in_text": (N_("These words do not stand in the text like this. Mark them again."),),
    "no_own_text": (
        N_(
            "Nothing of your own differs from this revision: your decisions are about no change of "
            "it. Nothing was confirmed."
        ),
    ),
}
"""What is wrong with a field of the review."""

NOTHING: Wordings = {
    "nothing_asked": (N_("Say what you want; one sentence is enough."),),
    "nothing_to_draft": (
        N_("Choose a transcript, a recording or a draft, or paste a text below."),
    ),
    "nothing_to_review": (N_("Choose the text to be made right, or paste it below."),),
}
"""A form of a new run that holds no text."""

BOUNDS: Wordings = {
    "out_of_calendar": (N_("This must be a time of the years 1970 to 9998."),),
    "no_runs": (N_("Choose at least one run."),),
    "too_many_runs": (
        N_(
            "{chosen} runs were chosen, and at most {limit} are moved at once: here are the "
            "first {limit} of them. Nothing was moved yet."
        ),
        N_("At most {limit} runs are moved at once."),
    ),
}
"""How much, and how far, a field goes."""

FORM: Wordings = {**REVIEW, **NOTHING, **BOUNDS}
"""All that may stand beside a field of a form."""

ITEMS: Wordings = {
    "itinerary": (N_("Days"),),
    "minutes": (N_("Sections"),),
}

DROPPED: Wordings = {
    "duplicate": (N_("kept already, said in the same words"),),
    "changed_earlier": (N_("kept already; another version was offered"),),
    "out_of_range": (N_("beyond what was asked for"),),
    "empty": (N_("without content"),),
    "invalid": (N_("not in the form that was asked for"),),
    "evidence_not_found": (N_("names lines that do not exist or were not shown"),),
    "too_many": (N_("more than a draft takes"),),
}

LIMIT_NAME: Wordings = {
    "max_calls": (N_("calls"),),
    "max_tokens": (N_("tokens"),),
    "max_cost": (N_("cost"),),
    "max_seconds": (N_("seconds at work"),),
}

KIND_LIMIT: Wordings = {
    "body_characters": (N_("a text of at most {limit} characters"),),
    "source_characters": (N_("each source at most {limit} characters"),),
    "window_tokens": (N_("sources longer than {limit} tokens are read in pieces"),),
}
"""Sizes a kind is made for."""

RANGE: Wordings = {
    "1h": (N_("1 hour"),),
    "24h": (N_("24 hours"),),
    "7d": (N_("7 days"),),
    "30d": (N_("30 days"),),
}

PROFILE: Wordings = {
    "name": (N_("Name"),),
    "model": (N_("Model"),),
    "base_url": (N_("Address"),),
    "key_env": (N_("Variable of the key"),),
    "parameters": (N_("Parameters"),),
    "prices": (N_("Prices per million tokens"),),
    "prompts": (N_("Prompts"),),
    "fallback": (N_("Fallback"),),
    "rate_limits": (N_("Rate limits"),),
}

PROFILE_HINT: Wordings = {
    "base_url": (N_("Of the model server, without secrets. Left empty: as the environment says."),),
    "key_env": (N_("The name of an environment variable, never the key itself."),),
    "parameters": (N_("Of each request, for example temperature or max_tokens."),),
    "prices": (N_("Dated tables of one currency; without them a cost is unknown."),),
    "prompts": (N_("In place of the kind's own: review, refine and others, by name."),),
    "fallback": (N_("Another profile, which answers after some errors in a row."),),
    "rate_limits": (N_("Of all workers together: requests and tokens a minute."),),
}

PIECE: Wordings = {
    "input_revision": (N_("Revision"),),
    "sources": (N_("Sources"),),
    "issues": (N_("Open issues"),),
    "kept": (N_("Items kept before"),),
    "schema": (N_("Form of the reply"),),
    "form": (N_("How that form was asked for"),),
}
"""What a prompt is made of."""

LIMIT: Wordings = {
    "limit_calls": (N_("New limit of calls"),),
    "limit_tokens": (N_("New limit of tokens"),),
    "limit_cost": (N_("New cost limit"),),
    "limit_seconds": (N_("New time limit in seconds"),),
}

USAGE: Wordings = {
    "reported": (N_("as the provider reported"),),
    "estimated": (N_("estimated"),),
    "unknown": (N_("not known"),),
}

WORDINGS: Mapping[str, Wordings] = {
    "attribute": ATTRIBUTE,
    "hint": HINT,
    "items": ITEMS,
    "dropped": DROPPED,
    "limit_name": LIMIT_NAME,
    "limit": LIMIT,
    "kind_limit": KIND_LIMIT,
    "usage": USAGE,
    "range": RANGE,
    "piece": PIECE,
    "profile": PROFILE,
    "profile_hint": PROFILE_HINT,
}
