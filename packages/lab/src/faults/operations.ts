import type { WriteStream } from 'node:fs';
import type { Election, ShortElection } from '../fixture/election.ts';

// What callers asked and were answered: the history that is judged. An answer that did not arrive is `unknown`, never
// `fail`: the request may have had its effect.

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
  /** Milliseconds by our clock. */
  readonly asked: number;
  /** Its body is sent line by line. */
  readonly isUpload: boolean;
  answered: number | null;
  /** Null when no answer came. */
  status: number | null;
  /** The code of an error, ours or the network's. */
  code: string | null;
}

export interface StreamEvent {
  /** Which attempt it came over. */
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

/** A poll, a batch or a whole account that was deleted, and what could be read of it before and afterwards. */
export interface Erasure {
  readonly what: 'poll' | 'batch' | 'account';
  /** In every text that goes with it. */
  readonly marker: string;
  /** When the answer came that said so; null before. */
  at: number | null;
  readonly reads: ErasureRead[];
  /** By strangers, who have nothing but the ids of results. */
  readonly publicReads: { readonly before: ErasureRead[]; readonly after: ErasureRead[] };
}

export interface RecordedOperation {
  readonly n: number;
  readonly kind: Kind;
  readonly account: string | null;
  readonly key: string | null;
  readonly attempts: Attempt[];
  /** Polls that 2xx answers named, by their id or that of their result. */
  readonly named: Set<string>;
  /** Digests of 2xx answers that hold a result: of equal keys equal. */
  readonly bodies: Set<string>;
  readonly events: StreamEvent[];
  /** Of a batch: its rows, and how often each custom id is in its results. */
  rows?: { sent: number; answered: Map<string, number> };
  /** What answers said of an election, by the poll or result that they named, where they are not the stored response. */
  readonly answers: Map<string, Election | ShortElection>;
  /** The address that its poll named as its webhook_url. */
  hook?: string;
  /** It came by a key that has a limit, and whether that refused it. */
  limitedKey?: { id: string; refused: boolean };
  /** When an answer said that its cancellation was over. */
  canceledAt?: number;
  erasure?: Erasure;
  /** The balance of an answer. */
  cents: number | null;
  /** Null as long as nothing definite is known. */
  outcome: 'ok' | 'failed' | 'refused' | null;
}

export interface Recorder {
  readonly operations: readonly RecordedOperation[];
  begin(kind: Kind, account: string | null, key: string | null): RecordedOperation;
  attempt(operation: RecordedOperation, gateway: string, isUpload?: boolean): Attempt;
  answered(operation: RecordedOperation, attempt: Attempt, status: number, code: string | null): void;
  lost(operation: RecordedOperation, attempt: Attempt, code: string): void;
  end(operation: RecordedOperation, outcome: NonNullable<RecordedOperation['outcome']>): void;
}

/** Everything is also written to `file`, one JSON object a line. */
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
    attempt(operation, gateway, isUpload = false) {
      const attempt: Attempt = { gateway, asked: Date.now(), isUpload, answered: null, status: null, code: null };
      operation.attempts.push(attempt);
      write('invoke', operation, { gateway });
      return attempt;
    },
    answered(operation, attempt, status, code) {
      attempt.answered = Date.now();
      attempt.status = status;
      attempt.code = code;
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
