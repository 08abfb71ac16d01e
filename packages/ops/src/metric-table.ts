// Every metric that a process of ours shows, in one table: what it is called, what it counts, by what, and which process
// has it. Code, rules and boards go by this list, and a process that uses a name or label that is not here does not
// start. Labels take few values: operations, status codes, models of the roster file, closed lists of the contract;
// never an id, a key, an address or a text of a request. Time is in seconds, money in US dollars.

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
    help: 'Answered requests, by operation and HTTP status; a stream counts when it begins.',
  },
  eloquentpoll_http_request_duration_seconds: {
    type: 'histogram',
    on: GATEWAY,
    labels: ['operation'],
    buckets: ANSWER_S,
    help: 'From the request line to the last byte of the answer; long polls and waiting polls included.',
  },
  eloquentpoll_http_errors_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['code'],
    help: 'Errors that were answered, by their code in the error catalogue.',
  },
  eloquentpoll_http_connections: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Open connections of callers, idle ones and streams included.',
  },
  eloquentpoll_sse_streams: { type: 'gauge', on: GATEWAY, labels: [], help: 'Open event streams.' },
  eloquentpoll_sse_streams_blocked: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Open event streams whose reader does not read.',
  },
  eloquentpoll_polls_watched: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'Polls followed by this process, by stream, long poll or a waiting request.',
  },
  eloquentpoll_polls_accepted_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Polls that were accepted: their money is set aside and their row is stored.',
  },
  eloquentpoll_polls_refused_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['reason'],
    help: 'Polls that were not accepted: too_many, too_late (could not start in time), insufficient, free_spent (nothing left of the day for free polls), free_held (set aside for running ones), free_closed and others.',
  },
  eloquentpoll_polls_not_queued_total: {
    type: 'counter',
    on: GATEWAY,
    labels: [],
    help: 'Accepted polls whose job did not get into the queue; the sweep brings them there.',
  },

  // Money in, as this gateway saw it.
  eloquentpoll_checkouts_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['outcome'],
    help: 'Card payments: opened, credited, expired, recreated (our row of it was lost), mismatched (paid, and not credited).',
  },
  eloquentpoll_deposits_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['outcome'],
    help: 'USDC deposits: credited when they were asked for, credited later, pending, failed.',
  },
  eloquentpoll_credited_usd_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['source'],
    help: 'Credited to accounts, won disputes included; source is card or chain.',
  },
  eloquentpoll_reversed_usd_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['source'],
    help: 'Taken back from accounts after refunds and disputes.',
  },
  eloquentpoll_reconciliation_failures_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['round'],
    help: 'Rounds of reconciliation that failed: checkouts, deposits, transfers, movements.',
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
    help: 'Polls that this worker runs at most at once, by lane (WORKER_CONCURRENCY, WORKER_FLEX_CONCURRENCY).',
  },
  eloquentpoll_flex_allowed: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'Flex polls that this worker may run: fewer while it is busy with others, none while others wait.',
  },
  eloquentpoll_polls_claimed_total: { type: 'counter', on: WORKER, labels: [], help: 'Polls that this worker took.' },
  eloquentpoll_poll_queue_wait_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: ['class', 'awaited'],
    buckets: WAIT_S,
    help: 'From accepted to first claimed, by class (account, free_account, anonymous, flex) and whether its caller waits (yes, no).',
  },
  eloquentpoll_poll_duration_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: ['panel'],
    buckets: POLL_S,
    help: 'From accepted to stored; of a flex poll, from claimed to stored.',
  },
  eloquentpoll_polls_ended_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel', 'status', 'reason'],
    help: 'Stored polls: success, partial or failed, and why they stopped (mathematical_lock, confidence, budget, roster_exhausted, deadline).',
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
    help: 'Running polls that this worker gave back so that another goes on with them.',
  },
  eloquentpoll_polls_found_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Running polls without a worker that the sweep put into the queue again.',
  },
  eloquentpoll_stale_epoch_total: {
    type: 'counter',
    on: WORKER,
    labels: ['step'],
    help: 'Writes that were refused because a newer worker has the poll: lease, progress or store.',
  },
  eloquentpoll_votes_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'outcome'],
    help: 'Votes that ended: vote, or timeout, refusal, invalid_choice, malformed, rate_limited, provider_error, aborted.',
  },
  eloquentpoll_vote_calls_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model'],
    help: 'Calls to models; a vote takes more than one when it is retried or repaired.',
  },
  eloquentpoll_provider_fields_rejected_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'field'],
    help: 'Fields of our requests that a provider turns away, each counted once per process; the log says what to change.',
  },
  eloquentpoll_vote_duration_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: ['model'],
    buckets: POLL_S,
    help: 'From asking a model to its vote or failure.',
  },
  eloquentpoll_votes_skipped_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel'],
    help: 'Models of a panel that need not be asked because the poll had stopped.',
  },
  eloquentpoll_votes_orphaned_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model'],
    help: 'Calls whose answer was not used: the poll had stopped, or left this worker.',
  },
  eloquentpoll_billed_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'payer'],
    help: 'Captured for stored polls; payer is account or free_pool. Model none is what the pool paid for calls without a vote.',
  },
  eloquentpoll_provider_cost_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'payer'],
    help: 'What the calls of stored polls cost us, aborted ones included: what providers say, else the tokens at their price, else the usual cost.',
  },
  eloquentpoll_aborted_calls_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel', 'payer'],
    help: 'Calls under way that a stop aborted; most providers charge them.',
  },
  eloquentpoll_aborted_cost_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: ['panel', 'payer'],
    help: 'The part of the provider cost that is for aborted calls.',
  },
  eloquentpoll_margin_usd: {
    type: 'gauge',
    on: WORKER,
    labels: ['payer'],
    help: 'Billed less provider cost since the start.',
  },
  eloquentpoll_votes_cost_unknown_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model'],
    help: 'Stored votes with calls whose provider did not say what they cost us.',
  },
  eloquentpoll_audits_drawn_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Accepted polls that were drawn for an audit.',
  },
  eloquentpoll_panel_audits: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Audits of each panel as its roster file has it now, as this process last read them. The panel is the preset, with _search where it is asked with web search.',
  },
  eloquentpoll_panel_gate_open: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel', 'options'],
    help: '1 where the panel asks its cheapest models first, for few options (2 or 3) and for many.',
  },
  eloquentpoll_panel_alarm: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: '1 where audits show more wrong early stops than the promise allows: where the panel wants its cheapest models first, only a lock stops its polls.',
  },
  eloquentpoll_audited_stops: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Audited polls of each panel, as it is asked now, that stopped because their confidence reached its threshold.',
  },
  eloquentpoll_audited_stops_wrong: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'Those of them that stopped on another winner than the whole panel elected.',
  },
  eloquentpoll_audited_stops_allowed: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'How many of them may be wrong: one minus the threshold of each, summed.',
  },
  eloquentpoll_audited_stops_said: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel'],
    help: 'The sum of their confidence when they stopped; divided by their number it is what they said.',
  },
  eloquentpoll_promise_evidence: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['panel', 'side'],
    help: 'E-value that the promise about wrong stops is kept, the least of those of each threshold, and that it is broken, their mean with those of the replay of the gate: 20 is strong evidence, at whatever moment it is read.',
  },
  eloquentpoll_audits_total: {
    type: 'counter',
    on: WORKER,
    labels: ['outcome'],
    help: 'Audits that ended at this worker: stored, or not made because their poll was deleted, the cap of the day (expired), workers that died (given_up), a shutdown or models that all failed (dropped), or another worker (fenced).',
  },
  eloquentpoll_audits_capped_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Times that an audit had to wait for money: the daily cap, or the ceiling of provider spend.',
  },
  eloquentpoll_audit_cost_usd_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'What the calls of audits cost us, at most; not contained in the provider cost.',
  },
  eloquentpoll_breaker_open: {
    type: 'gauge',
    on: WORKER,
    labels: ['model'],
    help: '1 while the fleet leaves a model alone because it kept failing.',
  },
  eloquentpoll_canaries_total: {
    type: 'counter',
    on: WORKER,
    labels: ['model', 'kind', 'outcome'],
    help: 'Tests of models with questions of known answer.',
  },
  eloquentpoll_webhook_attempts_total: {
    type: 'counter',
    on: WORKER,
    labels: ['outcome'],
    help: 'Messages sent to endpoints of accounts: delivered, gone (410), status (any other answer), or why there was no answer.',
  },
  eloquentpoll_webhooks_failed_total: {
    type: 'counter',
    on: WORKER,
    labels: [],
    help: 'Deliveries that were given up: after three days, or because the endpoint answered 410.',
  },
  eloquentpoll_webhook_delay_seconds: {
    type: 'histogram',
    on: WORKER,
    labels: [],
    buckets: WAIT_S,
    help: 'From an event to its delivery, of those that the first attempt delivered.',
  },
  eloquentpoll_webhooks_under_way: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'Messages that this worker is sending.',
  },
  eloquentpoll_webhooks_pending: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'Deliveries of the fleet that wait for an attempt; most wait because their receiver failed.',
  },
  eloquentpoll_webhooks_late_seconds: {
    type: 'gauge',
    on: WORKER,
    labels: [],
    help: 'How long the oldest event or delivery of the fleet has been due without a worker taking it.',
  },
  eloquentpoll_models_taken_out: {
    type: 'gauge',
    on: WORKER,
    labels: ['model'],
    help: '1 while a model is out of its panels because it failed its tests.',
  },

  // The whole fleet, as Postgres and the queue see it. Every process shows the same figures, a few seconds old at most:
  // take max(), never sum().
  eloquentpoll_queue_jobs: {
    type: 'gauge',
    on: BOTH,
    labels: ['lane', 'state'],
    help: 'Jobs in the queue of each lane (standard, flex): waiting, or active.',
  },
  eloquentpoll_queue_oldest_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: ['lane'],
    help: 'Age of the oldest waiting job of each lane; 0 when none waits.',
  },
  eloquentpoll_fleet_polls: {
    type: 'gauge',
    on: BOTH,
    labels: ['state'],
    help: 'Polls that have not ended: held (a worker has it), lapsed (none has), overdue (past its deadline; also in one of the others).',
  },
  eloquentpoll_batch_idle_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: ['waits_for'],
    help: 'How long the open batch of the fleet that has stood still the longest has done so, by what it waits for: a gateway, or workers.',
  },
  eloquentpoll_fleet_buried: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Polls that were given up and that no operator has closed yet.',
  },
  eloquentpoll_free_pool_remaining_usd: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'What is left for free polls, holds taken off; missing before the first free poll of a UTC day.',
  },
  eloquentpoll_money_misfits: {
    type: 'gauge',
    on: BOTH,
    labels: ['source'],
    help: 'Movements of money that no row of ours explains and that no operator has closed; source is card or chain.',
  },
  eloquentpoll_lost_deposits: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Credited deposits whose transfer the chain has dropped, and that no operator has closed.',
  },
  eloquentpoll_money_reconciled_timestamp_seconds: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['source'],
    help: 'Up to when every movement at the processor, or on the chain, was compared with our rows and adds up; of what its settings have it compare.',
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
    help: 'Most calls that the questions of one caller made fail this UTC day, beyond one for every two of its polls: refusal, or other; the console says whose.',
  },
  eloquentpoll_worst_caller_usd: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'What such calls of one caller cost us at most this UTC day, what was charged for them and a twentieth of what it paid taken off.',
  },
  eloquentpoll_negative_balances_usd: { type: 'gauge', on: BOTH, labels: [], help: 'What they owe together.' },
  eloquentpoll_provider_spend_usd: {
    type: 'gauge',
    on: BOTH,
    labels: ['window'],
    help: 'The most that providers can have charged the fleet in this hour and this UTC day, running polls included.',
  },
  eloquentpoll_provider_spend_ceiling_usd: {
    type: 'gauge',
    on: GATEWAY,
    labels: ['window', 'polls'],
    help: 'What they may charge: free polls stop at the first, all polls at the second. Missing where there is no ceiling.',
  },
  eloquentpoll_ledger_violations: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Rules of the ledger that the last check found violated; anything but 0 is an alarm.',
  },
  eloquentpoll_ledger_checked_timestamp_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'When a check of the ledger last reached its end.',
  },
  eloquentpoll_ledger_check_failures: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Attempts to check the ledger that have failed or timed out since one reached its end.',
  },
  eloquentpoll_months_end_timestamp_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Until when tables that are kept by month have partitions; workers make them two months ahead.',
  },
  eloquentpoll_kept_too_long_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: ['what'],
    help: 'How long the oldest that is to be deleted has waited for it: polls whose time is over, closed accounts, other rows.',
  },
  eloquentpoll_receipts_unsealed_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'How long ago the oldest day of receipts ended that is not sealed; 0 when each is.',
  },

  // The process.
  eloquentpoll_ready: { type: 'gauge', on: BOTH, labels: [], help: '1 while /readyz says yes.' },
  eloquentpoll_ready_check: {
    type: 'gauge',
    on: BOTH,
    labels: ['check'],
    help: '1 while this part is well: postgres, redis, event_loop, listening (gateway), consuming and progress (worker), draining (1 = does not drain).',
  },
  eloquentpoll_build_info: {
    type: 'gauge',
    on: BOTH,
    labels: ['service', 'version', 'commit'],
    help: 'Always 1; says what runs.',
  },
  eloquentpoll_postgres_pool_connections: {
    type: 'gauge',
    on: BOTH,
    labels: ['state'],
    help: 'Connections to Postgres: busy, idle.',
  },
  eloquentpoll_postgres_pool_size: { type: 'gauge', on: BOTH, labels: [], help: 'Most connections of this process.' },
  eloquentpoll_postgres_pool_waiting: { type: 'gauge', on: BOTH, labels: [], help: 'Who waits for a connection now.' },
  eloquentpoll_postgres_pool_wait_seconds: {
    type: 'histogram',
    on: BOTH,
    labels: [],
    buckets: WAIT_S,
    help: 'Waited for a connection.',
  },
  eloquentpoll_replica_lag_seconds: {
    type: 'gauge',
    on: GATEWAY,
    labels: [],
    help: 'How far the replica of the database may be behind; 0 without one, nothing before it has answered.',
  },
  eloquentpoll_lagging_reads_total: {
    type: 'counter',
    on: GATEWAY,
    labels: ['answered'],
    help: 'Reads that may lag, by what answered: replica, or the primary for lag, own_write (not there yet), away, not_found.',
  },
  eloquentpoll_redis_errors_total: {
    type: 'counter',
    on: BOTH,
    labels: [],
    help: 'Errors of the connections to Redis.',
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
    help: 'Lines logged: warn, error, fatal.',
  },
  eloquentpoll_spans_dropped_total: {
    type: 'counter',
    on: BOTH,
    labels: [],
    help: 'Trace spans that could not be handed to the collector.',
  },
  nodejs_eventloop_lag_p50_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'How late the event loop turned, median since the last scrape.',
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'How late the event loop turned, 99th percentile since the last scrape.',
  },
  nodejs_eventloop_lag_max_seconds: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'How late the event loop turned at most since the last scrape.',
  },
  nodejs_eventloop_utilization: {
    type: 'gauge',
    on: BOTH,
    labels: [],
    help: 'Share of the time since the last scrape in which the event loop was busy.',
  },
  nodejs_heap_size_used_bytes: { type: 'gauge', on: BOTH, labels: [], help: 'JavaScript heap in use.' },
  nodejs_external_memory_bytes: { type: 'gauge', on: BOTH, labels: [], help: 'Buffers and the like.' },
  process_resident_memory_bytes: { type: 'gauge', on: BOTH, labels: [], help: 'Resident memory.' },
  process_cpu_seconds_total: { type: 'counter', on: BOTH, labels: [], help: 'Processor time, user and system.' },
  process_start_time_seconds: { type: 'gauge', on: BOTH, labels: [], help: 'When the process started.' },
  process_open_fds: { type: 'gauge', on: BOTH, labels: [], help: 'Open files and sockets; Linux only.' },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
