// Every metric of gateway and worker: name, type, labels, help text, and which process exports it. Rules and boards use
// only these, and a process that uses a name or label that is not here does not start. Labels have few values:
// operations, status codes, models of the roster file, closed lists of the contract; never an id, a key, an address or
// text from a request. Time is in seconds, money in US dollars.

export type Process = 'gateway' | 'worker';

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly on: readonly Process[];
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

const BOTH = ['gateway', 'worker'] as const;
const GATEWAY = ['gateway'] as const;
const WORKER = ['worker'] as const;

const ANSWER_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120] as const;
const POLL_S = [0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 90, 120] as const;
const WAIT_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export const METRICS = {
  // The gateway's answers. `operation` is the operationId of the OpenAPI document, or `none` where nothing matched.
  eloquentpoll_http_requests_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['operation', 'status'],
    help: 'Answered requests by operation and HTTP status. A stream counts when it starts.',
  },
  eloquentpoll_http_request_duration_seconds: {
    type: 'histogram',
    on: GATEWAY,
    labels: ['operation'],
    buckets: ANSWER_S,
    help: 'Time from the request line to the last byte of the response; includes long polls and requests that wait for a poll.',
  },
  eloquentpoll_http_errors_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['code'],
    help: 'Error responses, by code of the error catalogue.',
  },
  eloquentpoll_http_connections: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Open client connections, including idle ones and streams.',
  },
  eloquentpoll_sse_streams: { type: 'gauge', on: GATEWAY, labels: [], help: 'Open event streams.' },
  eloquentpoll_sse_streams_blocked: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Open event streams whose client does not read.',
  },
  eloquentpoll_polls_watched: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Polls that this process follows for a stream, a long poll or a waiting request.',
  },
  eloquentpoll_polls_accepted_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Polls that were accepted: hold and poll are stored.',
  },
  eloquentpoll_polls_refused_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['reason'],
    help: 'Polls that were not accepted, by reason: too_many, too_late (could not start in time), insufficient, free_spent (the daily budget for free polls is spent), free_held (the rest of it is held for running polls), free_closed and others.',
  },
  eloquentpoll_polls_not_queued_total: {
    type: 'counter',
    on: GATEWAY,
    labels: [],
    help: 'Accepted polls whose job could not be enqueued; the sweep enqueues them.',
  },

  // Incoming money, as this gateway saw it.
  eloquentpoll_checkouts_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['outcome'],
    help: 'Card payments: opened, credited, expired, recreated (our row was lost), mismatched (paid but not credited).',
  },
  eloquentpoll_deposits_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['outcome'],
    help: 'USDC deposits: credited at the request, credited later, pending, failed.',
  },
  eloquentpoll_credited_usd_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['source'],
    help: 'Money credited to accounts, including won disputes; source is card or chain.',
  },
  eloquentpoll_reversed_usd_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['source'],
    help: 'Money taken back from accounts after refunds and disputes.',
  },
  eloquentpoll_reconciliation_failures_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['round'],
    help: 'Failed rounds of reconciliation: checkouts, deposits, transfers, movements.',
  },
  eloquentpoll_reconciliation_interval_seconds: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['round'],
    help: 'Time between two rounds of reconciliation, for those that a setting times: checkouts, deposits. Only for what this gateway is configured to compare.',
  },

  eloquentpoll_part_configured: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['part'],
    help: '1 if this gateway has the settings of a part: cards, usdc, logins, receipts, webhooks.',
  },

  eloquentpoll_batches_running: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Batches that this gateway runs.',
  },

  // What a worker does.
  eloquentpoll_polls_running: {
    type: 'gauge',
    on: WORKER,
    labels: ['lane'],
    help: 'Polls that this worker runs, by lane.',
  },
  eloquentpoll_worker_slots: {
    type: 'gauge',
    on: WORKER,
    labels: ['lane'],
    help: 'How many polls this worker can run at once, by lane (WORKER_CONCURRENCY, WORKER_FLEX_CONCURRENCY).',
  },
  eloquentpoll_flex_allowed: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'Flex polls that this worker may run: fewer while standard polls use its slots, none while standard polls wait.',
  },
  eloquentpoll_polls_claimed_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Polls that this worker claimed.',
  },
  eloquentpoll_poll_queue_wait_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: ['class', 'awaited'],
    buckets: WAIT_S,
    help: 'Time from acceptance to first claim, by class (account, free_account, anonymous, flex) and whether the caller waits (yes, no).',
  },
  eloquentpoll_poll_duration_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: ['panel'],
    buckets: POLL_S,
    help: 'Time from acceptance to storage of the result; for a flex poll, from its claim.',
  },
  eloquentpoll_polls_ended_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel', 'status', 'reason'],
    help: 'Stored polls by status (success, partial, failed) and by the reason why they stopped (mathematical_lock, confidence, budget, roster_exhausted, deadline, or canceled before the first vote).',
  },
  eloquentpoll_polls_buried_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Polls that were given up after too many attempts.',
  },
  eloquentpoll_polls_handed_over_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Running polls that this worker handed over to other workers.',
  },
  eloquentpoll_polls_found_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Running polls without a worker that the sweep enqueued again.',
  },
  eloquentpoll_stale_epoch_total: {
    type: 'counter',
    on: WORKER,
    labels: ['step'],
    help: 'Writes that were refused because another worker has claimed the poll since: lease, progress or store.',
  },
  eloquentpoll_votes_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'outcome'],
    help: 'Votes by outcome: vote (valid), or timeout, refusal, invalid_choice, malformed, rate_limited, provider_error, aborted.',
  },
  eloquentpoll_vote_calls_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model'],
    help: 'Calls to models. A vote that is retried or repaired takes several.',
  },
  eloquentpoll_provider_fields_rejected_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'field'],
    help: 'Request fields that a provider rejects, each counted once per process; the log says what to change.',
  },
  eloquentpoll_provider_access_refused_total: {
    type: 'counter',
    on: WORKER,
    labels: ['provider', 'model'],
    help: 'Answers 401, 402 or 403 about our key or credit; each provider and status counted once per process, with the model that was asked.',
  },
  eloquentpoll_vote_duration_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: ['model'],
    buckets: POLL_S,
    help: 'Time from asking a model to its vote or failure.',
  },
  eloquentpoll_votes_skipped_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel'],
    help: 'Models that were not asked because their poll had stopped.',
  },
  eloquentpoll_votes_orphaned_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model'],
    help: 'Calls whose answer was not used because the poll had stopped or had moved to another worker.',
  },
  eloquentpoll_billed_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'payer'],
    help: 'Money captured for stored polls; payer is account or free_pool. With model none: what the free pool paid for calls without a vote.',
  },
  eloquentpoll_provider_cost_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'payer'],
    help: 'What the calls of stored polls cost us, including aborted calls: the cost that the provider reports, else tokens times price, else the usual cost.',
  },
  eloquentpoll_aborted_calls_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel', 'payer'],
    help: 'Calls that were aborted because their poll stopped; most providers charge for them.',
  },
  eloquentpoll_aborted_cost_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel', 'payer'],
    help: 'The part of the provider cost that aborted calls caused.',
  },
  eloquentpoll_margin_usd: {
    type: 'gauge',
    on: WORKER,
    labels: ['payer'],
    help: 'Billed minus provider cost since the process started.',
  },
  eloquentpoll_votes_cost_unknown_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model'],
    help: 'Stored votes with calls for which the provider reported no cost.',
  },
  eloquentpoll_audits_drawn_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Accepted polls whose question was selected for an audit. Only the first poll of a question is audited.',
  },
  eloquentpoll_panel_audits: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Audits of the current roster version of each panel, as this process last read them. The panel is the preset, with the suffix _search if its models search the web.',
  },
  eloquentpoll_panel_gate_open: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel', 'options'],
    help: '1 if the panel asks its cheapest models first, for polls of few options (2 or 3) and of many.',
  },
  eloquentpoll_panel_alarm: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: '1 if audits show more wrong early stops than promised. Polls of a panel with order cheapest are then stopped early only by a lock.',
  },
  eloquentpoll_audited_stops: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Audited polls of the current roster version of each panel that stopped because their confidence reached the threshold.',
  },
  eloquentpoll_audited_stops_wrong: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Of the audited stops, how many had another winner than the full panel elected.',
  },
  eloquentpoll_audited_stops_allowed: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'How many audited stops may be wrong: the sum of 1 minus threshold.',
  },
  eloquentpoll_audited_stops_said: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'The sum of the confidences of audited stops. Divided by the number of audited stops, it is the mean stated confidence.',
  },
  eloquentpoll_promise_evidence: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel', 'side'],
    help: 'E-values of the promise about wrong stops. Kept: the minimum over groups of thresholds. Broken: the mean over these groups and the replay of the gate. 20 is strong evidence, however often it is read.',
  },
  eloquentpoll_audits_total: {
    type: 'counter',
    on: WORKER,
    labels: ['outcome'],
    help: 'Audits that ended at this worker: stored; deleted (its poll was deleted), expired (daily cap), given_up (workers died), dropped (shutdown, or all models failed), fenced (another worker had it).',
  },
  eloquentpoll_audits_capped_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'How often an audit had to wait because of the daily cap or the ceiling of provider spend.',
  },
  eloquentpoll_audit_cost_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'The maximum that the calls of audits can have cost us; not part of the provider cost.',
  },
  eloquentpoll_breaker_open: {
    type: 'gauge',
    on: WORKER,
    labels: ['model'],
    help: '1 from when the breaker of a model opens until one of its calls succeeds, also between rests, while its probes fail.',
  },
  eloquentpoll_canaries_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'kind', 'outcome'],
    help: 'Tests of models with questions whose answer is known.',
  },
  eloquentpoll_webhook_attempts_total: {
    type: 'counter',
    on: WORKER,
    labels: ['outcome'],
    help: 'Attempts to send a webhook, by outcome: delivered, gone (410), status (any other response), or the reason why there was no response.',
  },
  eloquentpoll_webhooks_failed_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Deliveries that were given up after three days or because the endpoint answered 410.',
  },
  eloquentpoll_webhook_delay_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: [],
    buckets: WAIT_S,
    help: 'Time from an event to its delivery; only deliveries whose first attempt succeeded.',
  },
  eloquentpoll_webhooks_under_way: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'Webhooks that this worker is sending.',
  },
  eloquentpoll_webhooks_pending: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'Deliveries of the fleet that wait for their next attempt, mostly because their receiver failed.',
  },
  eloquentpoll_webhooks_late_seconds: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'How long the oldest due event or delivery of the fleet has waited for a worker.',
  },
  eloquentpoll_models_taken_out: {
    type: 'gauge',
    on: WORKER,
    labels: ['model'],
    help: '1 while a model is taken out of its panels because it failed its tests.',
  },

  // The whole fleet, as Postgres and the queue see it. Every process exports the same figures, at most a few seconds
  // old: use max(), never sum().
  eloquentpoll_queue_jobs: {
    type: 'gauge',
    on: BOTH,
    labels: ['lane', 'state'],
    help: 'Jobs in the queue of each lane (standard, flex), waiting or active.',
  },
  eloquentpoll_queue_oldest_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: ['lane'],
    help: 'Age of the oldest waiting job of each lane; 0 if none waits.',
  },
  eloquentpoll_fleet_polls: {
    type: 'gauge',
    on: BOTH,
    labels: ['state'],
    help: 'Polls that have not ended: held (a worker runs it), lapsed (no worker has it), overdue (past its deadline; also counted as held or lapsed).',
  },
  eloquentpoll_batch_idle_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: ['waits_for'],
    help: 'The longest time that an open batch has made no progress, by what the batch waits for: gateway or worker.',
  },
  eloquentpoll_fleet_buried: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Polls that were given up and not yet closed by an operator.',
  },
  eloquentpoll_free_pool_remaining_usd: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'The rest of the daily budget for free polls, after holds. Missing before the first free poll of a UTC day.',
  },
  eloquentpoll_money_misfits: {
    type: 'gauge',
    on: BOTH,
    labels: ['source'],
    help: 'Movements of money that match no row of ours and that no operator has closed; source is card or chain.',
  },
  eloquentpoll_lost_deposits: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Credited deposits whose transfer the chain has dropped and that no operator has closed.',
  },
  eloquentpoll_money_reconciled_timestamp_seconds: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['source'],
    help: 'The time up to which all movements at the processor, or on the chain, are reconciled with our rows. Only for sources that this gateway is configured to compare.',
  },
  eloquentpoll_negative_balances: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Accounts whose balance is below zero after a reversal.',
  },
  eloquentpoll_worst_caller_failures: {
    type: 'gauge',
    on: BOTH,
    labels: ['kind'],
    help: 'The most failed calls that the questions of one caller caused this UTC day, minus half the number of its polls; kind is refusal or other. The console shows the caller.',
  },
  eloquentpoll_worst_caller_usd: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'The most that such failed calls of one caller cost us this UTC day, minus what was charged for them and 5 % of what the caller paid.',
  },
  eloquentpoll_negative_balances_usd: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'What accounts with a negative balance owe in total.',
  },
  eloquentpoll_provider_spend_usd: {
    type: 'gauge',
    on: BOTH,
    labels: ['window'],
    help: 'The most that providers can have charged the fleet in this hour and this UTC day, including running polls.',
  },
  eloquentpoll_provider_spend_ceiling_usd: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['window', 'polls'],
    help: 'The ceilings of provider spend: one at which free polls are refused, one at which all polls are. Missing if there is no ceiling.',
  },
  eloquentpoll_ledger_violations: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Violations of the rules of the ledger that the last check found, polls that only end late not counted; any value except 0 raises an alarm.',
  },
  eloquentpoll_ledger_checked_timestamp_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'When a check of the ledger was last completed.',
  },
  eloquentpoll_ledger_check_failures: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Checks of the ledger that failed or timed out since the last completed one.',
  },
  eloquentpoll_months_end_timestamp_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'The end of the last monthly partition that exists; workers create partitions two months ahead.',
  },
  eloquentpoll_kept_too_long_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: ['what'],
    help: 'How long the oldest expired data has waited for its deletion: polls (past their retention), accounts (closed), rows (other expired rows).',
  },
  eloquentpoll_receipts_unsealed_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'How long ago the oldest day with unsealed receipts ended; 0 if all days are sealed.',
  },
  eloquentpoll_wal_archive_failing: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: '1 if the newest attempt of Postgres to archive its WAL failed; 0 also where it archives none.',
  },

  // The process.
  eloquentpoll_clock_ahead_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'By how much the clock of this process is at least ahead of that of Postgres; negative if it is behind.',
  },
  eloquentpoll_ready: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: '1 while the process is ready (/readyz answers 200).',
  },
  eloquentpoll_ready_check: {
    type: 'gauge',
    on: BOTH,
    labels: ['check'],
    help: '1 while this check of readiness succeeds: postgres, redis, event_loop, listening and replica (gateway), consuming and liveness (worker), draining (1: the process is not draining).',
  },
  eloquentpoll_build_info: {
    type: 'gauge',
    on: BOTH,
    labels: ['service', 'version', 'commit'],
    help: 'Always 1; its labels name the running service, version and commit.',
  },
  eloquentpoll_postgres_pool_connections: {
    type: 'gauge',
    on: BOTH,
    labels: ['state'],
    help: 'Connections to Postgres, busy or idle.',
  },
  eloquentpoll_postgres_pool_size: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Maximum number of connections of this process.',
  },
  eloquentpoll_postgres_pool_waiting: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Queries that wait for a connection.',
  },
  eloquentpoll_postgres_pool_wait_seconds: {
    type: 'histogram',
    on: BOTH,
    labels: [],
    buckets: WAIT_S,
    help: 'Time that a query waited for a connection.',
  },
  eloquentpoll_replica_lag_seconds: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'The maximum by which the replica of the database can lag; 0 without a replica, missing before it has answered.',
  },
  eloquentpoll_lagging_reads_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['answered'],
    help: 'Reads that a replica may answer, by what answered: replica, or the primary because of lag, own_write (not on the replica yet), away or not_found.',
  },
  eloquentpoll_redis_errors_total: {
    type: 'counter',
    on: BOTH,
    labels: [],
    help: 'Errors on connections to Redis.',
  },
  eloquentpoll_redis_values_refused_total: {
    type: 'counter',
    on: BOTH,
    labels: ['kind'],
    help: 'Values in Redis that did not match their schema and were treated as absent.',
  },
  eloquentpoll_log_lines_total: {
    type: 'counter',
    on: BOTH,
    labels: ['level'],
    help: 'Logged lines, by level: warn, error, fatal.',
  },
  eloquentpoll_spans_dropped_total: {
    type: 'counter',
    on: BOTH,
    labels: [],
    help: 'Trace spans that could not be sent to the collector.',
  },
  nodejs_eventloop_lag_p50_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Event loop delay, median since the last scrape.',
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Event loop delay, 99th percentile since the last scrape.',
  },
  nodejs_eventloop_lag_max_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Maximum event loop delay since the last scrape.',
  },
  nodejs_eventloop_utilization: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Share of the time since the last scrape that the event loop was busy.',
  },
  nodejs_heap_size_used_bytes: { type: 'gauge', on: BOTH, labels: [], help: 'JavaScript heap in use.' },
  nodejs_external_memory_bytes: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Memory of buffers and other objects outside the heap.',
  },
  process_resident_memory_bytes: { type: 'gauge', on: BOTH, labels: [], help: 'Resident memory.' },
  process_cpu_seconds_total: { type: 'counter', on: BOTH, labels: [], help: 'Processor time, user and system.' },
  process_start_time_seconds: { type: 'gauge', on: BOTH, labels: [], help: 'When the process started.' },
  process_open_fds: { type: 'gauge', on: BOTH, labels: [], help: 'Open files and sockets; Linux only.' },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
