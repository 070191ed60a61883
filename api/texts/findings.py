"""Words of findings and calls: categories of issues, how a reply ended, who raised an issue.

As in `codes`, whose families they are. A model may name other categories and a server other
ends: those are shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

Wordings = Mapping[str, tuple[str, ...]]


def N_(msgid: str) -> str:
    """Marks a string for extraction."""
    return msgid


CATEGORY: Wordings = {
    "action": (N_("action"),),
    "agenda": (N_("agenda"),),
    "budget": (N_("budget"),),
    "cause": (N_("cause"),),
    "cities": (N_("cities"),),
    "comment": (N_("comment of a person"),),
    "contradiction": (N_("contradiction"),),
    "cuisine": (N_("cuisine"),),
    "date": (N_("date"),),
    "day_beyond": (N_("day beyond the trip"),),
    "day_order": (N_("order of the days"),),
    "day_twice": (N_("day twice"),),
    "decision": (N_("decision"),),
    "doubled_word": (N_("doubled word"),),
    "entity": (N_("person or thing"),),
    "fact": (N_("fact"),),
    "format": (N_("form"),),
    "opening_hours": (N_("opening hours"),),
    "invented": (N_("invented"),),
    "language": (N_("language"),),
    "leg": (N_("way between cities"),),
    "minimum_nights": (N_("nights at least"),),
    "missing": (N_("missing"),),
    "missing_day": (N_("missing day"),),
    "name": (N_("name"),),
    "negation": (N_("negation"),),
    "night": (N_("night"),),
    "no_price": (N_("no price"),),
    "number": (N_("number"),),
    "order": (N_("order"),),
    "overlap": (N_("overlap"),),
    "owner": (N_("owner"),),
    "placeholder": (N_("placeholder"),),
    "price": (N_("price"),),
    "relation": (N_("relation"),),
    "repeat": (N_("repetition"),),
    "repeated": (N_("repetition"),),
    "room_rule": (N_("house rule"),),
    "room_type": (N_("type of room"),),
    "sum": (N_("sum"),),
    "term": (N_("term"),),
    "time": (N_("time"),),
    "times": (N_("times of day"),),
    "transport": (N_("means of travel"),),
    "travel_time": (N_("time of travel"),),
    "unchecked": (N_("not checked"),),
    "unknown_connection": (N_("unknown connection"),),
    "unknown_place": (N_("unknown place"),),
    "value": (N_("value"),),
    "wording": (N_("wording"),),
    "wrong_city": (N_("wrong city"),),
    "wrong_date": (N_("wrong date"),),
    "wrong_name": (N_("wrong name"),),
    "wrong_number": (N_("wrong number"),),
    "wrong_owner": (N_("wrong owner"),),
}

_WHOLE, _LENGTH = N_("ended by itself"), N_("reached the length limit")
_FILTERED, _REFUSED = N_("stopped by a content filter"), N_("refused")
FINISH: Wordings = {
    **dict.fromkeys(
        ("stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed"),
        (_WHOLE,),
    ),
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "model_length",
            "model_context_window_exceeded",
        ),
        (_LENGTH,),
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "safety",
            "recitation",
            "prohibited_content",
            "blocklist",
            "sensitive",
        ),
        (_FILTERED,),
    ),
    "refusal": (_REFUSED,),
    "tool_calls": (N_("asked for a tool"),),
    "function_call": (N_("asked for a tool"),),
    "error": (N_("ended with an error"),),
    "cancelled": (N_("was cancelled"),),
}

RULE: Wordings = {
    "actions": (N_("tasks"),),
    "agenda": (N_("agenda"),),
    "budget": (N_("budget"),),
    "cities": (N_("cities"),),
    "connections": (N_("connections"),),
    "cuisine": (N_("cuisine"),),
    "dates": (N_("dates"),),
    "days": (N_("days"),),
    "decisions": (N_("decisions"),),
    "hours": (N_("opening hours"),),
    "language": (N_("language"),),
    "layout": (N_("layout"),),
    "legs": (N_("ways between cities"),),
    "minimum_nights": (N_("nights at least"),),
    "names": (N_("names"),),
    "nights": (N_("nights"),),
    "numbers": (N_("numbers"),),
    "owners": (N_("owners"),),
    "places": (N_("places"),),
    "prices": (N_("prices"),),
    "repeats": (N_("repetition"),),
    "request": (N_("request"),),
    "room_rule": (N_("house rule"),),
    "room_type": (N_("type of room"),),
    "sums": (N_("sums"),),
    "terms": (N_("terms"),),
    "times": (N_("times of day"),),
    "transport": (N_("means of travel"),),
    "travel_time": (N_("time of travel"),),
    "wording": (N_("wording"),),
}
"""What a verifier looks at, by its name; one of a kind from elsewhere is shown as it is called."""

RAISED_BY: Wordings = {
    "verifier": (N_("a rule ({name})"),),
    "person": ("{name}",),
    "model": (N_("the model ({name})"),),
}

WORDINGS: Mapping[str, Wordings] = {
    "category": CATEGORY,
    "finish": FINISH,
    "raised_by": RAISED_BY,
    "rule": RULE,
}
