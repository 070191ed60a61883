"""How a call ended, as its row will say it."""

from __future__ import annotations

from dataclasses import replace

from activities.items import ItemWriter
from activities.model.client import CallEnd, ModelCall
from activities.projection import CallClosing
from activities.spending.metering import Need
from workflows.vocabulary import CallStatus, Reason, UsageSource


def closing_of(
    call: ModelCall, end: CallEnd | None, writer: ItemWriter, need: Need, *, stopped_by: Reason
) -> CallClosing:
    """`end` is None where the call was stopped. Counts tokens where the provider did not say: for a
    long text not on the loop."""
    status, cause, error = CallStatus.SUCCEEDED, None, None
    if end is None:
        status, cause = CallStatus.CANCELLED, stopped_by
    elif end.failure is not None:
        status, cause, error = CallStatus.FAILED, end.failure.cause, end.failure.message
    elif end.cause is not None:
        status, cause, error = CallStatus.FAILED, end.cause, end.fault
    usage, source = call.usage, UsageSource.REPORTED
    if usage is None:
        usage = call.estimate()
        source = UsageSource.UNKNOWN if usage is None else UsageSource.ESTIMATED
    facts: dict[str, object] = {}
    if writer.dropped:
        facts["dropped"] = dict(writer.dropped)
    if named := {code: keys for code, keys in writer.dropped_keys.items() if keys}:
        facts["dropped_keys"] = named
    if end is not None and end.again is not None:
        facts["form_refused"] = True
    if usage is not None and call.may_have_cut(need.prompt):
        facts |= {"prompt_sent": need.prompt, "prompt_counted": usage.input}
    return CallClosing(
        call_id=writer.place.call_id,
        run_id=writer.place.run_id,
        status=status,
        profile=need.profile,
        end_cause=cause,
        finish_reason=end.finish_reason if end else None,
        usage=usage,
        usage_source=source,
        http_status=call.http_status,
        provider_request_id=call.provider_request_id,
        first_token_ms=call.first_token_ms,
        error=error,
        items_kept=writer.kept,
        items_dropped=writer.dropped.total(),
        text=call.reply,
        form=call.form,
        manner=_manner(call, end),
        sample=call.sample(),
        facts=facts,
    )


def _manner(call: ModelCall, end: CallEnd | None) -> str | None:
    if end is not None and end.again is not None:
        return f"refused {call.manner}"
    return call.manner if call.http_status == 200 else None


def as_stored(closing: CallClosing, *, lost: Reason | None, unkept: int) -> CallClosing:
    """The same in view of what the fence lets be stored: `lost` says why a whole reply is not, and
    SUCCEEDED means that it is; `unkept` items of it are not either."""
    closing = replace(closing, items_kept=closing.items_kept - unkept)
    if lost is None:
        return closing
    return replace(closing, status=CallStatus.CANCELLED, end_cause=lost)
