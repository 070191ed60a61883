"""The long activities: a transcription, a draft, a round (review, then refine unless it passed)."""

from __future__ import annotations

from temporalio import activity

from activities.attempt import attempt
from activities.tools import Tools
from workflows.contract import Next, Outcome, WorkInput
from workflows.vocabulary import StepName


class Rounds:
    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @activity.defn(name=Next.ROUND)
    async def round(self, given: WorkInput) -> Outcome:
        """Each step inside is claimed and committed on its own; a retry skips what is done."""
        return await attempt(self.tools, given, (StepName.REVIEW, StepName.REFINE))

    @activity.defn(name=Next.TRANSCRIBE)
    async def transcribe(self, given: WorkInput) -> Outcome:
        """A retry hears only the parts that are missing."""
        return await attempt(self.tools, given, (StepName.TRANSCRIBE,))

    @activity.defn(name=Next.DRAFT)
    async def draft(self, given: WorkInput) -> Outcome:
        return await attempt(self.tools, given, (StepName.DRAFT,))
