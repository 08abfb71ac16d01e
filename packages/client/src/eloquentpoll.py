"""EloquentPoll in one file: copy it into a project and import it. Python 3.10 or newer, and nothing but its standard library.

- Every call ends: with an answer, with an `EloquentPollError`, or by the cancellation of its task.
- A poll runs once, however often its request is retried: each call has its own Idempotency-Key.
- A call that is not idempotent is retried only if the service refused it.
- Calls wait if a rate limit of the service (`RateLimit-*`) is used up and resets soon.

    polls = EloquentPoll(api_key="...")
    result = polls.ask("Which is larger?", ["The Sun", "The Moon"])
    print(result["outcome"], result["confidence"])

`AsyncEloquentPoll` has the same calls for asyncio: use `await`, and `async for` for streams.

Answers are the service's JSON, typed. They may contain more fields than are typed here. Connections go directly to the service:
proxies are not used and redirects are not followed.
"""

from __future__ import annotations

import asyncio
import base64
import codecs
import functools
import hashlib
import hmac
import json
import math
import os
import random
import re
import secrets
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import IO, TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Union, cast
from urllib.parse import quote, urlencode, urlsplit

if TYPE_CHECKING:
    from typing_extensions import Unpack

BASE_URL = "http://localhost:8080"
"""The service that this file was downloaded from."""

# ------------------------------------------------------------------------------------------------------------ shapes

Preset = Literal["broad", "fast", "strong"]
FreeTheme = Literal["free", "free_search"]
PanelName = Literal["broad", "fast", "strong", "free", "free_search", "custom"]
QuickTheme = Literal["broad", "fast", "strong", "search", "free", "free_search"]
ResultStatus = Literal["success", "partial", "failed"]
SessionState = Literal["running", "completed", "failed"]
LimitReset = Literal["never", "daily", "monthly"]
BatchStatus = Literal["running", "canceling", "completed", "canceled", "expired"]
WebhookEventType = Literal[
    "poll.completed", "poll.failed", "batch.completed", "balance.low", "key.limit_reached", "endpoint.disabled"
]
DeliveryStatus = Literal["pending", "delivered", "failed"]
BatchOutcome = Literal["success", "partial", "failed", "canceled", "not_run"]
NotRunReason = Literal["canceled", "expired", "uncovered"]
TerminationReason = Literal["mathematical_lock", "confidence", "budget", "roster_exhausted"]
VoteError = Literal["timeout", "refusal", "invalid_choice", "malformed", "rate_limited", "provider_error", "aborted"]


class PollTerms(TypedDict, total=False):
    """The settings of a poll, other than its question and options."""

    preset: Preset
    models: Sequence[str]
    """3 to 15 model ids, instead of a preset."""
    panel: str
    """The name of a saved panel, instead of a preset."""
    confidence_threshold: float
    """0 to 1: how certain the outcome must be before the poll stops early. Default: 0.95."""
    max_cost_usd: float
    """The maximum cost of the poll, which is never exceeded. Default: 1."""
    reasons: bool
    """Ask each model for one sentence with its vote."""
    metadata: Mapping[str, str]
    """Your own labels, to find polls by: at most 16 pairs, keys up to 64 and values up to 512 characters."""
    expires_in: int
    """Seconds after which the poll and its result are deleted. At most the service's own retention."""
    webhook_url: str
    """For sessions and streams: an address that is notified of the end by a webhook."""
    service_tier: Literal["standard", "flex"]
    """For `begin` only. `flex`: cheaper, runs only while no other poll waits, and ends within 24 hours."""


class QuickTerms(TypedDict, total=False):
    theme: QuickTheme
    models: Sequence[str]
    panel: str
    confidence_threshold: float
    max_cost_usd: float
    reasons: bool
    metadata: Mapping[str, str]
    """Needs a key."""
    expires_in: int
    """Seconds after which the poll and its result are deleted."""


class StoodAlike(TypedDict):
    """Audited polls in a similar state, and how many of them the leader of that time won."""

    audits: int
    same_leader: int


class AskedByRecord(TypedDict):
    order: Literal["cheapest", "shuffled"]
    roster_version: str
    lock_only: bool


class _PublicVote(TypedDict):
    model_id: str
    success: bool
    chosen_option: str | None
    transition: Literal["vote"]
    latency_ms: int
    error: VoteError | None


class PublicVote(_PublicVote, total=False):
    reason: str | None
    """One sentence by the model, if `reasons` were asked for. Untrusted text."""


class Vote(PublicVote):
    estimated_cost: float


class _Arrival(TypedDict):
    at_ms: int
    confidence: float | None


class Arrival(_Arrival, total=False):
    chances: list[float]
    track_record: StoodAlike


class _Timing(TypedDict):
    gather_ms: int
    total_ms: int


class Timing(_Timing, total=False):
    arrivals: list[Arrival]


class Verdict(TypedDict):
    """The outcome of a poll in words for people."""

    kind: Literal["final", "kept", "tied", "unsafe", "unanswered"]
    headline: str
    agreement: Literal["unanimous", "broad", "clear", "split", "tied"] | None
    likely_to_stay: float | None
    text: str


class MissingModel(TypedDict):
    model_id: str
    error: VoteError


class PanelStanding(TypedDict):
    """The panel at the end of the poll."""

    asked: int
    heard: int
    missing: list[MissingModel]
    vendors_heard: int
    effective_votes: float | None
    slowest_heard_ms: int | None


class Reading(TypedDict):
    """A second opinion, with each vote weighted by how reliable its model is. It never changes the winner."""

    winner: str | None
    differs: bool
    likelihood: float | None
    version: str


class _Costs(TypedDict):
    total_estimated_cost: float


class Costs(_Costs, total=False):
    failed_calls_cost: float


class Usage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class _PollResponse(TypedDict):
    poll_id: str
    status: ResultStatus
    outcome: str
    question: str
    options: list[str]
    poll_type: Literal["fptp"]
    winning_option: str | None
    is_tie: bool
    confidence_threshold: float
    max_cost_usd: float
    early_terminated: bool
    termination_reason: TerminationReason | None
    models_skipped: int
    tally: dict[str, int]
    votes: list[Vote]
    timing: Timing
    costs: Costs
    confidence: float | None
    preset: PanelName
    simulated: bool


class PollResponse(_PollResponse, total=False):
    """A finished poll as shown to its owner."""

    usage: Usage
    chances: list[float]
    """The probability that each of `options` wins. The last one is that of a tie."""
    track_record: StoodAlike
    asking: AskedByRecord
    verdict: Verdict
    panel: PanelStanding
    reading: Reading
    code: Literal["budget_too_small", "poll_canceled"]
    min_cost_usd: float
    saved_panel: str
    expires_at: str
    """When the poll is deleted."""


class _ResultDetail(TypedDict):
    poll_id: str
    status: ResultStatus
    question: str | None
    options: list[str]
    poll_type: str
    winning_option: str | None
    is_tie: bool
    confidence_threshold: float | None
    max_cost_usd: float | None
    early_terminated: bool
    termination_reason: TerminationReason | None
    models_skipped: int
    tally: dict[str, int]
    votes: list[PublicVote]
    models_requested: int
    models_succeeded: int
    models_failed: int
    timing: Timing
    created_at: str


class ResultDetail(_ResultDetail, total=False):
    """A result as shown to anyone who knows its id."""

    confidence: float | None
    chances: list[float]
    track_record: StoodAlike
    asking: AskedByRecord
    verdict: Verdict
    panel: PanelStanding
    reading: Reading
    preset: str
    simulated: bool
    expires_at: str
    """When the poll is deleted."""


class RecentResult(TypedDict):
    resultId: str
    pollType: str
    winningOption: str | None
    isTie: bool
    modelsRequested: int
    modelsSucceeded: int
    createdAt: str


class _HistoryResult(RecentResult):
    status: ResultStatus
    totalCostUsd: str
    totalMs: int | None


class HistoryResult(_HistoryResult, total=False):
    expiresAt: str | None
    """When the poll is deleted."""


class Progress(TypedDict):
    received: int
    succeeded: int
    failed: int
    total: int


class _SessionStatus(TypedDict):
    session_id: str
    status: SessionState
    result_id: str | None


class Failure(TypedDict):
    code: str
    error: str


class SessionStatus(_SessionStatus, total=False):
    progress: Progress
    result: PollResponse
    """With `include="result"`, after the poll has ended."""
    failure: Failure


class ListedPoll(TypedDict):
    """A poll in its account's list."""

    session_id: str
    status: SessionState
    result_id: str | None
    question: str
    preset: PanelName
    service_tier: Literal["standard", "flex"]
    metadata: dict[str, str]
    key_id: str | None
    """The id of the API key that was used. None for a login."""
    winning_option: str | None
    is_tie: bool
    is_close: bool
    """A tie, a lead that one switched vote would end, or an outcome that missing votes could have changed."""
    cost_usd: float | None
    created_at: str
    ended_at: str | None
    expires_at: str | None
    """When the poll is deleted."""


class PollList(TypedDict):
    polls: list[ListedPoll]
    """Newest first."""
    has_more: bool
    """True if there are more pages. This page may be short or empty all the same if few polls match the filters."""
    after: str | None
    """Leads to the page of older polls. None if there is none."""
    before: str | None
    """Leads to the page of newer polls. None if there is none."""


class PollFilters(TypedDict, total=False):
    status: SessionState
    created_after: str
    created_before: str
    preset: PanelName
    key_id: str
    close: bool
    metadata: Mapping[str, str]


class _BatchRow(PollTerms):
    question: str
    options: Sequence[str]


class BatchRow(_BatchRow, total=False):
    """A poll of a batch."""

    custom_id: str
    """Your own id for the row, unique in the batch. Default: its line number."""
    gold: str
    """The right answer, if you know it: the text of one of the options."""


class BatchTerms(TypedDict, total=False):
    """Settings of a whole batch."""

    preset: Preset
    confidence_threshold: float
    reasons: bool
    max_cost_usd: float
    """The maximum cost of the whole batch. Rows that it does not cover are not run."""
    metadata: Mapping[str, str]
    webhook_url: str
    """An address that is notified of the batch's end by a webhook."""
    skip_invalid: bool
    """Skip invalid rows instead of refusing the batch."""


class BatchRowError(TypedDict):
    """What is wrong with a row. `line`: line number in the file, or number of the row; both start at 1."""

    line: int
    custom_id: str | None
    field: str | None
    message: str


class BatchCounts(TypedDict):
    total: int
    waiting: int
    running: int
    success: int
    partial: int
    failed: int
    canceled: int
    not_run: int


class BatchSkipped(TypedDict):
    count: int
    first: list[BatchRowError]


class Batch(TypedDict):
    batch_id: str
    status: BatchStatus
    service_tier: Literal["flex"]
    counts: BatchCounts
    not_run_reason: NotRunReason | None
    """Why rows were not run. None if all were, and until the batch has ended."""
    skipped: BatchSkipped
    has_gold: bool
    cost_usd: float
    reserved_usd: float
    """The amount set aside for waiting rows. Running polls have holds in addition."""
    max_cost_usd: float | None
    metadata: dict[str, str]
    created_at: str
    expires_at: str
    """Rows that have not started by then are not run."""
    ended_at: str | None
    status_url: str
    results_url: str
    report_url: str | None


class BatchFailure(TypedDict):
    code: str
    error: str


class BatchResult(TypedDict):
    """The result of a row."""

    custom_id: str
    line: int
    status: BatchOutcome
    not_run_reason: NotRunReason | None
    """Why the row was not run. None if it was."""
    session_id: str | None
    result: PollResponse | None
    error: BatchFailure | None
    gold: str | None
    is_right: bool | None
    """None without `gold` or without an answer."""


class BatchList(TypedDict):
    batches: list[Batch]
    """Newest first."""
    has_more: bool
    after: str | None
    before: str | None


class BatchDeleted(TypedDict):
    batch_id: str
    deleted: bool


class MeasuredShare(TypedDict):
    """`count` out of `of`, with the exact 95% interval. None without rows."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class MeasuredMean(TypedDict):
    mean: float | None
    low: float | None
    high: float | None


ReportBand = TypedDict("ReportBand", {"from": float, "to": float, "said": float, "right": MeasuredShare})
"""`from` and `to` are 1 if no further vote could change the winner."""


class BatchReportRows(TypedDict):
    total: int
    counted: int
    judged: int
    without_gold: int
    not_judged: int


class BatchRecommendation(TypedDict):
    kind: Literal["change", "keep", "more_rows"]
    preset: PanelName | None
    confidence_threshold: float | None
    cost_saved: float | None
    """The saving as a share of what the polls of this preset cost as they were asked."""
    sentences: list[str]


class PairedDifference(TypedDict):
    """The difference between two accuracies, poll by poll."""

    gained: int
    lost: int
    mean: float | None
    low: float | None
    high: float | None


class BatchModel(TypedDict):
    model_id: str
    polls: int
    asked: int
    accuracy: MeasuredShare
    panel_accuracy: MeasuredShare
    """The accuracy of the panel on the same polls."""
    difference: PairedDifference
    agreement: MeasuredShare
    cost_usd: float
    cost_per_right_usd: MeasuredMean


class WrongStops(TypedDict):
    """Early stops with another winner than the full panel. `share` is None unless it is known for all of them."""

    wrong: int
    judged: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class PollsAsAsked(TypedDict):
    accuracy: MeasuredShare
    cost_usd: float


class _BatchThreshold(TypedDict):
    """The results of another threshold, replayed from the votes. None if votes that were not asked would be needed."""

    confidence_threshold: float | None
    unknown: int
    accuracy: MeasuredShare | None
    cost_usd: float | None
    cost_per_right_usd: MeasuredMean | None
    calls_saved: float | None
    cost_saved: float | None
    stopped_early: MeasuredShare | None
    wrong_stops: WrongStops | None
    panel_agreement: MeasuredShare | None
    difference: PairedDifference | None
    """Compared with the same polls as they were asked."""


class BatchThreshold(_BatchThreshold, total=False):
    as_asked: PollsAsAsked
    """These polls as they were run. Present if those of order_unknown are left out."""


class PanelFigures(TypedDict):
    """How often a panel was right, and its cost."""

    polls: int
    accuracy: MeasuredShare
    no_answer: int
    agreement: MeasuredMean
    cost_usd: float
    cost_per_right_usd: MeasuredMean
    calls: int
    panel_calls: int
    calls_saved: float | None
    by_confidence: list[ReportBand]
    by_agreement: list[ReportBand]


class ThresholdRange(TypedDict):
    min: float
    max: float


CalibrationBand = TypedDict(
    "CalibrationBand",
    {
        "from": float,
        "to": float,
        "said": float,
        "came_true": float,
        "polls": int,
        "low": "float | None",
        "high": "float | None",
        "pooled": bool,
    },
)


class BatchCalibration(TypedDict):
    """Stated confidence compared with how often the full panel elected the same winner."""

    polls: int
    unknown: int
    """Polls without a known outcome of the full panel. If these are more than 1 in 100, the figures are None."""
    states: int
    error: float | None
    brier: float | None
    bands: list[CalibrationBand]


class _BatchReportPanel(PanelFigures):
    preset: PanelName
    confidence_threshold: ThresholdRange
    calibration: BatchCalibration
    models: list[BatchModel]
    """Most accurate first."""
    thresholds: list[BatchThreshold]
    """As run, then other thresholds from low to high."""


class BatchReportPanel(_BatchReportPanel, total=False):
    order_unknown: int
    """Polls whose order of votes is unknown. They count only in the first entry of `thresholds`."""


class BatchReport(PanelFigures):
    """The answers of a batch, compared with the right answers in its rows."""

    batch_id: str
    complete: bool
    """False while rows are still running or being counted."""
    rows: BatchReportRows
    simulated: bool
    panels: list[BatchReportPanel]
    recommendation: BatchRecommendation
    counted_at: str


class Deleted(TypedDict):
    deleted: bool
    session_id: str


class WebhookEndpoint(TypedDict):
    """An address to which the service sends events."""

    endpoint_id: str
    url: str | None
    """None for the endpoint that represents each `webhook_url`."""
    event_types: list[WebhookEventType]
    description: str
    status: Literal["enabled", "disabled"]
    disabled_reason: Literal["owner", "gone", "failing"] | None
    """`owner`: you disabled it; `gone`: it answered 410; `failing`: all deliveries failed for three days."""
    disabled_at: str | None
    failing_since: str | None
    pending: int
    skipped: int
    previous_secret_until: str | None
    created_at: str


class NewWebhookEndpoint(WebhookEndpoint):
    secret: str
    """The secret for `verify_webhook`."""


class WebhookSecret(TypedDict):
    endpoint_id: str
    secret: str
    previous_secret_until: str | None
    """Until then, messages are also signed with the previous secret."""


AttemptError = Literal["name_not_resolved", "address_refused", "connection_failed", "tls_failed", "timed_out", "bad_answer"]


class WebhookAttempt(TypedDict):
    at: str
    http_status: int | None
    error: AttemptError | None
    """Why there was no response."""
    took_ms: int


class WebhookDelivery(TypedDict):
    delivery_id: str
    event_id: str
    """The `webhook-id` of its messages, the same in every attempt."""
    type: str
    url: str
    status: DeliveryStatus
    attempts: int
    last_attempts: list[WebhookAttempt]
    """Newest last."""
    next_attempt_at: str | None
    created_at: str
    ended_at: str | None
    data: dict[str, Any]


class WebhookDeliveryList(TypedDict):
    deliveries: list[WebhookDelivery]
    """Newest first."""
    after: str | None


class Removed(TypedDict):
    removed: bool


class WebhookEvent(TypedDict):
    """The content of a webhook. `data` contains ids, addresses and your metadata, never the question."""

    type: str
    """Such as `poll.completed` or `batch.completed`. Expect new types."""
    timestamp: str
    data: dict[str, Any]


class SessionStatuses(TypedDict):
    polls: list[SessionStatus]
    not_found: list[str]
    """Ids of polls that the account does not have."""


class _QuickResult(TypedDict):
    question: str
    options: list[str]
    answer: str | None
    reasoning: str
    cost: float


class QuickResult(_QuickResult, total=False):
    theme: str
    status: ResultStatus
    poll_id: str
    result_url: str
    page_url: str
    panel: PanelStanding
    options_source: Literal["caller", "server"]


class EstimatedModels(TypedDict):
    roster_size: int
    min_calls: int
    expected_calls: float
    max_calls: int


class EstimatedCost(TypedDict):
    min: float
    expected: float
    max: float


class EstimatedLatency(TypedDict):
    p50: int
    p95: int


class EstimatedStop(TypedDict):
    probability: float
    likely_reason: TerminationReason


class Estimate(TypedDict):
    preset: PanelName
    options: int
    poll_type: Literal["fptp"]
    confidence_threshold: float
    currency: Literal["USD"]
    models: EstimatedModels
    cost_usd: EstimatedCost
    latency_ms: EstimatedLatency
    early_termination: EstimatedStop
    basis: Literal["recent_polls", "catalog_prices"]
    sample_size: int
    generated_at: str


class DryRunEstimates(TypedDict, total=False):
    preset: PanelName
    options: int
    poll_type: Literal["fptp"]
    confidence_threshold: float
    currency: Literal["USD"]
    models: EstimatedModels
    cost_usd: EstimatedCost
    latency_ms: EstimatedLatency
    early_termination: EstimatedStop
    basis: Literal["recent_polls", "catalog_prices"]
    sample_size: int
    generated_at: str
    max_cost_usd: float
    within_budget: bool
    min_cost_usd: float
    balance_sufficient: bool
    estimated_cost_usd: float
    estimated_models_invoked: int
    total_models: int
    estimated_latency_ms: int


class Issue(TypedDict):
    pointer: str
    detail: str


class DryRun(TypedDict):
    dry_run: bool
    valid: bool
    errors: list[str]
    issues: list[Issue]
    warnings: list[str]
    estimates: DryRunEstimates


class Profile(TypedDict):
    name: str
    description: str
    preset: Preset
    confidence_threshold: float
    max_cost_usd: float


class Profiles(TypedDict):
    default: str
    count: int
    profiles: list[Profile]


class FeedbackReceipt(TypedDict):
    feedback_id: str
    poll_id: str
    recorded: bool


class _KeyTerms(TypedDict):
    id: str
    key_prefix: str
    label: str
    expires_at: str | None
    read_only: bool
    """Whether the key can only read, and neither run polls nor change anything."""
    limit_usd: float | None
    """The maximum that its polls may be charged per period. None: no limit."""
    limit_reset: LimitReset
    spent_usd: float | None
    """Charged in the limit's current period."""
    held_usd: float | None
    """Set aside for running polls. Counts against the limit too."""
    resets_at: str | None
    created_at: str


class ApiKey(_KeyTerms):
    spent_today_usd: float
    spent_month_usd: float
    last_used_at: str | None
    revoked_at: str | None


class NewApiKey(_KeyTerms):
    key: str
    """The whole key. It is shown only once."""
    warning: str


class KeyChange(TypedDict, total=False):
    """Omitted fields stay unchanged. None removes a limit or an end."""

    label: str
    expires_at: str | None
    read_only: bool
    limit_usd: float | None
    limit_reset: LimitReset


class UsageFigures(TypedDict):
    polls: int
    """Polls that ended, with any status."""
    completed: int
    failed: int
    canceled: int
    split_or_partial: int
    cost_usd: float
    saved_usd: float
    """An estimate of what was saved by stopping early."""
    median_ms: int | None
    median_cost_usd: float | None


class _UsageGroup(UsageFigures):
    group: str
    """A day, the id of a key, a preset, a surface, or a value of a label."""


class UsageGroup(_UsageGroup, total=False):
    label: str
    """The label of a key."""


_Days = TypedDict("_Days", {"from": str, "to": str})


class PreviousUsage(UsageFigures, _Days):
    """The same for the same number of days before."""


UsageReport = TypedDict(
    "UsageReport",
    {
        "from": str,
        "to": str,
        "group_by": str,
        "groups": "list[UsageGroup]",
        "total": UsageFigures,
        "previous": "PreviousUsage",
    },
)
"""`groups`: days in order; other groups by cost, the largest first."""


class KeyBalance(TypedDict):
    limit_usd: float
    limit_reset: LimitReset
    spent_usd: float
    held_usd: float
    left_usd: float
    """The maximum that the next poll of the key may cost."""
    resets_at: str | None


class UsageBalance(TypedDict):
    """Exact to the micro-USD, with the limit of the key that is used."""

    available_usd: float
    reserved_usd: float
    used_usd: float
    low_balance_usd: float | None
    is_low: bool
    key: KeyBalance | None


class Revoked(TypedDict):
    revoked: bool


class _Balance(TypedDict):
    balance_cents: int
    balance: str
    usage_cents: int


class Balance(_Balance, total=False):
    held_back_cents: int


class ReceiptProof(TypedDict):
    """The place of a receipt in the Merkle tree of its day."""

    day: str
    receipts: int
    index: int
    path: list[str]
    root: str
    previous_seal: str | None
    seal: str


class ReceiptVotePrice(TypedDict):
    billed_u: int
    fault_u: int


class ReceiptPrice(TypedDict):
    nonce: str
    max_cost_u: int
    reserves_u: list[int]
    votes: list[ReceiptVotePrice]


class _ResultReceipt(TypedDict):
    payload: str
    protected: str
    signature: str
    proof: ReceiptProof | None


class ResultReceipt(_ResultReceipt, total=False):
    """A signed statement about a poll: a JWS in flattened JSON."""

    price: ReceiptPrice


class ReceiptDay(TypedDict):
    day: str
    receipts: int
    root: str
    seal: str


class ReceiptDays(TypedDict):
    days: list[ReceiptDay]


class ReceiptKey(TypedDict):
    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: str
    use: Literal["sig"]
    alg: Literal["EdDSA"]


class ReceiptKeys(TypedDict):
    keys: list[ReceiptKey]


class _StreamProgress(TypedDict):
    seq: int
    session_id: str
    phase: Literal["started", "voting"]
    models_requested: int
    progress: Progress
    tally: dict[str, int]
    leader: str | None
    confidence: float | None
    vote: Vote | None
    elapsed_ms: int


class StreamProgress(_StreamProgress, total=False):
    """The current state of a running poll. Each event is complete, so missed ones do not matter."""

    chances: list[float]
    track_record: StoodAlike
    asking: int
    question: str
    options: list[str]
    poll_type: Literal["fptp"]
    preset: PanelName
    confidence_threshold: float
    max_cost_usd: float
    status_url: str
    result_url: str
    page_url: str
    started_at: str


class _StreamEnd(PollResponse):
    session_id: str
    seq: int


class StreamEnd(_StreamEnd, total=False):
    """The result and the ids of its poll. For a quick poll, also the fields of its short answer."""

    answer: str | None
    reasoning: str
    cost: float
    theme: str
    result_url: str
    page_url: str
    options_source: Literal["caller", "server"]


@dataclass(frozen=True)
class Started:
    """Sent at once, and after each vote."""

    id: str
    data: StreamProgress
    event: Literal["started"] = "started"


@dataclass(frozen=True)
class Complete:
    """The last event."""

    id: str
    data: StreamEnd
    event: Literal["complete"] = "complete"


StreamEvent = Union[Started, Complete]


class _Recovery(TypedDict):
    action: Literal[
        "re_authenticate", "add_funds", "open_account", "back_off", "ask_again", "open_documentation", "use_free_poll"
    ]
    description: str


class Recovery(_Recovery, total=False):
    """What to do about an error."""

    method: str
    url: str
    after_seconds: int


class EloquentPollError(Exception):
    """Why a call failed, and what to do about it."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        recovery: Sequence[Recovery] = (),
        issues: Sequence[Issue] = (),
        rows: Sequence[BatchRowError] = (),
        row_count: int | None = None,
        request_id: str | None = None,
        min_cost_usd: float | None = None,
        required_usd: float | None = None,
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """A code of the service's catalogue (/api/errors/catalog), or `network_error`, `timeout`, `bad_response`,
        `bad_request` (the call cannot be written as a request, so nothing was sent), `bad_webhook`, or for example
        `http_502` (another program, such as a proxy, has answered with this status)."""
        self.status = status
        """The status of the HTTP response. None if there was none."""
        self.retryable = retryable
        """Whether the same call can succeed later without changes."""
        self.retry_after = retry_after
        """In seconds."""
        self.recovery = tuple(recovery)
        self.issues = tuple(issues)
        """The wrong fields, each with a JSON pointer into the request."""
        self.rows = tuple(rows)
        """With `batch_invalid`: the first invalid rows."""
        self.row_count = len(self.rows) if row_count is None else row_count
        """With `batch_invalid`: the number of all invalid rows."""
        self.request_id = request_id
        self.min_cost_usd = min_cost_usd
        self.required_usd = required_usd
        """With `insufficient_balance` of a batch: the balance that would be enough."""
        self.session_id = session_id
        """The id of a poll that was or may have been created and whose end is unknown, or of a stream. Find it with
        `session(session_id)`: it may cost. If its status is a 404, it was not created."""
        self.idempotency_key = idempotency_key
        """The idempotency key of a poll or batch, given or generated. The same call with this key joins the first one
        if it was created."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would build it again from its message alone, and a pool of processes breaks if that fails.
        return functools.partial(type(self), code=self.code), (str(self),), self.__dict__.copy()


# ------------------------------------------------------------------------------------------------------------ client

POLL_TIMEOUT_S = 150.0
"""A poll ends within two minutes."""
TIMEOUT_S = 30.0
ENDPOINTS = "/api/webhook-endpoints"
UPLOAD_TIMEOUT_S = 630.0
"""The service accepts uploads for up to ten minutes, and then answers with an error."""
BATCH_TIMEOUT_S = 26 * 3_600.0
"""A batch ends within a day, and then its results are read."""
SESSION_TIMEOUT_S = 26 * 3_600.0
"""A poll of the tier `flex` ends within a day, and then its result is read."""
BATCH_NEWS_S = 2.0
EXPORT_TIMEOUT_S = 24 * 3_600.0
UPLOAD_MEMORY_BYTES = 8 * 2**20
"""From this size on, rows given as values are kept in a temporary file."""
MAX_WAIT_S = 25
CONNECT_S = 10.0
"""If the service has several addresses, the next one is tried after this time."""
SILENCE_S = 45.0
"""The service sends a keep-alive every 15 s."""
FIRST_BACKOFF_S = 0.5
MAX_BACKOFF_S = 30.0
"""With a longer Retry-After, the call fails instead of waiting."""
MAX_PAUSE_S = 65.0
"""If a rate limit resets later than this, the call does not wait: the service refuses it and says why."""
MAX_PAUSES_S = 600.0
"""Maximum wait of a call without a timeout, over several windows of its rate limit."""
FIRST_CALLS = 8
"""Number of concurrent calls before the first answer shows the rate limit."""
SAME_WINDOW_S = 1.5
"""The service counts windows in whole seconds."""
MAX_SOCKET_S = 86_400.0
MAX_BODY_BYTES = 16 * 2**20
MAX_HEAD_BYTES = 64 * 2**10

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class AsyncEloquentPoll:
    """The client for asyncio. `api_key` is `ep_k_...`; without it, only free polls and public data are available.
    `session` is the value of the cookie `ep_session`, for operations that keys cannot use. `tls` replaces this
    machine's certificates."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        session: str | None = None,
        max_retries: int = 2,
        pace: bool = True,
        tls: ssl.SSLContext | None = None,
        _net: _Net | None = None,
    ) -> None:
        credentials: dict[str, str] = {}
        if api_key is not None:
            credentials["Authorization"] = f"Bearer {_secret_text('api_key', api_key)}"
        if session is not None:
            credentials["Cookie"] = f"ep_session={_secret_text('session', session)}"
        self._uses_key = api_key is not None and session is None
        url = BASE_URL if base_url is None else base_url
        self._service = _Service(url, credentials, max_retries, pace, tls, _net or _AsyncioNet())

    async def ask(
        self,
        question: str,
        options: Sequence[str],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[PollTerms],
    ) -> PollResponse:
        """Runs a poll and waits for its result. A call that is cancelled leaves its poll running: the same call with
        the same `idempotency_key` joins it."""
        body = {"question": question, "options": _texts("options", options), **terms}
        call = _paid("/api/poll", body, idempotency_key, timeout)
        answer = await self._service.body(call)
        _id_in(answer, "poll_id", call)
        return cast(PollResponse, answer)

    async def begin(
        self,
        question: str,
        options: Sequence[str],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[PollTerms],
    ) -> AsyncSession:
        """Starts a poll that runs in the background."""
        body = {"question": question, "options": _texts("options", options), **terms}
        call = replace(_paid("/api/polls", body, idempotency_key, timeout), usual=TIMEOUT_S)
        answer = await self._service.body(call)
        usual = SESSION_TIMEOUT_S if terms.get("service_tier") == "flex" else POLL_TIMEOUT_S
        return AsyncSession(self._service, _id_in(answer, "session_id", call), usual)

    def session(self, session_id: str) -> AsyncSession:
        """A poll that was started earlier, here or elsewhere."""
        return AsyncSession(self._service, session_id)

    def stream(
        self,
        question: str,
        options: Sequence[str],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[PollTerms],
    ) -> AsyncGenerator[StreamEvent, None]:
        """Runs a poll and yields its events: `Started` at once and after each vote, then one `Complete`. A broken
        connection is resumed. Leaving the loop closes the connection, but the poll continues."""
        body = {"question": question, "options": _texts("options", options), **terms}
        return _stream(self._service, _paid("/api/poll/stream", body, idempotency_key, timeout))

    async def quick(
        self,
        poll: str | None = None,
        *,
        question: str | None = None,
        options: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[QuickTerms],
    ) -> QuickResult:
        """Runs a poll in a short form: `Which is larger? [The Sun, The Moon]`, or only a question. Free without a
        key."""
        body = _given(poll=poll, question=question, options=options and _texts("options", options), **terms)
        return await self._quick(body, idempotency_key, timeout)

    async def free(
        self,
        poll: str | None = None,
        *,
        question: str | None = None,
        options: Sequence[str] | None = None,
        theme: FreeTheme = "free",
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> QuickResult:
        """Always free, with or without a key: open-weight models, at most 5 options of 50 characters."""
        texts = options and _texts("options", options)
        body = _given(poll=poll, question=question, options=texts, theme=theme or "free")
        return await self._quick(body, idempotency_key, timeout)

    async def _quick(
        self, body: Mapping[str, object], idempotency_key: str | None, timeout: float | None
    ) -> QuickResult:
        # Free polls have their own rate limit.
        budget = f"quick polls, {body.get('theme')}"
        call = _paid("/api/quick-poll", body, idempotency_key, timeout, budget=budget)
        return cast(QuickResult, await self._service.body(call))

    async def estimate(
        self,
        *,
        preset: Preset | None = None,
        models: Sequence[str] | None = None,
        options: int | None = None,
        confidence_threshold: float | None = None,
        reasons: bool | None = None,
        service_tier: Literal["standard", "flex"] | None = None,
        timeout: float | None = None,
    ) -> Estimate:
        """Estimates the cost and duration of a poll."""
        named = None if models is None else ",".join(_texts("models", models))
        query = _query(
            preset=preset,
            models=named,
            options=options,
            confidence_threshold=confidence_threshold,
            reasons=None if reasons is None else str(reasons).lower(),
            service_tier=service_tier,
        )
        return cast(Estimate, await self._service.body(_Call("GET", "/api/poll/estimate", query=query, timeout=timeout)))

    async def dry_run(
        self,
        question: str,
        options: Sequence[str],
        *,
        timeout: float | None = None,
        **terms: Unpack[PollTerms],
    ) -> DryRun:
        """Checks whether a poll would be accepted and what it would cost. Nothing is run."""
        body = {"question": question, "options": _texts("options", options), **terms}
        return cast(DryRun, await self._service.body(_Call("POST", "/api/poll/dry-run", body=body, timeout=timeout)))

    async def profiles(self, *, timeout: float | None = None) -> Profiles:
        return cast(Profiles, await self._service.body(_Call("GET", "/api/profiles", timeout=timeout)))

    async def result(self, result_id: str, *, timeout: float | None = None) -> ResultDetail:
        """Reads a public result by its id."""
        call = _Call("GET", "/api/results/{}", (result_id,), timeout=timeout)
        return cast(ResultDetail, await self._service.body(call))

    async def receipt(self, result_id: str, *, timeout: float | None = None) -> ResultReceipt:
        """The signed statement of a result, with its price if the key belongs to the poll's owner."""
        call = _Call("GET", "/api/results/{}/receipt", (result_id,), timeout=timeout)
        return cast(ResultReceipt, await self._service.body(call))

    async def receipt_keys(self, *, timeout: float | None = None) -> ReceiptKeys:
        return cast(ReceiptKeys, await self._service.body(_Call("GET", "/.well-known/jwks.json", timeout=timeout)))

    async def receipt_days(
        self,
        *,
        day: str | None = None,
        before: str | None = None,
        limit: int | None = None,
        result_id: str | None = None,
        timeout: float | None = None,
    ) -> ReceiptDays:
        """Sealed days of receipts, newest first, or a single day. To check a result's receipt, pass the result's id."""
        query = _query(day=day, before=before, limit=limit, result_id=result_id)
        return cast(ReceiptDays, await self._service.body(_Call("GET", "/api/receipts/days", query=query, timeout=timeout)))

    async def polls(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        before: str | None = None,
        timeout: float | None = None,
        **filters: Unpack[PollFilters],
    ) -> PollList:
        """One page of your polls, newest first. `after` and `before` are session ids, for older or newer polls."""
        query = _filter_query(filters, limit=limit, after=after, before=before)
        return cast(PollList, await self._service.body(_Call("GET", "/api/polls", query=query, timeout=timeout)))

    async def each_poll(
        self, *, after: str | None = None, timeout: float | None = None, **filters: Unpack[PollFilters]
    ) -> AsyncGenerator[ListedPoll, None]:
        """All polls that match the filters, newest first, read page by page. The timeout applies to each page."""
        while True:
            page = await self.polls(limit=100, after=after, timeout=timeout, **filters)
            for poll in page["polls"]:
                yield poll
            after = page["after"]
            if after is None:
                return

    async def statuses(self, session_ids: Sequence[str], *, timeout: float | None = None) -> SessionStatuses:
        """The status of several polls, at most 100 per call."""
        query = _query(ids=",".join(_texts("session_ids", session_ids)))
        return cast(SessionStatuses, await self._service.body(_Call("GET", "/api/polls/status", query=query, timeout=timeout)))

    async def delete_poll(self, poll_id: str, *, timeout: float | None = None) -> Deleted:
        """Deletes an ended poll with its result, by either of its ids. Its public addresses answer 404 at once.
        `session_id` is empty if the poll was named by its result and an earlier attempt, whose answer was lost, may
        have deleted it."""
        gone = {"deleted": True, "session_id": poll_id if poll_id.startswith("ps_") else ""}
        call = _Call("DELETE", "/api/results/{}", (poll_id,), gone=gone, timeout=timeout)
        return cast(Deleted, await self._service.body(call))

    async def batch(
        self,
        rows: BatchRows,
        *,
        format: Literal["jsonl", "csv"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[BatchTerms],
    ) -> AsyncBatchRun:
        """Submits many polls in one call: the path of a file (JSON lines or CSV), or rows as values. The service runs
        them within a day, at a lower price. All rows are checked first: if one is invalid, nothing runs, and the
        error's `rows` say which."""
        upload = _upload_of(rows, format)
        try:
            headers = {"Idempotency-Key": _key_or_new(idempotency_key), "Content-Type": upload.media_type}
            call = _Call("POST", "/api/batches", query=_filter_query(terms), upload=upload, headers=headers, timeout=timeout)
            answer = await self._service.body(replace(call, usual=UPLOAD_TIMEOUT_S))
        finally:
            upload.close()
        return AsyncBatchRun(self._service, _id_in(answer, "batch_id", call))

    def batch_run(self, batch_id: str) -> AsyncBatchRun:
        """A batch that was started earlier, here or elsewhere."""
        return AsyncBatchRun(self._service, batch_id)

    async def batches(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        before: str | None = None,
        status: BatchStatus | None = None,
        timeout: float | None = None,
    ) -> BatchList:
        """One page of your batches, newest first. `after` and `before` are batch ids, for older or newer batches."""
        query = _query(limit=limit, after=after, before=before, status=status)
        return cast(BatchList, await self._service.body(_Call("GET", "/api/batches", query=query, timeout=timeout)))

    async def recent(self, *, timeout: float | None = None) -> list[RecentResult]:
        """Your last five results. Needs a session; keys cannot use it."""
        return cast("list[RecentResult]", await self._service.body(_Call("GET", "/api/results/recent", timeout=timeout)))

    async def history(
        self, *, limit: int | None = None, offset: int | None = None, timeout: float | None = None
    ) -> list[HistoryResult]:
        """All your results, newest first. Needs a session; keys cannot use it."""
        call = _Call("GET", "/api/results", query=_query(limit=limit, offset=offset), timeout=timeout)
        return cast("list[HistoryResult]", await self._service.body(call))

    async def balance(self, *, timeout: float | None = None) -> Balance:
        """Your balance and usage. With a key, it is read through the MCP tool `get_balance`, as /api/balance needs a session."""
        if self._uses_key:
            return cast(Balance, await _call_tool(self._service, "get_balance", timeout))
        return cast(Balance, await self._service.body(_Call("GET", "/api/balance", timeout=timeout)))

    async def export_account(
        self, *, cursor: str | None = None, timeout: float | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """All data of the account, line by line: account, keys, polls with results, transfers and more, each with its
        `type`. Skip types that you do not know. A later call can continue after a line of type `cursor`. The last line
        is `end`."""
        part: list[dict[str, Any]] = []

        def begin() -> _Call:
            # The lines after the last cursor will be sent again.
            part.clear()
            return _Call("GET", "/api/export", query=_query(cursor=cursor), timeout=timeout, usual=EXPORT_TIMEOUT_S)

        def is_new(line: Mapping[str, Any]) -> bool:
            return line.get("type") == "cursor" and line.get("cursor") != cursor

        while True:
            before = cursor
            async for line in _lines(self._service, begin, is_new):
                part.append(line)
                if line.get("type") not in ("cursor", "end"):
                    continue
                cursor = line.get("cursor", cursor)
                lines = list(part)
                part.clear()
                for one in lines:
                    yield one
                if line["type"] == "end":
                    return
            # A server that shuts down ends its answers early, after a cursor.
            if cursor == before:
                raise EloquentPollError("The export has no end.", code="bad_response")

    async def feedback(
        self,
        poll_id: str,
        *,
        outcome_correct: bool | None = None,
        confidence: float | None = None,
        notes: str | None = None,
        timeout: float | None = None,
    ) -> FeedbackReceipt:
        """Sends feedback on an outcome. A second feedback on the same poll replaces the first."""
        body = _given(poll_id=poll_id, outcome_correct=outcome_correct, confidence=confidence, notes=notes)
        return cast(FeedbackReceipt, await self._service.body(_Call("POST", "/api/feedback", body=body, timeout=timeout)))

    async def keys(self, *, timeout: float | None = None) -> list[ApiKey]:
        return cast("list[ApiKey]", await self._service.body(_Call("GET", "/api/keys", timeout=timeout)))

    async def create_key(
        self,
        label: str | None = None,
        *,
        expires_at: str | None = None,
        read_only: bool | None = None,
        limit_usd: float | None = None,
        limit_reset: LimitReset | None = None,
        timeout: float | None = None,
    ) -> NewApiKey:
        """If the answer is lost, revoke the key that `keys` lists and create another."""
        limit = {"limit_usd": limit_usd, "limit_reset": limit_reset}
        body = _given(label=label, expires_at=expires_at, read_only=read_only, **limit)
        call = _Call("POST", "/api/keys", body=body, once=True, timeout=timeout)
        return cast(NewApiKey, await self._service.body(call))

    async def change_key(self, key_id: str, *, timeout: float | None = None, **change: Unpack[KeyChange]) -> ApiKey:
        call = _Call("PATCH", "/api/keys/{}", (key_id,), body=change, timeout=timeout)
        return cast(ApiKey, await self._service.body(call))

    async def usage(
        self,
        *,
        group_by: str | None = None,
        first_day: str | None = None,
        last_day: str | None = None,
        key_id: str | None = None,
        preset: PanelName | None = None,
        surface: str | None = None,
        timeout: float | None = None,
    ) -> UsageReport:
        """Polls and charges by `day`, `key`, `preset`, `surface`, or `metadata.` and the name of a label."""
        days = {"from": first_day, "to": last_day}
        query = _query(group_by=group_by, key_id=key_id, preset=preset, surface=surface, **days)
        return cast(UsageReport, await self._service.body(_Call("GET", "/api/usage", query=query, timeout=timeout)))

    async def usage_balance(self, *, timeout: float | None = None) -> UsageBalance:
        """The balance in detail, with a key or a session."""
        return cast(UsageBalance, await self._service.body(_Call("GET", "/api/usage/balance", timeout=timeout)))

    async def set_low_balance(self, usd: float | None, *, timeout: float | None = None) -> UsageBalance:
        """Sets the amount below which the balance counts as low. None: never."""
        call = _Call("PUT", "/api/usage/low-balance", body={"low_balance_usd": usd}, timeout=timeout)
        return cast(UsageBalance, await self._service.body(call))

    async def redeem_grant(self, code: str, verifier: str, *, timeout: float | None = None) -> NewApiKey:
        """Exchanges the code that a login in the browser sent to this program for an API key, once."""
        body = {"code": code, "verifier": verifier}
        call = _Call("POST", "/api/keys/redeem", body=body, once=True, timeout=timeout)
        return cast(NewApiKey, await self._service.body(call))

    async def webhook_endpoints(self, *, timeout: float | None = None) -> list[WebhookEndpoint]:
        answer = await self._service.body(_Call("GET", ENDPOINTS, timeout=timeout))
        return cast("list[WebhookEndpoint]", _object(answer).get("endpoints"))

    async def create_webhook_endpoint(
        self,
        url: str,
        *,
        event_types: Sequence[WebhookEventType] | None = None,
        description: str | None = None,
        timeout: float | None = None,
    ) -> NewWebhookEndpoint:
        """For all types of events, unless some are named. The answer contains the secret that signs its messages."""
        body = _given(url=url, event_types=event_types, description=description)
        call = _Call("POST", ENDPOINTS, body=body, once=True, timeout=timeout)
        return cast(NewWebhookEndpoint, await self._service.body(call))

    async def change_webhook_endpoint(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        event_types: Sequence[WebhookEventType] | None = None,
        description: str | None = None,
        status: Literal["enabled", "disabled"] | None = None,
        timeout: float | None = None,
    ) -> WebhookEndpoint:
        """Omitted settings stay unchanged. `disabled` drops waiting deliveries. `enabled` starts again with new
        events."""
        body = _given(url=url, event_types=event_types, description=description, status=status)
        call = _Call("PATCH", f"{ENDPOINTS}/{{}}", (endpoint_id,), body=body, timeout=timeout)
        return cast(WebhookEndpoint, await self._service.body(call))

    async def remove_webhook_endpoint(self, endpoint_id: str, *, timeout: float | None = None) -> Removed:
        call = _Call("DELETE", f"{ENDPOINTS}/{{}}", (endpoint_id,), gone={"removed": True}, timeout=timeout)
        return cast(Removed, await self._service.body(call))

    async def webhook_secret(self, endpoint_id: str = "account", *, timeout: float | None = None) -> WebhookSecret:
        """The secret that signs an endpoint's messages. `account`: the one for the `webhook_url` of polls and
        batches."""
        call = _Call("GET", f"{ENDPOINTS}/{{}}/secret", (endpoint_id,), timeout=timeout)
        return cast(WebhookSecret, await self._service.body(call))

    async def rotate_webhook_secret(
        self, endpoint_id: str = "account", *, overlap_s: int | None = None, timeout: float | None = None
    ) -> WebhookSecret:
        """Creates a new secret. For `overlap_s` seconds, messages are signed with both."""
        path, body = f"{ENDPOINTS}/{{}}/rotate-secret", _given(overlap_s=overlap_s)
        call = _Call("POST", path, (endpoint_id,), body=body, once=True, timeout=timeout)
        return cast(WebhookSecret, await self._service.body(call))

    async def test_webhook_endpoint(self, endpoint_id: str, *, timeout: float | None = None) -> WebhookDelivery:
        """Sends a test message to the endpoint."""
        call = _Call("POST", f"{ENDPOINTS}/{{}}/test", (endpoint_id,), once=True, timeout=timeout)
        return cast(WebhookDelivery, await self._service.body(call))

    async def webhook_deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        after: str | None = None,
        status: DeliveryStatus | None = None,
        timeout: float | None = None,
    ) -> WebhookDeliveryList:
        query = _query(limit=limit, after=after, status=status)
        call = _Call("GET", f"{ENDPOINTS}/{{}}/deliveries", (endpoint_id,), query=query, timeout=timeout)
        return cast(WebhookDeliveryList, await self._service.body(call))

    async def resend_webhook(
        self, endpoint_id: str, delivery_id: str, *, timeout: float | None = None
    ) -> WebhookDelivery:
        path = f"{ENDPOINTS}/{{}}/deliveries/{{}}/resend"
        call = _Call("POST", path, (endpoint_id, delivery_id), once=True, timeout=timeout)
        return cast(WebhookDelivery, await self._service.body(call))

    async def revoke_key(self, key_id: str, *, timeout: float | None = None) -> Revoked:
        return cast(Revoked, await self._service.body(_Call("DELETE", "/api/keys/{}", (key_id,), once=True, timeout=timeout)))


class AsyncSession:
    """A poll that runs in the background."""

    def __init__(self, service: _Service, session_id: str, usual: float = SESSION_TIMEOUT_S) -> None:
        self.id = session_id
        self._service = service
        self._usual = usual

    async def status(
        self, *, include: Literal["result"] | None = None, timeout: float | None = None
    ) -> SessionStatus:
        """The current status. With `include`, also the result or failure once the poll has ended."""
        call = replace(self._call("status", timeout), query=_query(include=include))
        return cast(SessionStatus, await self._service.body(call))

    async def result(self, *, timeout: float | None = None) -> PollResponse | None:
        """The result. None while the poll runs."""
        call = self._call("result", timeout)
        answer = await self._service.call(call)
        if answer.status == 202:
            return None
        _id_in(answer.body, "poll_id", call)
        return cast(PollResponse, answer.body)

    async def cancel(self, *, timeout: float | None = None) -> SessionStatus:
        """Stops asking models. The votes received by then are charged. Has no effect on an ended poll."""
        call = replace(self._call("cancel", timeout), method="POST")
        ended = cast(SessionStatus, await self._service.body(call))
        return {"session_id": ended["session_id"], "status": ended["status"], "result_id": ended["result_id"]}

    async def wait(
        self, *, on_progress: Callable[[Progress], None] | None = None, timeout: float | None = None
    ) -> PollResponse:
        """Waits for the end, usually inside a single request, and returns the result. `on_progress` is called when a
        vote has arrived. A temporary failure, such as a restart of the service, only causes a delay. Without `timeout`
        it waits as long as a poll can take: a day, if it may be a `flex` poll."""
        timeout = self._usual if timeout is None else timeout
        deadline = time.monotonic() + timeout
        known: str | None = None
        asked = 0.0

        async def news() -> _Answer:
            nonlocal asked
            asked = time.monotonic()
            return await self._news(deadline, known, on_progress is not None)

        while True:
            answer = await _until_heard(self._service, deadline, timeout, news)
            tag = answer.headers.get("etag")
            if answer.status != 304:
                status = cast(SessionStatus, answer.body)
                if status["status"] != "running":
                    break
                progress = status.get("progress")
                if on_progress and progress and (tag is None or tag != known):
                    on_progress(progress)
            is_news = tag is not None and tag != known
            known = tag
            # The service should have held back an unchanged answer. Since it did not, pause here.
            if (on_progress and is_news) or time.monotonic() - asked >= 1:
                continue
            pause = min(_retry_after(answer.headers) or 1, MAX_BACKOFF_S)
            if time.monotonic() + pause >= deadline:
                raise _timed_out(timeout)
            await self._service.net.sleep(pause)

        def read() -> Awaitable[PollResponse | None]:
            return self.result(timeout=max(1.0, min(deadline - time.monotonic(), TIMEOUT_S)))

        result = await _until_heard(self._service, deadline, timeout, read)
        if result is None:
            raise EloquentPollError("The poll has ended without a result.", code="bad_response")
        return result

    async def _news(self, deadline: float, known: str | None, following: bool) -> _Answer:
        # With a known tag, the service answers at the next vote. Without one, at the end, or at once if following.
        left = deadline - time.monotonic()
        headers: dict[str, str] = {}
        if known is not None or not following:
            headers["Prefer"] = f"wait={int(max(1, min(MAX_WAIT_S, left)))}"
        if known is not None and following:
            headers["If-None-Match"] = known
        return await self._service.call(self._call("status", max(0.001, min(left, TIMEOUT_S + MAX_WAIT_S)), headers))

    def stream(self, *, timeout: float | None = None) -> AsyncGenerator[StreamEvent, None]:
        """The poll's events from its current state on: the newest `Started`, one after each vote, then `Complete`. Free
        of charge. After the first event, a temporary failure only delays the next one."""
        return _stream(self._service, _Call("POST", "/api/poll/stream", timeout=timeout, usual=self._usual), self.id)

    def _call(self, what: str, timeout: float | None, headers: Mapping[str, str] | None = None) -> _Call:
        return _Call("GET", f"/api/polls/{{}}/{what}", (self.id,), headers=headers or {}, timeout=timeout)


class AsyncBatchRun:
    """Many polls that run in the background."""

    def __init__(self, service: _Service, batch_id: str) -> None:
        self.id = batch_id
        self._service = service

    async def status(self, *, timeout: float | None = None) -> Batch:
        return cast(Batch, await self._service.body(self._call("GET", timeout=timeout)))

    async def wait(
        self, *, on_progress: Callable[[Batch], None] | None = None, timeout: float = BATCH_TIMEOUT_S
    ) -> Batch:
        """Waits for the end. `on_progress` is called every few seconds. A temporary failure, such as a restart of the
        service, only causes a delay."""
        deadline = time.monotonic() + timeout
        asked = 0.0

        def news() -> Awaitable[object]:
            nonlocal asked
            asked = time.monotonic()
            left = deadline - asked
            headers = {} if on_progress else {"Prefer": f"wait={int(max(1, min(MAX_WAIT_S, left)))}"}
            call = self._call("GET", timeout=max(0.001, min(left, TIMEOUT_S + MAX_WAIT_S)))
            return self._service.body(replace(call, headers=headers))

        while True:
            batch = cast(Batch, await _until_heard(self._service, deadline, timeout, news))
            if on_progress:
                on_progress(batch)
            if batch["ended_at"] is not None:
                return batch
            pause = BATCH_NEWS_S - (time.monotonic() - asked)
            if time.monotonic() + max(pause, 0) >= deadline:
                raise _timed_out(timeout)
            if pause > 0:
                await self._service.net.sleep(pause)

    async def results(self, *, timeout: float | None = None) -> AsyncGenerator[BatchResult, None]:
        """The results of its rows, in any order. While the batch runs, those of rows that have ended. A broken
        connection is resumed. Of an ended batch, every row arrives, or the end is an error."""
        seen: set[int] = set()
        call = replace(self._call("GET", "/results", timeout), usual=BATCH_TIMEOUT_S)

        def is_whole(response: _Response) -> bool:
            # An answer that a proxy cut between two lines looks complete.
            return len(seen) >= (_count(response.headers.get("x-total-count")) or 0)

        async for row in _lines(self._service, lambda: call, lambda row: row.get("line") not in seen, is_whole):
            result = cast(BatchResult, row)
            if result["line"] not in seen:
                seen.add(result["line"])
                yield result

    async def report(self, *, timeout: float | None = None) -> BatchReport:
        """For rows with right answers: how often they were answered right, by model, threshold and confidence, and
        which setting would have been enough."""
        return cast(BatchReport, await self._service.body(self._call("GET", "/report", timeout)))

    async def cancel(self, *, timeout: float | None = None) -> Batch:
        """Starts no more rows and cancels running polls. The votes received by then are charged."""
        return cast(Batch, await self._service.body(self._call("POST", "/cancel", timeout)))

    async def delete(self, *, timeout: float | None = None) -> BatchDeleted:
        """Deletes an ended batch with its rows and results."""
        call = replace(self._call("DELETE", timeout=timeout), gone={"batch_id": self.id, "deleted": True})
        return cast(BatchDeleted, await self._service.body(call))

    def _call(self, method: Literal["GET", "POST", "DELETE"], what: str = "", timeout: float | None = None) -> _Call:
        return _Call(method, f"/api/batches/{{}}{what}", (self.id,), timeout=timeout)


# ---------------------------------------------------------------------------------------------------------- blocking


def _finished(call: Awaitable[R]) -> R:
    # With blocking sockets a coroutine never suspends, so it finishes in its first step.
    try:
        next(call.__await__())
    except StopIteration as done:
        return cast(R, done.value)
    raise RuntimeError("a blocking call cannot wait for an event loop")


def _iterated(events: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    try:
        while True:
            try:
                event = _finished(events.__anext__())
            except StopAsyncIteration:
                return
            yield event
    finally:
        _finished(events.aclose())


def _blocking(
    method: Callable[Concatenate[AsyncEloquentPoll, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[EloquentPoll, P], R]:
    @functools.wraps(method)
    def call(self: EloquentPoll, *args: P.args, **named: P.kwargs) -> R:
        return _finished(method(self.calls, *args, **named))

    return call


class EloquentPoll:
    """The client for programs without an event loop. Threads may share one. It has the same calls as
    `AsyncEloquentPoll`."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        session: str | None = None,
        max_retries: int = 2,
        pace: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.calls = AsyncEloquentPoll(
            base_url=base_url,
            api_key=api_key,
            session=session,
            max_retries=max_retries,
            pace=pace,
            tls=tls,
            _net=_BlockingNet(),
        )

    ask = _blocking(AsyncEloquentPoll.ask)
    quick = _blocking(AsyncEloquentPoll.quick)
    free = _blocking(AsyncEloquentPoll.free)
    estimate = _blocking(AsyncEloquentPoll.estimate)
    dry_run = _blocking(AsyncEloquentPoll.dry_run)
    profiles = _blocking(AsyncEloquentPoll.profiles)
    result = _blocking(AsyncEloquentPoll.result)
    receipt = _blocking(AsyncEloquentPoll.receipt)
    receipt_keys = _blocking(AsyncEloquentPoll.receipt_keys)
    receipt_days = _blocking(AsyncEloquentPoll.receipt_days)
    polls = _blocking(AsyncEloquentPoll.polls)
    statuses = _blocking(AsyncEloquentPoll.statuses)
    batches = _blocking(AsyncEloquentPoll.batches)
    delete_poll = _blocking(AsyncEloquentPoll.delete_poll)
    recent = _blocking(AsyncEloquentPoll.recent)
    history = _blocking(AsyncEloquentPoll.history)
    balance = _blocking(AsyncEloquentPoll.balance)
    feedback = _blocking(AsyncEloquentPoll.feedback)
    keys = _blocking(AsyncEloquentPoll.keys)
    create_key = _blocking(AsyncEloquentPoll.create_key)
    change_key = _blocking(AsyncEloquentPoll.change_key)
    usage = _blocking(AsyncEloquentPoll.usage)
    usage_balance = _blocking(AsyncEloquentPoll.usage_balance)
    set_low_balance = _blocking(AsyncEloquentPoll.set_low_balance)
    redeem_grant = _blocking(AsyncEloquentPoll.redeem_grant)
    revoke_key = _blocking(AsyncEloquentPoll.revoke_key)
    webhook_endpoints = _blocking(AsyncEloquentPoll.webhook_endpoints)
    create_webhook_endpoint = _blocking(AsyncEloquentPoll.create_webhook_endpoint)
    change_webhook_endpoint = _blocking(AsyncEloquentPoll.change_webhook_endpoint)
    remove_webhook_endpoint = _blocking(AsyncEloquentPoll.remove_webhook_endpoint)
    webhook_secret = _blocking(AsyncEloquentPoll.webhook_secret)
    rotate_webhook_secret = _blocking(AsyncEloquentPoll.rotate_webhook_secret)
    test_webhook_endpoint = _blocking(AsyncEloquentPoll.test_webhook_endpoint)
    webhook_deliveries = _blocking(AsyncEloquentPoll.webhook_deliveries)
    resend_webhook = _blocking(AsyncEloquentPoll.resend_webhook)

    def export_account(
        self, *, cursor: str | None = None, timeout: float | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """All data of the account, line by line, as `AsyncEloquentPoll.export_account` does."""
        return _iterated(self.calls.export_account(cursor=cursor, timeout=timeout))

    def each_poll(
        self, *, after: str | None = None, timeout: float | None = None, **filters: Unpack[PollFilters]
    ) -> Generator[ListedPoll, None, None]:
        """All polls that match the filters, newest first, read page by page. The timeout applies to each page."""
        return _iterated(self.calls.each_poll(after=after, timeout=timeout, **filters))

    def batch(
        self,
        rows: BatchRows,
        *,
        format: Literal["jsonl", "csv"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[BatchTerms],
    ) -> BatchRun:
        """Submits many polls in one call, as `AsyncEloquentPoll.batch` does."""
        begun = self.calls.batch(rows, format=format, idempotency_key=idempotency_key, timeout=timeout, **terms)
        return BatchRun(_finished(begun))

    def batch_run(self, batch_id: str) -> BatchRun:
        """A batch that was started earlier, here or elsewhere."""
        return BatchRun(self.calls.batch_run(batch_id))

    def begin(
        self,
        question: str,
        options: Sequence[str],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[PollTerms],
    ) -> Session:
        """Starts a poll that runs in the background."""
        begun = self.calls.begin(question, options, idempotency_key=idempotency_key, timeout=timeout, **terms)
        return Session(_finished(begun))

    def session(self, session_id: str) -> Session:
        """A poll that was started earlier, here or elsewhere."""
        return Session(self.calls.session(session_id))

    def stream(
        self,
        question: str,
        options: Sequence[str],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **terms: Unpack[PollTerms],
    ) -> Generator[StreamEvent, None, None]:
        """Runs a poll and yields its events, as `AsyncEloquentPoll.stream` does."""
        events = self.calls.stream(question, options, idempotency_key=idempotency_key, timeout=timeout, **terms)
        return _iterated(events)


class Session:
    """A poll that runs in the background."""

    def __init__(self, calls: AsyncSession) -> None:
        self.id = calls.id
        self._calls = calls

    def status(self, *, include: Literal["result"] | None = None, timeout: float | None = None) -> SessionStatus:
        """The current status. With `include`, also the result or failure once the poll has ended."""
        return _finished(self._calls.status(include=include, timeout=timeout))

    def cancel(self, *, timeout: float | None = None) -> SessionStatus:
        """Stops asking models. The votes received by then are charged. Has no effect on an ended poll."""
        return _finished(self._calls.cancel(timeout=timeout))

    def result(self, *, timeout: float | None = None) -> PollResponse | None:
        """The result. None while the poll runs."""
        return _finished(self._calls.result(timeout=timeout))

    def wait(
        self, *, on_progress: Callable[[Progress], None] | None = None, timeout: float | None = None
    ) -> PollResponse:
        """Waits for the end, as `AsyncSession.wait` does."""
        return _finished(self._calls.wait(on_progress=on_progress, timeout=timeout))

    def stream(self, *, timeout: float | None = None) -> Generator[StreamEvent, None, None]:
        return _iterated(self._calls.stream(timeout=timeout))


class BatchRun:
    """Many polls that run in the background."""

    def __init__(self, calls: AsyncBatchRun) -> None:
        self.id = calls.id
        self._calls = calls

    def status(self, *, timeout: float | None = None) -> Batch:
        return _finished(self._calls.status(timeout=timeout))

    def wait(self, *, on_progress: Callable[[Batch], None] | None = None, timeout: float = BATCH_TIMEOUT_S) -> Batch:
        """Waits for the end. `on_progress` is called every few seconds."""
        return _finished(self._calls.wait(on_progress=on_progress, timeout=timeout))

    def results(self, *, timeout: float | None = None) -> Generator[BatchResult, None, None]:
        """The results of its rows, in any order. While the batch runs, those of rows that have ended. A broken
        connection is resumed. Of an ended batch, every row arrives, or the end is an error."""
        return _iterated(self._calls.results(timeout=timeout))

    def report(self, *, timeout: float | None = None) -> BatchReport:
        """For rows with right answers: how often they were answered right, by model, threshold and confidence, and
        which setting would have been enough."""
        return _finished(self._calls.report(timeout=timeout))

    def cancel(self, *, timeout: float | None = None) -> Batch:
        """Starts no more rows and cancels running polls. The votes received by then are charged."""
        return _finished(self._calls.cancel(timeout=timeout))

    def delete(self, *, timeout: float | None = None) -> BatchDeleted:
        """Deletes an ended batch with its rows and results."""
        return _finished(self._calls.delete(timeout=timeout))


# ---------------------------------------------------------------------------------------------------------- webhooks

MAX_SIGNATURES = 16


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Checks that a delivery comes from the service (Standard Webhooks) and reads it. Pass the body as received, before
    parsing, and every secret that may be in use: there are two while one is rotated. A delivery may arrive more than
    once, with the same `webhook-id`. Raises EloquentPollError with the code `bad_webhook`."""
    given = {name.lower(): value for name, value in headers.items()}
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    webhook_id, sent_at, signatures = (given.get(name, "") for name in names)
    if not (webhook_id and sent_at and signatures):
        raise _unverified(f"The headers {', '.join(names)} are needed.")
    clock = time.time() if now is None else now
    # A tolerance that is no number accepts nothing, so that old deliveries cannot be replayed.
    if not re.fullmatch(r"[0-9]{1,12}", sent_at) or not abs(clock - int(sent_at)) <= tolerance:
        raise _unverified(f"The delivery is not of the last {tolerance:g} seconds; check this machine's clock.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{webhook_id}.{sent_at}.".encode() + content
    found = [_decoded(one[3:]) for one in signatures.split(" ")[:MAX_SIGNATURES] if one.startswith("v1,")]
    is_good = False
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        key = _decoded(secret.removeprefix("whsec_"))
        if not key:
            raise _unverified("A secret is not whsec_ and base64.")
        right = hmac.new(key, signed, hashlib.sha256).digest()
        # Compared in constant time. All secrets are tried, whichever is right.
        for signature in found:
            is_good = hmac.compare_digest(right, signature) or is_good
    if not is_good:
        raise _unverified("No signature of the delivery is made with this secret from this body.")
    event = _json_object(content.decode("utf-8", "replace"))
    if not isinstance(event.get("type"), str):
        raise _unverified("The delivery is not an event.")
    return cast(WebhookEvent, event)


def _unverified(message: str) -> EloquentPollError:
    return EloquentPollError(message, code="bad_webhook")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


# --------------------------------------------------------------------------------------------------------- transport


BatchRows = Union[str, "os.PathLike[str]", Iterable[BatchRow]]
"""The path of a file (JSON lines, or CSV with a header), or rows as values."""


class _Upload:
    """Rows that can be sent again."""

    def __init__(self, file: IO[bytes], media_type: str) -> None:
        self.media_type = media_type
        self.length = file.seek(0, os.SEEK_END)
        self._file = file

    def pieces(self) -> Generator[bytes, None, None]:
        self._file.seek(0)
        while piece := self._file.read(65_536):
            yield piece

    def close(self) -> None:
        self._file.close()


def _upload_of(rows: BatchRows, named: Literal["jsonl", "csv"] | None) -> _Upload:
    if isinstance(rows, (str, os.PathLike)):
        path = os.fspath(rows)
        is_csv = named == "csv" or (named is None and path.lower().endswith(".csv"))
        return _Upload(open(path, "rb"), "text/csv" if is_csv else "application/jsonl")
    kept = tempfile.SpooledTemporaryFile(UPLOAD_MEMORY_BYTES)
    try:
        for row in rows:
            kept.write(_json_of(row, ensure_ascii=False) + b"\n")
        return _Upload(cast("IO[bytes]", kept), "application/jsonl")
    except BaseException:
        kept.close()
        raise


@dataclass(frozen=True)
class _Call:
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    ids: tuple[str, ...] = ()
    query: str = ""
    body: object = None
    upload: _Upload | None = None
    """Sent instead of `body`. Its type is given as a header."""
    headers: Mapping[str, str] | None = None
    accept: str = "application/json, application/problem+json"
    once: bool = False
    """Not idempotent: retried only if the service refused it."""
    gone: Mapping[str, object] | None = None
    """For deletions: the body to return if a retry finds nothing, because an earlier attempt may have deleted it."""
    check: Callable[[_Answer], object] | None = None
    """Raises the error that a successful answer contains."""
    timeout: float | None = None
    """Includes waits and retries. Default: `usual`, counted from when the rate limits allow the call."""
    usual: float = TIMEOUT_S
    budget: str = ""
    """The rate limit that it counts against. Default: that of its method and path."""

    @property
    def target(self) -> str:
        return self.path.format(*(quote(part, safe="") for part in self.ids)) + self.query


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: object


def _secret_text(name: str, value: str) -> str:
    # A key that is read from a file ends with a line ending.
    text = value.strip()
    if not re.fullmatch(r"[\x21-\x7e]*", text):
        raise ValueError(f"{name} contains characters that it cannot have")
    return text


def _json_of(value: object, *, ensure_ascii: bool = True) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=ensure_ascii).encode()
    except (TypeError, ValueError) as cause:
        raise EloquentPollError(f"The body cannot be written as JSON: {cause}", code="bad_request") from cause


def _texts(name: str, values: Sequence[str]) -> list[str]:
    # A text is a sequence of texts too: each of its characters would be one.
    if isinstance(values, str):
        raise TypeError(f"{name} must be a list of texts, not a text")
    return list(values)


def _given(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _query(**fields: str | float | None) -> str:
    given = _given(**fields)
    return f"?{urlencode(given)}" if given else ""


def _filter_query(filters: Mapping[str, Any], **fields: str | float | None) -> str:
    given = {name: value for name, value in {**fields, **filters}.items() if value is not None and name != "metadata"}
    metadata = cast("Mapping[str, str]", filters.get("metadata") or {})
    pairs = {f"metadata[{key}]": value for key, value in metadata.items()}
    return _query(**{name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}, **pairs)


def _key_or_new(idempotency_key: str | None) -> str:
    # An empty key is sent, and the service refuses it: with a new one, the same call would make another poll.
    return secrets.token_hex(16) if idempotency_key is None else idempotency_key


def _paid(
    path: str, body: object, idempotency_key: str | None, timeout: float | None, *, budget: str = "polls"
) -> _Call:
    headers = {"Idempotency-Key": _key_or_new(idempotency_key)}
    return _Call("POST", path, body=body, headers=headers, timeout=timeout, usual=POLL_TIMEOUT_S, budget=budget)


class _Service:
    """Makes calls with their retries, over one kind of network."""

    def __init__(
        self,
        base_url: str,
        credentials: Mapping[str, str],
        max_retries: int,
        pace: bool,
        tls: ssl.SSLContext | None,
        net: _Net,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("base_url must begin with http:// or https://")
        if url.username or url.password:
            raise ValueError("base_url must not contain a user name or a password")
        self.max_retries = max_retries
        self.net = net
        self._host = url.hostname
        self._named = url.netloc
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._prefix = url.path.rstrip("/")
        self._tls = None if url.scheme == "http" else tls or ssl.create_default_context()
        self._credentials = credentials
        self._pace = _Pace() if pace else None

    async def body(self, call: _Call) -> object:
        return (await self.call(call)).body

    async def call(self, call: _Call) -> _Answer:
        try:
            return await self._retried(call)
        except EloquentPollError as error:
            raise _with_poll(error, call)

    async def _retried(self, call: _Call) -> _Answer:
        deadline = await self.begin(call)
        attempt = 0
        may_be_done = False
        while True:
            try:
                response = await self.send(call, attempt, deadline)
                try:
                    answer = _Answer(response.status, response.headers, await _body_of(response, deadline))
                finally:
                    response.close()
                if call.check:
                    call.check(answer)
                return answer
            except OSError as cause:
                if isinstance(cause, TimeoutError) and _is_past(deadline):
                    raise _late(call) from cause
                error = _unreachable(cause)
            except EloquentPollError as refused:
                error = refused
            # A 404 without a code comes from a proxy whose service is down.
            if call.gone and may_be_done and error.status == 404 and error.code != "http_404":
                return _Answer(200, {}, dict(call.gone))
            may_be_done = may_be_done or error.status not in REFUSED
            # An upload that did not arrive in time will not do so the next time.
            is_over = attempt >= self.max_retries or (call.upload is not None and error.status == 408)
            delay = None if is_over else _delay_before(attempt, error, once=call.once)
            # There is no time left for the wait, so raise the error.
            if delay is None or time.monotonic() + delay >= deadline:
                raise error
            await self.net.sleep(delay)
            attempt += 1

    async def begin(self, call: _Call) -> float:
        """Waits until the rate limit allows the call, then returns its deadline."""
        until = time.monotonic() + (MAX_PAUSES_S if call.timeout is None else call.timeout)
        await self._turn(call, until)
        return time.monotonic() + call.usual if call.timeout is None else until

    async def _turn(self, call: _Call, until: float) -> None:
        if self._pace is None:
            return
        while pause := self._pace.take(_budget_of(call)):
            if pause > MAX_PAUSE_S or time.monotonic() + pause > until:
                # Waiting longer is useless: the service refuses the call and says why.
                return self._pace.take_anyway(_budget_of(call))
            await self.net.sleep(pause)

    async def send(self, call: _Call, attempt: int, deadline: float) -> _Response:
        """One attempt; repeated ones wait first. Returns a successful response with an unread body, or throws an
        error."""
        if attempt > 0:
            await self._turn(call, deadline)
        sent_at = time.monotonic()
        response: _Response | None = None
        try:
            request = self._request(call)
            wire = await self.net.open(self._host, self._port, self._tls, deadline)
            response = _Response(wire)
            await wire.write(request, deadline)
            await self._send_upload(call, wire, deadline)
            await response.read_head(deadline)
        except BaseException:
            if self._pace:
                self._pace.note(_budget_of(call), sent_at, None)
            if response:
                response.close()
            raise
        if self._pace:
            self._pace.note(_budget_of(call), sent_at, response)
        if response.status < 300 or response.status == 304:
            return response
        try:
            raise await _error_of(response, deadline)
        finally:
            response.close()

    @staticmethod
    async def _send_upload(call: _Call, wire: _Wire, deadline: float) -> None:
        try:
            for piece in call.upload.pieces() if call.upload else ():
                await wire.write(piece, deadline)
        except (ConnectionError, ssl.SSLError):
            # A service that refuses an upload may answer before it has read the rest.
            pass

    def _request(self, call: _Call) -> bytes:
        body = b"" if call.body is None else _json_of(call.body)
        length = call.upload.length if call.upload else len(body)
        headers = {
            "Host": self._named,
            "Accept": call.accept,
            "Accept-Encoding": "identity",
            "Connection": "close",
            "User-Agent": "eloquentpoll.py",
            **({} if call.body is None else {"Content-Type": "application/json"}),
            **({} if call.method == "GET" else {"Content-Length": str(length)}),
            **self._credentials,
            **(call.headers or {}),
        }
        lines = [f"{call.method} {self._prefix}{call.target} HTTP/1.1"]
        for name, value in headers.items():
            if not re.fullmatch(r"[\x20-\x7e]*", value):
                raise EloquentPollError(f"{name} must be printable ASCII.", code="bad_request")
            lines.append(f"{name}: {value}")
        return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def _budget_of(call: _Call) -> str:
    return call.budget or f"{call.method} {call.path}"


class _Budget:
    def __init__(self) -> None:
        self.left = math.inf
        """Number of calls left. Sent calls count before they are answered."""
        self.ends_at = 0.0
        self.limit = math.inf
        self.window = 0.0
        self.said_at: float | None = None
        """When the call was sent whose answer set these values. None before any answer."""
        self.unanswered = 0


class _Pace:
    """Tracks what is left of the service's rate limits, for all calls of one client, across threads. Times are of
    `time.monotonic`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._budgets: dict[str, _Budget] = {}

    def take(self, name: str) -> float:
        """0 if a call may be sent, else the seconds after which to ask again."""
        now = time.monotonic()
        with self._lock:
            budget = self._budgets.setdefault(name, _Budget())
            if budget.said_at is None and budget.unanswered >= FIRST_CALLS:
                return 0.05
            if budget.said_at is not None and now >= budget.ends_at:
                # As in the service, a new window starts with the first call after the old one.
                budget.left, budget.ends_at, budget.said_at = budget.limit, now + budget.window, now
            if budget.left <= 0:
                # With a random part, because many clients wait for the same second.
                return budget.ends_at - now + random.random() / 4
            budget.left -= 1
            budget.unanswered += 1
            return 0

    def take_anyway(self, name: str) -> None:
        with self._lock:
            budget = self._budgets[name]
            budget.left -= 1
            budget.unanswered += 1

    def note(self, name: str, sent_at: float, response: _Response | None) -> None:
        """Learns from a response. None if there was none."""
        with self._lock:
            budget = self._budgets[name]
            budget.unanswered -= 1
            if response is not None:
                self._learn(budget, sent_at, response)

    @staticmethod
    def _learn(budget: _Budget, sent_at: float, response: _Response) -> None:
        headers = response.headers
        known = budget.said_at
        budget.said_at = sent_at if known is None else known
        is_refused = response.status == 429
        left = _count(headers.get("ratelimit-remaining"))
        seconds = _count(headers.get("ratelimit-reset"))
        if is_refused and (left is None or seconds is None):
            left, seconds = 0, _retry_after(headers)
        if left is None or seconds is None:
            return
        # The service counts from when the call arrived, maybe long before its answer. A refusal counts from its own time.
        ends_at = (time.monotonic() if is_refused else sent_at) + seconds
        is_same_window = abs(ends_at - budget.ends_at) <= SAME_WINDOW_S
        if ends_at <= time.monotonic() or (not is_same_window and known is not None and sent_at < known):
            return
        limit = _count(headers.get("ratelimit-limit"))
        windows = re.findall(r"([0-9]{1,9})\s*;\s*w=([0-9]{1,7})", headers.get("ratelimit-policy", ""))
        window = next((int(length) for calls, length in windows if int(calls) == limit), None)
        budget.left = min(budget.left, left) if is_same_window else left
        # The later end is safe: one of two answers of a window may be a refusal, which counts from its own time.
        budget.ends_at = max(budget.ends_at, ends_at) if is_same_window else ends_at
        budget.said_at = max(sent_at, budget.said_at)
        # If the window is unknown or allows no calls at all, nothing is known about the next window.
        is_known = limit is not None and limit > 0 and window is not None
        budget.limit = limit if is_known and limit is not None else math.inf
        budget.window = float(window or 0)


def _count(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) else None


async def _call_tool(service: _Service, name: str, timeout: float | None) -> object:
    """Calls a read-only tool of the MCP server in one request."""
    arguments: dict[str, object] = {}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    accept = "application/json, text/event-stream"
    # The error of a tool is an answer with status 200. A temporary one is retried like any other.
    call = _Call("POST", "/api/mcp", body=body, accept=accept, check=_tool_content, timeout=timeout)
    return _tool_content(await service.call(call))


def _tool_content(answer: _Answer) -> object:
    message = _object(answer.body)
    result, refusal = _object(message.get("result")), _object(message.get("error"))
    if "structuredContent" in result:
        return result["structuredContent"]
    content = cast("list[Any]", result.get("content") or [{}])
    said = _json_object(str(_object(content[0]).get("text", ""))) or _object(refusal.get("data"))
    raise _error_from(said or {"error": refusal.get("message")}, "bad_response", answer.status, answer.headers)


PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))
"""Retryable statuses, if the body does not say whether a retry helps."""
REFUSED = frozenset((425, 429))
"""Statuses of requests that had no effect."""


def _delay_before(
    attempt: int, error: EloquentPollError, *, once: bool = False, first: float = FIRST_BACKOFF_S
) -> float | None:
    """Seconds until the next attempt, with full jitter and not before Retry-After. None: no retry."""
    if not error.retryable or error.code == "timeout":
        return None
    if once and error.status not in REFUSED:
        return None
    asked = error.retry_after or 0
    if asked > MAX_BACKOFF_S:
        return None
    return asked + random.random() * min(MAX_BACKOFF_S, first * 2**attempt)


def _pause_without_news(missed: int, error: EloquentPollError) -> float | None:
    """Seconds until a long wait looks again, longer after each failed look. None if the error is not temporary."""
    if not error.retryable:
        return None
    # The exponent is bounded, so that the result stays finite.
    half = min(MAX_BACKOFF_S, BATCH_NEWS_S * 2 ** min(missed, 10)) / 2
    return max(error.retry_after or 0, half) + random.random() * half


async def _until_heard(service: _Service, deadline: float, timeout: float, call: Callable[[], Awaitable[R]]) -> R:
    """Repeats a call after each temporary failure, until its first answer."""
    missed = 0
    while True:
        try:
            return await call()
        except EloquentPollError as error:
            pause = _pause_without_news(missed, error)
            if pause is None:
                raise
            if time.monotonic() + pause >= deadline:
                # The call had only the rest of the time.
                raise _timed_out(timeout) if error.code == "timeout" else error
        await service.net.sleep(pause)
        missed += 1


def _late(call: _Call) -> EloquentPollError:
    return _timed_out(call.usual if call.timeout is None else call.timeout)


def _timed_out(timeout: float) -> EloquentPollError:
    return EloquentPollError(f"There was no answer within {timeout:g} s.", code="timeout", retryable=True)


def _with_poll(error: EloquentPollError, call: _Call, session_id: str | None = None) -> EloquentPollError:
    """Adds to an error how to find a poll that may have been created."""
    error.session_id = error.session_id or session_id
    error.idempotency_key = error.idempotency_key or (call.headers or {}).get("Idempotency-Key")
    return error


def _id_in(answer: object, name: str, call: _Call) -> str:
    """Of what was made. Another program, such as a proxy, may have answered instead."""
    found = _object(answer).get(name)
    if not isinstance(found, str):
        raise _with_poll(EloquentPollError(f"The answer has no {name}.", code="bad_response"), call)
    return found


def _unreachable(cause: OSError) -> EloquentPollError:
    error = EloquentPollError(f"The service cannot be reached: {cause}", code="network_error", retryable=True)
    error.__cause__ = cause
    return error


def _bad_response(message: str, response: _Response) -> EloquentPollError:
    request_id = response.headers.get("x-request-id")
    return EloquentPollError(message, code="bad_response", status=response.status or None, request_id=request_id)


async def _body_of(response: _Response, deadline: float) -> object:
    if response.status in (204, 304):
        return None
    text = await _text_of(response, deadline)
    if response.is_stream:
        messages = _SseParser().feed(text)
        text = messages[-1].data if messages else ""
    try:
        return json.loads(text)
    except ValueError as cause:
        raise _bad_response("The answer is not JSON.", response) from cause


async def _text_of(response: _Response, deadline: float) -> str:
    pieces: list[bytes] = []
    length = 0
    async for piece in response.pieces(deadline):
        pieces.append(piece)
        length += len(piece)
        if length > MAX_BODY_BYTES:
            raise _bad_response("The answer is too long.", response)
    return b"".join(pieces).decode("utf-8", "replace")


async def _error_of(response: _Response, deadline: float) -> EloquentPollError:
    if 300 <= response.status < 400:
        to = response.headers.get("location", "another address")[:200]
        said = f"The service redirects to {to}. Redirects are not followed: if the service has moved, change base_url."
        return EloquentPollError(said, code=f"http_{response.status}", status=response.status)
    try:
        text = await _text_of(response, deadline)
    except TimeoutError:
        raise
    except (OSError, EloquentPollError):
        text = ""
    # A body that is not a JSON object comes from a proxy.
    body = _json_object(text)
    # The MCP server sends the error of the service as `data` of a JSON-RPC error.
    body = _object(_object(body.get("error")).get("data")) or body
    return _error_from(body, f"http_{response.status}", response.status, response.headers)


def _error_from(
    body: Mapping[str, Any], code: str, status: int | None, headers: Mapping[str, str]
) -> EloquentPollError:
    """Makes an error from either kind of error body of the service, or from an error event."""
    said = next((text for text in (body.get("detail"), body.get("error")) if isinstance(text, str)), None)
    own, retryable, least = body.get("code"), body.get("retryable"), body.get("min_cost_usd")
    recovery, request_id, session_id, count, required = (
        body.get(name) for name in ("recovery", "request_id", "session_id", "error_count", "required_usd")
    )
    listed = [_object(one) for one in cast("list[Any]", body.get("errors") or [])]
    return EloquentPollError(
        said or f"The service answered {status}.",
        code=own if isinstance(own, str) else code,
        status=status,
        retryable=retryable if isinstance(retryable, bool) else status in PASSING,
        retry_after=_retry_after(headers),
        recovery=cast("list[Recovery]", recovery) if isinstance(recovery, list) else (),
        issues=cast("list[Issue]", [one for one in listed if isinstance(one.get("pointer"), str)]),
        rows=cast("list[BatchRowError]", [one for one in listed if isinstance(one.get("line"), int)]),
        row_count=count if isinstance(count, int) else None,
        request_id=request_id if isinstance(request_id, str) else headers.get("x-request-id"),
        min_cost_usd=float(least) if isinstance(least, (int, float)) else None,
        required_usd=float(required) if isinstance(required, (int, float)) else None,
        session_id=session_id if isinstance(session_id, str) else None,
    )


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _json_object(text: str) -> dict[str, Any]:
    try:
        return _object(json.loads(text))
    except ValueError:
        return {}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The header in seconds, whether it is a number or a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
        # Uses the service's own clock if the response states its time.
        now = _utc(parsedate_to_datetime(headers["date"])) if "date" in headers else datetime.now(timezone.utc)
    except (TypeError, ValueError):
        return None
    return max(0.0, (_utc(at) - now).total_seconds())


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


# -------------------------------------------------------------------------------------------------------------- HTTP


class _Wire(Protocol):
    """A connection. Times are of `time.monotonic`. A late operation raises TimeoutError, a failed one another
    OSError."""

    async def read(self, deadline: float) -> bytes: ...

    async def write(self, data: bytes, deadline: float) -> None: ...

    def close(self) -> None: ...


class _Net(Protocol):
    async def open(self, host: str, port: int, tls: ssl.SSLContext | None, deadline: float) -> _Wire: ...

    async def sleep(self, seconds: float) -> None: ...


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    # Sockets refuse a longer time, such as infinity.
    return min(left, MAX_SOCKET_S)


def _is_past(deadline: float) -> bool:
    # The clocks of sockets and of this process differ slightly.
    return time.monotonic() >= deadline - 0.05


class _BlockingWire:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def read(self, deadline: float) -> bytes:
        self._connection.settimeout(_left(deadline))
        return self._connection.recv(65_536)

    async def write(self, data: bytes, deadline: float) -> None:
        self._connection.settimeout(_left(deadline))
        self._connection.sendall(data)

    def close(self) -> None:
        self._connection.close()


def _share(deadline: float, more: int) -> float:
    """Until when one address of the service is tried, if there are more."""
    return min(deadline, time.monotonic() + CONNECT_S) if more else deadline


class _BlockingNet:
    async def open(self, host: str, port: int, tls: ssl.SSLContext | None, deadline: float) -> _Wire:
        # Not by socket.create_connection, which gives the whole time to each address.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        while True:
            (family, kind, proto, _, address), *found = found
            connection: socket.socket | None = None
            try:
                connection = socket.socket(family, kind, proto)
                connection.settimeout(_left(_share(deadline, len(found))))
                connection.connect(address)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.settimeout(_left(deadline))
                return _BlockingWire(tls.wrap_socket(connection, server_hostname=host) if tls else connection)
            except BaseException as cause:
                if connection:
                    connection.close()
                if not found or not isinstance(cause, OSError):
                    raise

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


async def _in_time(
    start: Callable[[], Awaitable[R]], deadline: float, drop: Callable[[R], object] = lambda _: None
) -> R:
    """`drop` gets what came together with a cancellation."""
    left = _left(deadline)  # Checked first, because a started call must be awaited.
    # Not by asyncio.wait_for: before Python 3.12 it ignores a cancellation that comes together with the answer.
    work = asyncio.ensure_future(start())
    try:
        await asyncio.wait((work,), timeout=left)
    except BaseException:
        work.add_done_callback(lambda done: done.cancelled() or done.exception() or drop(done.result()))
        work.cancel()
        raise
    if not work.done():
        work.cancel()
        await asyncio.wait((work,))
    if work.cancelled():
        raise TimeoutError
    return work.result()


class _AsyncioWire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, deadline: float) -> bytes:
        return await _in_time(lambda: self._reader.read(65_536), deadline)

    async def write(self, data: bytes, deadline: float) -> None:
        self._writer.write(data)
        await _in_time(self._writer.drain, deadline)

    def close(self) -> None:
        self._writer.transport.abort()


def _abandon(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    connection[1].transport.abort()


class _AsyncioNet:
    async def open(self, host: str, port: int, tls: ssl.SSLContext | None, deadline: float) -> _Wire:
        loop = asyncio.get_running_loop()
        found = await _in_time(lambda: loop.getaddrinfo(host, port, type=socket.SOCK_STREAM), deadline)
        name = host if tls else None
        while True:
            (_, _, _, _, address), *found = found

            def connect(to: str = str(address[0])) -> Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
                return asyncio.open_connection(to, port, ssl=tls, server_hostname=name)

            try:
                return _AsyncioWire(*await _in_time(connect, _share(deadline, len(found)), _abandon))
            except OSError:
                if not found:
                    raise

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Response:
    """An HTTP/1.1 response, read as it arrives."""

    def __init__(self, wire: _Wire) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self._wire = wire
        self._rest = b""

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").lower().partition(";")[0].strip() == "text/event-stream"

    def close(self) -> None:
        self._wire.close()

    async def read_head(self, deadline: float) -> None:
        while self.status < 200:
            head = (await self._until(b"\r\n\r\n", MAX_HEAD_BYTES, deadline)).decode("latin-1")
            first, *lines = head.split("\r\n")
            status = re.match(r"HTTP/1\.[01] (\d{3})\b", first)
            if not status:
                raise _bad_response("The answer is not HTTP/1.1.", self)
            self.status = int(status[1])
            self.headers = {}
            for line in lines:
                name, _, value = line.partition(":")
                self.headers[name.strip().lower()] = value.strip()

    async def pieces(self, deadline: float, silence: float | None = None) -> AsyncGenerator[bytes, None]:
        """The body, in chunks as they arrive."""

        def until() -> float:
            return deadline if silence is None else min(deadline, time.monotonic() + silence)

        if self.status in (204, 304):
            return
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while True:
                line = (await self._until(b"\r\n", 1_024, until())).partition(b";")[0].strip()
                if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", line):
                    raise _bad_response("The answer has a chunk without a length.", self)
                left = int(line, 16)
                if left == 0:
                    return
                while left > 0:
                    piece = await self._some(left, until())
                    left -= len(piece)
                    yield piece
                await self._until(b"\r\n", 2, until())
        elif "content-length" in self.headers:
            length = self.headers["content-length"]
            if not length.isdecimal():
                raise _bad_response("The answer has no length that is a number.", self)
            left = int(length)
            while left > 0:
                piece = await self._some(left, until())
                left -= len(piece)
                yield piece
        else:
            while True:
                piece = self._rest or await self._wire.read(until())
                self._rest = b""
                if not piece:
                    return
                yield piece

    async def _some(self, most: int, deadline: float) -> bytes:
        data = self._rest or await self._wire.read(deadline)
        if not data:
            raise ConnectionError("the connection was closed before the end of the answer")
        self._rest = data[most:]
        return data[:most]

    async def _until(self, end: bytes, most: int, deadline: float) -> bytes:
        while (at := self._rest.find(end)) < 0:
            if len(self._rest) > most:
                raise _bad_response("The answer has too long a head.", self)
            data = await self._wire.read(deadline)
            if not data:
                raise ConnectionError("the connection was closed before the end of the answer")
            self._rest += data
        taken, self._rest = self._rest[:at], self._rest[at + len(end) :]
        return taken


# ----------------------------------------------------------------------------------------------------------- streams


async def _stream(service: _Service, call: _Call, last_id: str = "") -> AsyncGenerator[StreamEvent, None]:
    """`last_id`: the event or poll to follow from. A stream that follows a poll retries for longer, after its first
    event."""
    deadline = await service.begin(call)
    last_seq = -1
    session_id: str | None = None
    is_following = last_id != ""
    attempt = 0
    first = FIRST_BACKOFF_S
    while True:
        headers = {**(call.headers or {}), **({"Last-Event-ID": last_id} if last_id else {})}
        accept = "text/event-stream, application/problem+json"
        # Resuming counts as reading, not as another poll, and must not wait for a turn to make one.
        budget = call.budget if session_id is None else ""
        asked = replace(call, headers=headers, accept=accept, budget=budget)
        response: _Response | None = None
        try:
            response = await service.send(asked, attempt, deadline)
            if not response.is_stream:
                raise _bad_response("The answer is not a stream of events.", response)
            decode = codecs.getincrementaldecoder("utf-8")("replace").decode
            parser = _SseParser()
            async for piece in response.pieces(deadline, SILENCE_S):
                for message in parser.feed(decode(piece)):
                    first = message.retry or first
                    event = _stream_event(message, response)
                    # After a reconnect, the newest event may be repeated.
                    if event is None or (event.event == "started" and event.data["seq"] <= last_seq):
                        continue
                    last_id = event.id or last_id
                    last_seq = event.data["seq"]
                    session_id = event.data["session_id"]
                    attempt = 0
                    yield event
                    if event.event == "complete":
                        return
            raise ConnectionError("the stream broke off")
        except TimeoutError as cause:
            if _is_past(deadline):
                raise _with_poll(_late(call), call, session_id) from cause
            error = EloquentPollError("The stream fell silent.", code="network_error", retryable=True)
        except OSError as cause:
            error = _unreachable(cause)
        except EloquentPollError as refused:
            error = refused
        finally:
            if response is not None:
                response.close()
        # An `error` event: the poll has run, so it is not retried.
        is_verdict = error.status is None and error.code != "network_error"
        is_patient = is_following and session_id is not None
        pause = _pause_without_news(attempt, error) if is_patient else _delay_before(attempt, error, first=first)
        delay = pause if (is_patient or attempt < service.max_retries) and not is_verdict else None
        if delay is None or time.monotonic() + delay >= deadline:
            raise _with_poll(error, call, session_id)
        await service.net.sleep(delay)
        attempt += 1


async def _lines(
    service: _Service,
    begin: Callable[[], _Call],
    is_new: Callable[[dict[str, Any]], bool],
    is_whole: Callable[[_Response], bool] = lambda _: True,
) -> AsyncGenerator[dict[str, Any], None]:
    """Yields JSON lines as they arrive. If a connection breaks, `begin` says how to continue. Attempts are counted
    since the last new line, so that an answer that always breaks at the same place does not loop forever."""
    call = begin()
    deadline = await service.begin(call)
    attempt = 0
    while True:
        response: _Response | None = None
        try:
            accept = "application/jsonl, application/problem+json"
            response = await service.send(replace(call, accept=accept), attempt, deadline)
            rest = b""
            async for piece in response.pieces(deadline, SILENCE_S):
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > MAX_BODY_BYTES:
                    raise _bad_response("A line is too long.", response)
                for line in lines:
                    if not line.strip():
                        continue
                    value = _json_object(line.decode("utf-8", "replace"))
                    if not value:
                        raise _bad_response("A line is not a JSON object.", response)
                    if is_new(value):
                        attempt = 0
                    yield value
            if not rest and is_whole(response):
                return
            raise ConnectionError("the answer broke off")
        except TimeoutError as cause:
            if _is_past(deadline):
                raise _late(call) from cause
            error = EloquentPollError("The answer fell silent.", code="network_error", retryable=True)
        except OSError as cause:
            error = _unreachable(cause)
        except EloquentPollError as refused:
            error = refused
        finally:
            if response is not None:
                response.close()
        delay = _delay_before(attempt, error) if attempt < service.max_retries else None
        if delay is None or time.monotonic() + delay >= deadline:
            raise error
        await service.net.sleep(delay)
        attempt += 1
        call = begin()


@dataclass(frozen=True)
class _Message:
    event: str
    data: str
    id: str
    retry: float | None


def _stream_event(message: _Message, response: _Response) -> StreamEvent | None:
    """None for unknown kinds of events. An `error` event is raised."""
    if message.event not in ("started", "complete", "error"):
        return None
    body = _json_object(message.data)
    if message.event == "error":
        raise _error_from(body, "poll_execution_failed", None, response.headers)
    if not isinstance(body.get("seq"), int):
        raise _bad_response("An event has no number.", response)
    if message.event == "complete":
        return Complete(message.id, cast(StreamEnd, body))
    return Started(message.id, cast(StreamProgress, body))


class _SseParser:
    """Parses server-sent events as defined in the HTML standard: lines end with CR, LF or both, an empty line ends an
    event, a colon starts a comment. An event without its empty line is discarded."""

    def __init__(self) -> None:
        self._rest = ""
        self._is_first = True
        self._after_return = False
        self._id = ""
        self._retry: float | None = None
        self._event = ""
        self._data: list[str] = []
        self._length = 0

    def feed(self, text: str) -> list[_Message]:
        if text and self._is_first:
            self._is_first = False
            text = text.removeprefix("\ufeff")
        if text and self._after_return:
            # The LF of a CR LF does not end a second line.
            text = text.removeprefix("\n")
            self._after_return = False
        self._after_return = self._after_return or text.endswith("\r")
        *lines, self._rest = re.split(r"\r\n|\n|\r", self._rest + text)
        messages = [message for line in lines if (message := self._take(line))]
        if len(self._rest) + self._length > MAX_BODY_BYTES:
            raise EloquentPollError("An event is too long.", code="bad_response")
        return messages

    def _take(self, line: str) -> _Message | None:
        if line == "":
            event, data = self._event or "message", self._data
            self._event, self._data, self._length = "", [], 0
            return _Message(event, "\n".join(data), self._id, self._retry) if data else None
        self._length += len(line)
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._event = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id = value
        elif field == "retry" and re.fullmatch(r"[0-9]+", value):
            self._retry = int(value) / 1_000
        return None
