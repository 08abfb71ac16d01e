import { randomBytes, randomUUID } from 'node:crypto';
import type { CallerAccount, CallersOptions } from './caller-options.ts';
import { readListsOfDeleted, type SoughtList } from './deleted-lists.ts';
import { newMarker } from './find-markers.ts';
import type { Erasure, ErasureRead, RecordedOperation } from './operations.ts';
import { persistence } from './persist.ts';
import { type CallerAnswer, type CallerRequest, type Gateway, saysEnded, send } from './request.ts';

// Callers who delete a poll, a batch, or their whole account while a poll and a batch of it run. All their texts
// contain a marker. Afterwards everything that could show it is read; public results are also read before the deletion.

const WAIT_S = 10;
const READ_WITHIN_MS = 10_000;
const MAX_ROWS = 6;
const AGAIN_MS = 5_000;
/** In between, lists are read: a replica may have got the deletion or not. */
const LISTED_AGAIN = [0.3, 0.3, 0.4];
/** The share of deleted accounts whose poll and batch have ended before the deletion. */
const ENDED = 0.5;
/** The share of deletions from accounts that do nothing else: only their lists are answered by a replica. */
const QUIET = 0.5;

/** What can be read of something before it is deleted. */
interface Readable {
  /** Paths that need the account's key. */
  readonly own: readonly string[];
  /** Ids of results. */
  readonly results: readonly string[];
  readonly lists: readonly SoughtList[];
}

interface Erasing {
  poll(account: CallerAccount): Promise<void>;
  batch(account: CallerAccount): Promise<void>;
  account(): Promise<void>;
}

export function erasures(
  options: Pick<CallersOptions, 'recorder' | 'gateways' | 'chance' | 'quit' | 'promised'>,
  againMs = AGAIN_MS,
): Erasing {
  const { recorder, gateways, chance, quit, promised } = options;
  const { persist, pause, conclude, question } = persistence(options);

  const request = (method: CallerRequest['method'], path: string, headers: Record<string, string>, body?: unknown) => ({
    ...{ method, path, headers, withinMs: (WAIT_S + 8) * 1_000 },
    ...(body !== undefined && { body }),
  });
  const bearer = ({ key }: CallerAccount) => ({ authorization: `Bearer ${key}`, prefer: `wait=${WAIT_S}` });
  const withIdempotency = (account: CallerAccount, key: string) => ({ ...bearer(account), 'idempotency-key': key });

  /** A request with the marker in every text that a caller can write. */
  function marked(marker: string) {
    const { question: text, options, preset } = question();
    return {
      ...{ question: `${text} (${marker})`, preset, reasons: true },
      options: options.map((option) => `${option} ${marker}`),
      metadata: { project: marker },
    };
  }

  async function begin(operation: RecordedOperation, account: CallerAccount, marker: string, key: string) {
    const url = promised?.hookOf(account.id).url;
    const body = { ...marked(marker), ...(url && { webhook_url: `${url}?${marker}` }) };
    const begun = await persist(
      operation,
      request('POST', '/api/polls', withIdempotency(account, key), body),
      ({ json }) => operation.named.add(String(json.session_id)),
    );
    return begun?.status === 202 ? String(begun.json.session_id) : conclude(operation, begun);
  }

  /** Reads all these paths from each gateway. */
  async function readAll(reads: ErasureRead[], paths: readonly string[], account: CallerAccount | null): Promise<void> {
    const headers = account ? bearer(account) : {};
    const one = async (gateway: Gateway, path: string) => {
      const sent: CallerRequest = { method: 'GET', path, headers, withinMs: READ_WITHIN_MS };
      try {
        const { status, body } = await send(gateway, sent, AbortSignal.timeout(READ_WITHIN_MS));
        await body?.cancel();
        reads.push({ path, gateway: gateway.name, at: Date.now(), status });
      } catch {
        // Without an answer, nothing was shown.
      }
    };
    for (const gateway of gateways) await Promise.all(paths.map((path) => one(gateway, path)));
  }

  /** Deletes, then reads paths and lists with the account's key, and public paths of results without it. */
  async function eraseAndRead(
    operation: RecordedOperation,
    account: CallerAccount,
    remove: () => Promise<CallerAnswer | null>,
    isGone: (status: number) => boolean,
    { own, results, lists }: Readable,
  ): Promise<void> {
    const erasure = operation.erasure!;
    const { before, after } = erasure.publicReads;
    const open = results.flatMap(publicPathsOf);
    await readAll(before, open, null);
    await readListsOfDeleted(erasure.lists.before, lists, gateways, account);
    const gone = await remove();
    if (!gone || !isGone(gone.status)) return conclude(operation, gone);
    erasure.at = Date.now();
    erasure.isConfirmed = gone.status === 200;
    recorder.end(operation, 'ok');
    const readListsAfter = () => readListsOfDeleted(erasure.lists.after, lists, gateways, account);
    const readAfter = async () => {
      await readListsAfter();
      await readAll(erasure.reads, own, account);
      await readAll(after, open, null);
    };
    await readAfter();
    for (const share of LISTED_AGAIN) {
      await pause(againMs * share);
      await readListsAfter();
    }
    await readAfter();
    // Later, because by then a gateway's cached copy of the run must have expired.
    promised!.later(() => readAll(erasure.reads, own, account));
  }

  const runPathsOf = (session: string): string[] => [`/api/polls/${session}/status`, `/api/polls/${session}/result`];
  const batchPathsOf = (batch: string): string[] =>
    ['', '/results', '/report'].map((part) => `/api/batches/${batch}${part}`);
  const publicPathsOf = (result: string): string[] => [
    `/api/results/${result}`,
    `/api/results/${result}/receipt`,
    `/api/graph/mermaid/${result}`,
    `/result/${result}`,
  ];

  function erasing(operation: RecordedOperation, what: Erasure['what']): string {
    const marker = newMarker(randomBytes(6).toString('hex'));
    operation.erasure = {
      what,
      marker,
      at: null,
      isConfirmed: false,
      reads: [],
      publicReads: { before: [], after: [] },
      lists: { before: [], after: [] },
    };
    return marker;
  }

  /** The id of the result, if there is one. */
  async function resultOf(
    operation: RecordedOperation,
    account: CallerAccount,
    session: string,
  ): Promise<string | null> {
    const ask = request('GET', `/api/polls/${session}/status`, bearer(account));
    const ended = await persist(operation, ask, () => {}, saysEnded);
    return typeof ended?.json.result_id === 'string' ? ended.json.result_id : null;
  }

  async function beginBatch(operation: RecordedOperation, account: CallerAccount, marker: string, key: string) {
    const requests = Array.from({ length: chance.whole(1, MAX_ROWS) }, (_, i) => ({
      ...{ custom_id: `${marker} ${i}`, question: `${question().question} (${marker})`, options: ['yes', marker] },
      preset: 'fast',
    }));
    const upload = request('POST', '/api/batches', withIdempotency(account, key), { requests });
    return persist(operation, upload, ({ json }) => operation.named.add(String(json.batch_id)));
  }

  /** The ids of the batch's results, after it has ended. */
  async function resultsOf(operation: RecordedOperation, account: CallerAccount, batch: string): Promise<string[]> {
    const ended = await persist(
      operation,
      request('GET', `/api/batches/${batch}`, bearer(account)),
      () => {},
      saysEnded,
    );
    if (ended?.status !== 200) return [];
    const results = await persist(operation, request('GET', `/api/batches/${batch}/results`, bearer(account)));
    if (results?.status !== 200) return [];
    return results.text
      .split('\n')
      .filter(Boolean)
      .flatMap((line) => (JSON.parse(line) as { result: { poll_id: string } | null }).result?.poll_id ?? []);
  }

  /** A new account where the given one would be too busy; null while Postgres is down. */
  async function quietOr(account: CallerAccount): Promise<CallerAccount | null> {
    if (quit.aborted || !chance.happens(QUIET)) return account;
    return promised!.openAccount().catch(() => null);
  }

  /** Exports of busy accounts are too long to be made after each deletion. */
  const exportOf = (isQuiet: boolean, marker: string): SoughtList[] =>
    isQuiet ? [{ path: '/api/export', sought: marker }] : [];

  async function poll(busy: CallerAccount): Promise<void> {
    const account = await quietOr(busy);
    if (!account) return pause(500);
    const key = randomUUID();
    const operation = recorder.begin('forget', account.id, key);
    const marker = erasing(operation, 'poll');
    const session = await begin(operation, account, marker, key);
    if (session === undefined) return;
    const result = await resultOf(operation, account, session);
    if (result !== null && chance.happens(0.5)) {
      const feedback = { poll_id: result, outcome_correct: true, notes: marker };
      await persist(operation, request('POST', '/api/feedback', bearer(account), feedback));
    }
    // Now every gateway has cached what it caches of the run.
    await readAll([], runPathsOf(session), account);
    const remove = () => persist(operation, request('DELETE', `/api/results/${session}`, bearer(account)));
    await eraseAndRead(operation, account, remove, isDeleted, {
      own: runPathsOf(session),
      results: result === null ? [] : [result],
      lists: [
        { path: `/api/polls?metadata[project]=${marker}`, sought: session },
        ...exportOf(account !== busy, marker),
      ],
    });
  }

  async function batch(busy: CallerAccount): Promise<void> {
    const account = await quietOr(busy);
    if (!account) return pause(500);
    const key = randomUUID();
    const operation = recorder.begin('forget', account.id, key);
    const marker = erasing(operation, 'batch');
    const begun = await beginBatch(operation, account, marker, key);
    if (begun?.status !== 202) return conclude(operation, begun);
    const id = String(begun.json.batch_id);
    const results = await resultsOf(operation, account, id);
    const remove = () => persist(operation, request('DELETE', `/api/batches/${id}`, bearer(account)));
    await eraseAndRead(operation, account, remove, isDeleted, {
      own: batchPathsOf(id),
      results,
      lists: [{ path: '/api/batches?limit=100', sought: id }, ...exportOf(account !== busy, marker)],
    });
  }

  async function account(): Promise<void> {
    if (quit.aborted) return;
    const made = await promised!.openAccount().catch(() => null);
    // Postgres is down.
    if (!made) return pause(500);
    const key = randomUUID();
    const operation = recorder.begin('leave', made.id, key);
    const marker = erasing(operation, 'account');
    const session = await begin(operation, made, marker, key);
    if (session === undefined) return;
    const waits = chance.happens(ENDED);
    const result = waits ? await resultOf(operation, made, session) : null;
    const begun = await beginBatch(operation, made, marker, randomUUID());
    const id = begun?.status === 202 ? String(begun.json.batch_id) : null;
    const rows = waits && id !== null ? await resultsOf(operation, made, id) : [];
    await pause(chance.between(1, 2_000));
    const { cookie } = made;
    const leave = `/api/account?confirm=${made.id}&give_up_balance=true`;
    const remove = () => persist(operation, request('DELETE', leave, { cookie, origin: 'http://localhost:8080' }));
    // After a lost answer, the retry finds that the login no longer exists.
    const hasLeft = (status: number) => status === 200 || status === 401;
    await eraseAndRead(operation, made, remove, hasLeft, {
      own: [...runPathsOf(session), ...(id === null ? [] : batchPathsOf(id)), '/api/polls', '/api/export', '/api/keys'],
      results: [...(result === null ? [] : [result]), ...rows],
      // Its key was revoked, so its lists are among its own paths.
      lists: [],
    });
  }

  return { poll, batch, account };
}

/** A retry after a lost answer finds nothing. */
const isDeleted = (status: number): boolean => status === 200 || status === 404;
