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
  readonly method: string;
  readonly path: string;
  /** Milliseconds by our clock. */
  readonly asked: number;
  /** Its body is sent line by line. */
  readonly isUpload: boolean;
  /** When a stream began; null for anything else. */
  opened: number | null;
  answered: number | null;
  /** Null when no answer came, or a stream had no last event. Of an error event: the status that its code stands for. */
  status: number | null;
  /** The code of an error, ours or the network's. */
  code: string | null;
  /** When the answer says to ask again. */
  retryAfterS: number | null;
}

/** What is kept of a request. */
export type KeptRequest = Pick<Attempt, 'gateway' | 'method' | 'path' | 'isUpload'>;

/** What is kept of its answer. */
export type KeptAnswer = Pick<Attempt, 'code' | 'retryAfterS'> & { readonly status: number };

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
  /** Of a batch: its rows, how often each custom id is in its results, and the poll that its line there names. */
  rows?: { sent: number; answered: Map<string, number>; polls: Map<string, string> };
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

/** What callers call the row in this line of an upload; lines count from 1, also those of a JSON body. */
export const customIdOf = (line: number): string => `row ${line}`;

export interface Recorder {
  readonly operations: readonly RecordedOperation[];
  begin(kind: Kind, account: string | null, key: string | null): RecordedOperation;
  attempt(operation: RecordedOperation, asked: KeptRequest): Attempt;
  answered(operation: RecordedOperation, attempt: Attempt, answer: KeptAnswer): void;
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
