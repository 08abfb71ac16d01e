import { createHash } from 'node:crypto';
import type { WriteStream } from 'node:fs';
import type { Election, ShortElection } from '../fixture/election.ts';

// The history that is judged: what callers asked and what they were answered. A lost answer is `unknown`, never `fail`,
// because the request may have taken effect.

export const KINDS = [
  'sync',
  'async',
  'cancel',
  'stream',
  'quick',
  'free',
  'balance',
  'herd',
  'batch',
  'limited',
  'forget',
  'leave',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Attempt {
  readonly gateway: string;
  readonly method: string;
  readonly path: string;
  /** Milliseconds by our clock. */
  readonly asked: number;
  /** The body is sent line by line. */
  readonly isUpload: boolean;
  /** When the stream began; null if the answer was not a stream. */
  opened: number | null;
  answered: number | null;
  /**
   * Null if no answer came, or if a stream had no last event. For an error event, the status that its code corresponds
   * to.
   */
  status: number | null;
  /** The error code, ours or the network's. */
  code: string | null;
  /** The answer's Retry-After. */
  retryAfterS: number | null;
}

/** The recorded part of a request. */
export type KeptRequest = Pick<Attempt, 'gateway' | 'method' | 'path' | 'isUpload'>;

/** The recorded part of an answer. */
export type KeptAnswer = Pick<Attempt, 'code' | 'retryAfterS'> & { readonly status: number };

export interface StreamEvent {
  /** The attempt whose stream delivered it. */
  readonly attempt: number;
  readonly seq: number;
  readonly last: boolean;
}

export interface ErasureRead {
  readonly path: string;
  readonly gateway: string;
  readonly at: number;
  readonly status: number;
}

/** A list or an export of the account, which a replica may answer. */
export interface ListRead {
  readonly path: string;
  readonly gateway: string;
  /** When it was asked: what it shows may be older by the lag of the replica. */
  readonly asked: number;
  readonly shows: boolean;
  /** It says so. An export says nothing. */
  readonly isFromReplica: boolean;
}

/** A deleted poll, batch or account, and what could be read of it before and afterwards. */
export interface Erasure {
  readonly what: 'poll' | 'batch' | 'account';
  /** A word in all its texts. */
  readonly marker: string;
  /** When an answer showed that it was deleted; null before. */
  at: number | null;
  /** False if that was not the deletion's own answer, which was lost, but that of a retry which found nothing. */
  isConfirmed: boolean;
  readonly reads: ErasureRead[];
  /** Reads by strangers, who know only the ids of results. */
  readonly publicReads: { readonly before: ErasureRead[]; readonly after: ErasureRead[] };
  /** What the account's own lists and exports show of it. */
  readonly lists: { readonly before: ListRead[]; readonly after: ListRead[] };
}

export interface RecordedOperation {
  readonly n: number;
  readonly kind: Kind;
  readonly account: string | null;
  readonly key: string | null;
  readonly attempts: Attempt[];
  /** Polls named in 2xx answers, by poll id or result id. */
  readonly named: Set<string>;
  /** Digests of the results in 2xx answers; they must be equal for equal keys. */
  readonly bodies: Set<string>;
  readonly events: StreamEvent[];
  /** For a batch: its row count, how often each custom id is in its results, and the poll named in each line. */
  rows?: { sent: number; answered: Map<string, number>; polls: Map<string, string> };
  /** Elections in answers that are not the stored response, by the poll or result id in the answer. */
  readonly answers: Map<string, Election | ShortElection>;
  /** The address that the poll named as its webhook_url. */
  hook?: string;
  /** The key with a limit that was used, and whether the limit refused the request. */
  limitedKey?: { id: string; refused: boolean };
  /** When an answer confirmed the cancellation. */
  canceledAt?: number;
  erasure?: Erasure;
  /** The balance in an answer. */
  cents: number | null;
  /** Null until the outcome is certain. */
  outcome: 'ok' | 'failed' | 'refused' | null;
}

/** How a result is recorded, by callers and of the stored response: equal texts have equal digests. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16);

/** The custom id that callers give a row. Lines count from 1, in JSON bodies too. */
export const customIdOf = (line: number): string => `row ${line}`;

export interface Recorder {
  readonly operations: readonly RecordedOperation[];
  begin(kind: Kind, account: string | null, key: string | null): RecordedOperation;
  attempt(operation: RecordedOperation, asked: KeptRequest): Attempt;
  answered(operation: RecordedOperation, attempt: Attempt, answer: KeptAnswer): void;
  lost(operation: RecordedOperation, attempt: Attempt, code: string): void;
  end(operation: RecordedOperation, outcome: NonNullable<RecordedOperation['outcome']>): void;
}

/** Everything is also written to `file` as JSON lines. */
export function recorder(file: WriteStream | null): Recorder {
  const operations: RecordedOperation[] = [];
  const write = (type: string, { n, kind, key }: RecordedOperation, more: object = {}) => {
    file?.write(`${JSON.stringify({ at: Date.now(), type, n, kind, key, ...more })}\n`);
  };
  return {
    operations,
    begin(kind, account, key) {
      const operation: RecordedOperation = {
        n: operations.length,
        kind,
        account,
        key,
        attempts: [],
        named: new Set(),
        answers: new Map(),
        bodies: new Set(),
        events: [],
        cents: null,
        outcome: null,
      };
      operations.push(operation);
      return operation;
    },
    attempt(operation, asked) {
      const nothing = { opened: null, answered: null, status: null, code: null, retryAfterS: null };
      const attempt: Attempt = { ...asked, asked: Date.now(), ...nothing };
      operation.attempts.push(attempt);
      const { gateway, method, path } = asked;
      write('invoke', operation, { gateway, method, path });
      return attempt;
    },
    answered(operation, attempt, { status, code, retryAfterS }) {
      attempt.answered = Date.now();
      attempt.status = status;
      attempt.code = code;
      attempt.retryAfterS = retryAfterS;
      const definite = status < 500 && status !== 429;
      write(status < 300 ? 'ok' : definite ? 'fail' : 'unknown', operation, {
        status,
        code,
        ids: [...operation.named],
      });
    },
    lost(operation, attempt, code) {
      attempt.answered = Date.now();
      attempt.code = code;
      write('unknown', operation, { code });
    },
    end(operation, outcome) {
      operation.outcome = outcome;
      write('end', operation, { outcome, ids: [...operation.named] });
    },
  };
}
