import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';
import { Pool } from 'undici';

// Calls the registry of model variants: one GET with parameters. It ends within seconds, follows no redirect, reads at
// most 2 MB, and returns a listing or throws an error. Errors contain no text from the registry.

export interface Registry extends AsyncDisposable {
  /** Throws a `RegistryError` if the registry does not answer properly. */
  list(parameters: URLSearchParams): Promise<RegistryListing>;
}

export interface RegistryListing {
  /** The registry's rows, unchecked. */
  variants: JsonObject[];
  /** Number of models, if the registry states it. */
  modelCount: number | null;
  /** Number of variants, if the registry states it. Larger than the listing if it was truncated. */
  count: number | null;
}

export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

export interface RegistryTimeouts {
  connectMs: number;
  firstByteMs: number;
  idleMs: number;
  totalMs: number;
}

const MAX_BYTES = 2 * 1024 * 1024;
const CONNECTIONS = 4;
const TIMEOUTS: RegistryTimeouts = { connectMs: 2_000, firstByteMs: 4_000, idleMs: 2_000, totalMs: 6_000 };

/** The address may have parameters of its own, which are sent too. */
export function openRegistry(address: string, timeouts: Partial<RegistryTimeouts> = {}): Registry {
  const { connectMs, firstByteMs, idleMs, totalMs } = { ...TIMEOUTS, ...timeouts };
  const base = new URL(address);
  const pool = new Pool(base.origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    maxResponseSize: MAX_BYTES,
    headersTimeout: firstByteMs,
    bodyTimeout: idleMs,
    connect: { timeout: connectMs },
  });
  const headers = {
    accept: 'application/json',
    'user-agent': 'eloquentpoll',
    ...(base.username && {
      authorization: `Basic ${btoa(`${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`)}`,
    }),
  };

  async function read(parameters: URLSearchParams): Promise<string> {
    const query = new URLSearchParams(base.search);
    for (const [name, value] of parameters) query.set(name, value);
    const path = query.size > 0 ? `${base.pathname}?${query}` : base.pathname;
    const signal = AbortSignal.timeout(totalMs);
    try {
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers, signal });
      const text = await body.text();
      if (statusCode === 200) return text;
      throw new RegistryError(`the registry answered ${statusCode}`);
    } catch (error) {
      if (error instanceof RegistryError) throw error;
      throw new RegistryError(`the registry did not answer (${signal.aborted ? 'too slow' : codeOf(error)})`);
    }
  }

  return {
    list: async (parameters) => toListing(await read(parameters)),
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'no connection';

function toListing(text: string): RegistryListing {
  const body = parsed(text);
  if (!isJsonObject(body)) throw new RegistryError('the registry answered no object');
  const { variants, model_count, count } = body;
  if (!Array.isArray(variants) || !variants.every(isJsonObject))
    throw new RegistryError('the registry answered no list of variants');
  return { variants, modelCount: whole(model_count, 'model_count'), count: whole(count, 'count') };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RegistryError('the registry answered no JSON');
  }
}

function whole(value: unknown, name: string): number | null {
  if (value === undefined || value === null) return null;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new RegistryError(`the registry answered a ${name} that is no count`);
}
