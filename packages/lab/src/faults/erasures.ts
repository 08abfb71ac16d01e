import { randomBytes, randomUUID } from 'node:crypto';
import type { CallerAccount, CallersOptions } from './callers.ts';
import { newMarker } from './find-markers.ts';
import type { Erasure, RecordedOperation } from './operations.ts';
import { persistence } from './persist.ts';
import { type CallerAnswer, type CallerRequest, type Gateway, isUnknown, send } from './request.ts';

// Callers who delete: one of their polls, or their whole account while polls and a batch of it run. A marker is in
// everything that they write, and everything that could show it is read afterwards.

const WAIT_S = 10;
const READ_WITHIN_MS = 10_000;
const MAX_ROWS = 6;

interface Erasing {
  poll(account: CallerAccount): Promise<void>;
  account(): Promise<void>;
}

export function erasures(
  options: Pick<CallersOptions, 'recorder' | 'gateways' | 'chance' | 'quit' | 'promised'>,
): Erasing {
  const { recorder, gateways, chance, quit, promised } = options;
  const { persist, pause, conclude, question } = persistence(options);

  const request = (method: CallerRequest['method'], path: string, headers: Record<string, string>, body?: unknown) => ({
    ...{ method, path, headers, withinMs: (WAIT_S + 8) * 1_000 },
    ...(body !== undefined && { body }),
  });
  const bearer = ({ key }: CallerAccount) => ({ authorization: `Bearer ${key}`, prefer: `wait=${WAIT_S}` });
  const withIdempotency = (account: CallerAccount, key: string) => ({ ...bearer(account), 'idempotency-key': key });

  /** Whatever a caller can write, with the marker in it. */
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

  /** Asks each gateway for all that may show it. */
  async function readAll(erasure: Erasure, account: CallerAccount, paths: readonly string[]): Promise<void> {
    const one = async (gateway: Gateway, path: string) => {
      const sent: CallerRequest = { method: 'GET', path, headers: bearer(account), withinMs: READ_WITHIN_MS };
      try {
        const { status, body } = await send(gateway, sent, AbortSignal.timeout(READ_WITHIN_MS));
        await body?.cancel();
        erasure.reads.push({ path, gateway: gateway.name, at: Date.now(), status });
      } catch {
        // No answer shows nothing.
      }
    };
    for (const gateway of gateways) await Promise.all(paths.map((path) => one(gateway, path)));
  }

  const pathsOf = (session: string, result: string | null): string[] => [
    `/api/polls/${session}/status`,
    `/api/polls/${session}/result`,
    ...(result === null
      ? []
      : [
          `/api/results/${result}`,
          `/api/results/${result}/receipt`,
          `/api/graph/mermaid/${result}`,
          `/result/${result}`,
        ]),
  ];

  const untilEnd = (operation: RecordedOperation, account: CallerAccount, session: string) =>
    persist(
      operation,
      request('GET', `/api/polls/${session}/status`, bearer(account)),
      () => {},
      (answer: CallerAnswer) => !isUnknown(answer) && answer.json.status !== 'running',
    );

  async function poll(account: CallerAccount): Promise<void> {
    const key = randomUUID();
    const operation = recorder.begin('forget', account.id, key);
    const erasure: Erasure = { what: 'poll', marker: newMarker(randomBytes(6).toString('hex')), at: null, reads: [] };
    operation.erasure = erasure;
    const session = await begin(operation, account, erasure.marker, key);
    if (session === undefined) return;
    const ended = await untilEnd(operation, account, session);
    const result = typeof ended?.json.result_id === 'string' ? ended.json.result_id : null;
    if (result !== null && chance.happens(0.5)) {
      const feedback = { poll_id: result, outcome_correct: true, notes: erasure.marker };
      await persist(operation, request('POST', '/api/feedback', bearer(account), feedback));
    }
    await readAll({ ...erasure, reads: [] }, account, pathsOf(session, result));
    const gone = await persist(operation, request('DELETE', `/api/results/${session}`, bearer(account)));
    // A repeat after a lost answer finds nothing.
    if (gone?.status !== 200 && gone?.status !== 404) return conclude(operation, gone);
    erasure.at = Date.now();
    recorder.end(operation, 'ok');
    await readAll(erasure, account, pathsOf(session, result));
    await pause(5_000);
    await readAll(erasure, account, pathsOf(session, result));
  }

  async function account(): Promise<void> {
    if (quit.aborted) return;
    const made = await promised!.openAccount().catch(() => null);
    // Postgres is away.
    if (!made) return pause(500);
    const key = randomUUID();
    const operation = recorder.begin('leave', made.id, key);
    const erasure: Erasure = {
      what: 'account',
      marker: newMarker(randomBytes(6).toString('hex')),
      at: null,
      reads: [],
    };
    const { marker } = erasure;
    operation.erasure = erasure;
    const session = await begin(operation, made, marker, key);
    if (session === undefined) return;
    if (chance.happens(0.5)) await untilEnd(operation, made, session);
    const requests = Array.from({ length: chance.whole(1, MAX_ROWS) }, (_, i) => ({
      ...{ custom_id: `${marker} ${i}`, question: `${question().question} (${marker})`, options: ['yes', marker] },
      preset: 'fast',
    }));
    const upload = withIdempotency(made, randomUUID());
    await persist(operation, request('POST', '/api/batches', upload, { requests }), ({ json }) =>
      operation.named.add(String(json.batch_id)),
    );
    await pause(chance.between(1, 2_000));
    const { cookie } = made;
    const leave = `/api/account?confirm=${made.id}&give_up_balance=true`;
    const gone = await persist(operation, request('DELETE', leave, { cookie, origin: 'http://localhost:8080' }));
    // After a lost answer the login is gone.
    if (gone?.status !== 200 && gone?.status !== 401) return conclude(operation, gone);
    erasure.at = Date.now();
    recorder.end(operation, 'ok');
    const paths = [...pathsOf(session, null), '/api/polls', '/api/export', '/api/keys'];
    await readAll(erasure, made, paths);
    await pause(5_000);
    await readAll(erasure, made, paths);
  }

  return { poll, account };
}
