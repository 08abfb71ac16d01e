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

// The three kinds of event on the wire. `started` is sent again with every vote, each time complete, so that a reader
// may use only the first or the last. Exactly one `complete` or `error` ends a stream.

/** What the first event of a stream says about its poll. */
export interface StreamedPoll {
  pollId: string;
  resultId: string;
  /** Null for a caller without an account, who cannot read a session. */
  accountId: string | null;
  spec: PollSpec;
  /** Only the operator pays, so the caller is shown no cost. */
  isFree: boolean;
  startedAt: Date;
}

type SnapshotView = Pick<
  ProgressSnapshot,
  'seq' | 'progress' | 'tally' | 'leader' | 'confidence' | 'chances' | 'track_record' | 'asking' | 'vote' | 'elapsed_ms'
>;

/** The state of a poll before its first snapshot. */
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

/** The first event of a connection: the question, the URLs to read, and the reconnection time. */
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

/** Starts a connection without an event, for a caller that already has the newest one. */
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

/** The result, with `session_id` and the event number added to its fields. */
export function completeEvent(pollId: string, seq: number, result: Omit<StreamComplete, 'seq' | 'session_id'>): string {
  const data: StreamComplete = { seq, session_id: pollId, ...result };
  return event('complete', pollId, data, { id: LAST });
}

/** The end for people who watch; the result page shows the rest. */
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

/** Replaces the number in the id of a last event. A client that reconnects with it has seen the end. */
export const LAST = 'end';

function event(
  kind: string,
  pollId: string,
  data: { seq: number; poll_id?: string },
  { id = String(data.seq), more = '' } = {},
): string {
  return `id: ${pollId}:${id}\nevent: ${kind}\n${more}data: ${jsonLine(data)}\n\n`;
}
