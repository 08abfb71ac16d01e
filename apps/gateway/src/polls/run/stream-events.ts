import {
  ERRORS,
  type ErrorCode,
  errorBody,
  maxCostUsdOf,
  type PollResponse,
  type PollSpec,
  type ProgressSnapshot,
  recoveryOf,
  type StreamComplete,
  type StreamError,
  type StreamStarted,
} from '@eloquentpoll/contracts';
import type { Config } from '../../config/config.ts';
import { resultUrl, statusUrl } from '../read/to-wire.ts';

// The three kinds of event, as they go on the wire. `started` repeats with every vote, each time with everything that
// is known, so that a reader may ignore all but the first, or keep only the last. Exactly one `complete` or `error` ends
// a stream.

/** What a stream tells about its poll before there is any news. */
export interface StreamedPoll {
  pollId: string;
  spec: PollSpec;
  startedAt: Date;
}

type Told = Pick<ProgressSnapshot, 'seq' | 'progress' | 'tally' | 'leader' | 'confidence' | 'vote' | 'elapsed_ms'>;

/** A poll of which nothing is known yet. */
export const unheard = ({ spec }: StreamedPoll): Told => ({
  seq: 0,
  progress: { received: 0, succeeded: 0, failed: 0, total: spec.seats.length },
  tally: spec.options.map(() => 0),
  leader: null,
  confidence: null,
  vote: null,
  elapsed_ms: 0,
});

/** The first event on a connection says what is asked and where to look, and when to come back after a cut. */
export function firstEvent(config: Config, poll: StreamedPoll, told: Told): string {
  const { pollId, spec, startedAt } = poll;
  const data: StreamStarted = {
    ...progressOf(pollId, spec.options, told),
    question: spec.question,
    options: spec.options,
    poll_type: 'fptp',
    preset: spec.panel_name,
    confidence_threshold: spec.confidence_threshold,
    max_cost_usd: maxCostUsdOf(spec),
    status_url: statusUrl(config, pollId),
    result_url: resultUrl(config, pollId),
    started_at: startedAt.toISOString(),
  };
  return event('started', pollId, data, `retry: ${RETRY_MS}\n`);
}

export const progressEvent = (pollId: string, options: readonly string[], told: Told): string =>
  event('started', pollId, progressOf(pollId, options, told));

/** For a connection that begins with no event: the caller has the newest. */
export const RETRY_ONLY = 'retry: 3000\n\n';
const RETRY_MS = 3_000;

function progressOf(pollId: string, options: readonly string[], told: Told): StreamStarted {
  return {
    seq: told.seq,
    phase: told.progress.received === 0 ? 'started' : 'voting',
    session_id: pollId,
    models_requested: told.progress.total,
    progress: told.progress,
    tally: Object.fromEntries(options.map((option, i) => [option, told.tally[i] ?? 0])),
    leader: told.leader === null ? null : (options[told.leader] ?? null),
    confidence: told.confidence,
    vote: told.vote,
    elapsed_ms: told.elapsed_ms,
  };
}

/** The result itself, with the session and the number of the event beside its fields. */
export function completeEvent(pollId: string, seq: number, result: PollResponse): string {
  const data: StreamComplete = { seq, session_id: pollId, ...result };
  return event('complete', pollId, data);
}

export function errorEvent(config: Config, pollId: string, seq: number, code: ErrorCode, requestId: string): string {
  const data: StreamError = {
    seq,
    session_id: pollId,
    ...errorBody({ code, requestId }),
    retryable: ERRORS[code].retryable,
    recovery: recoveryOf(code, config.baseUrl),
  };
  return event('error', pollId, data);
}

/** JSON has no line breaks of its own, so the data is one line. */
function event(kind: string, pollId: string, data: { seq: number }, more = ''): string {
  return `id: ${pollId}:${data.seq}\nevent: ${kind}\n${more}data: ${JSON.stringify(data)}\n\n`;
}
