import {
  ERRORS,
  errorBody,
  type PollSpec,
  type ProgressSnapshot,
  recoveryOf,
  type StreamComplete,
  type StreamError,
  type StreamStarted,
} from '@eloquentpoll/contracts';
import { maxCostUsdOf, pollState, tallyByOption } from '@eloquentpoll/polls';
import { chancesInOrder, chancesOf } from '@eloquentpoll/voting/chances';
import type { Config } from '../../config/config.ts';
import { jsonLine } from '../../http/json-line.ts';
import { pageUrl, publicResultUrl, resultUrl, statusUrl } from '../read/to-wire.ts';
import type { PollFailure } from '../read/why-failed.ts';

// The three kinds of event on the wire. `started` repeats with every vote, each time whole, so that a reader may keep
// only the first or the last. Exactly one `complete` or `error` ends a stream.

/** What a stream says of its poll before the first vote. */
export interface StreamedPoll {
  pollId: string;
  resultId: string;
  /** Null for a caller without an account, who cannot read a session. */
  accountId: string | null;
  spec: PollSpec;
  /** What it costs the operator is not its caller's. */
  isFree: boolean;
  startedAt: Date;
}

type SnapshotView = Pick<
  ProgressSnapshot,
  'seq' | 'progress' | 'tally' | 'leader' | 'confidence' | 'chances' | 'track_record' | 'asking' | 'vote' | 'elapsed_ms'
>;

/** A poll before its first snapshot. */
export const initialSnapshot = ({ spec }: Pick<StreamedPoll, 'spec'>): SnapshotView => ({
  seq: 0,
  progress: { received: 0, succeeded: 0, failed: 0, total: spec.seats.length },
  tally: spec.options.map(() => 0),
  leader: null,
  confidence: null,
  chances: chancesInOrder(chancesOf(pollState(spec))),
  vote: null,
  elapsed_ms: 0,
});

/** The first event of a connection: the question, where to look, and when to reconnect. */
export function firstEvent(config: Config, poll: StreamedPoll, snapshot: SnapshotView): string {
  const { pollId, resultId, accountId, spec, startedAt } = poll;
  const data: StreamStarted = {
    ...progressOf(pollId, spec.options, snapshot),
    question: spec.question,
    options: spec.options,
    poll_type: 'fptp',
    preset: spec.panel_name,
    confidence_threshold: spec.confidence_threshold,
    max_cost_usd: maxCostUsdOf(spec),
    ...(accountId === null
      ? { result_url: publicResultUrl(config, resultId) }
      : { status_url: statusUrl(config, pollId), result_url: resultUrl(config, pollId) }),
    page_url: pageUrl(config, resultId),
    started_at: startedAt.toISOString(),
  };
  return event('started', pollId, data, { more: `retry: ${RETRY_MS}\n` });
}

export const progressEvent = (pollId: string, options: readonly string[], snapshot: SnapshotView): string =>
  event('started', pollId, progressOf(pollId, options, snapshot));

const RETRY_MS = 3_000;

/** For a connection that begins without an event: the caller has the newest. */
export const RETRY_ONLY = `retry: ${RETRY_MS}\n\n`;

function progressOf(pollId: string, options: readonly string[], snapshot: SnapshotView): StreamStarted {
  return {
    seq: snapshot.seq,
    phase: snapshot.progress.received === 0 ? 'started' : 'voting',
    session_id: pollId,
    models_requested: snapshot.progress.total,
    progress: snapshot.progress,
    tally: tallyByOption(options, snapshot.tally),
    leader: snapshot.leader === null ? null : (options[snapshot.leader] ?? null),
    confidence: snapshot.confidence,
    ...(snapshot.chances && { chances: snapshot.chances }),
    ...(snapshot.track_record && { track_record: snapshot.track_record }),
    ...(snapshot.asking !== undefined && { asking: snapshot.asking }),
    vote: snapshot.vote,
    elapsed_ms: snapshot.elapsed_ms,
  };
}

/** The result, with `session_id` and the event's number beside its fields. */
export function completeEvent(pollId: string, seq: number, result: Omit<StreamComplete, 'seq' | 'session_id'>): string {
  const data: StreamComplete = { seq, session_id: pollId, ...result };
  return event('complete', pollId, data, { id: LAST });
}

/** The end for people who watch: the page of the result has the rest. */
export const watchedEndEvent = (pollId: string, seq: number, resultId: string): string =>
  event('complete', pollId, { seq, poll_id: resultId }, { id: LAST });

export function errorEvent(
  config: Config,
  pollId: string,
  seq: number,
  failure: PollFailure,
  requestId: string,
): string {
  const { code } = failure;
  const data: StreamError = {
    seq,
    session_id: pollId,
    ...errorBody({ ...failure, requestId }),
    retryable: ERRORS[code].retryable,
    recovery: recoveryOf(code, config.baseUrl),
  };
  return event('error', pollId, data, { id: LAST });
}

/** In place of the number in the id of a last event: a client that reconnects with it has seen the end. */
export const LAST = 'end';

function event(
  kind: string,
  pollId: string,
  data: { seq: number; poll_id?: string },
  { id = String(data.seq), more = '' } = {},
): string {
  return `id: ${pollId}:${id}\nevent: ${kind}\n${more}data: ${jsonLine(data)}\n\n`;
}
