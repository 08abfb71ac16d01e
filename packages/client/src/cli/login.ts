import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { EloquentPoll, EloquentPollError } from '../eloquentpoll.ts';
import { fileForKey, forgetKey, readStoredKey, type StoredKey, storeKey } from './credentials.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { type GrantAnswer, listenForGrant } from './loopback.ts';
import { plain } from './plain-text.ts';
import { linkOf, print } from './terminal.ts';

const TIMEOUT_MS = 10 * 60_000;

/**
 * Gets a key through the browser: the account's owner allows it on the dashboard, which sends a code to an address of
 * this computer. The code is valid for one key, within two minutes, and only with the verifier of this process.
 */
export async function loginCommand(invocation: Invocation, { browser }: { browser: boolean }): Promise<Exit> {
  const { polls, terminal, json, siteUrl } = invocation;
  const { env, out, err, signal } = terminal;
  const file = fileForKey(env);
  const earlier = readStoredKey(env, siteUrl);
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const answer = await askInBrowser(invocation, challenge, browser);
  if ('refused' in answer) throw refused('The login was refused in the browser.');
  const { id, key, key_prefix } = await polls.redeemGrant({ code: answer.code, verifier }, { signal });
  try {
    storeKey(file, siteUrl, { id, key });
  } catch (error) {
    // It is stored nowhere, so no later command could revoke it.
    await revoke(siteUrl, { id, key }, signal);
    throw error;
  }
  const account = await readAccount(siteUrl, key, signal);
  const isLeft = earlier !== null && !(await revoke(siteUrl, earlier, signal));
  const name = account === null ? '' : ` as ${plain(account.email ?? `account ${account.user_id}`)}`;
  const said = `Logged in at ${siteUrl}${name}. The key ${plain(key_prefix)}… is in ${file}`;
  print(out, json ? jsonText({ id, key_prefix, file, account }) : said);
  if (isLeft && !json)
    print(err, `The key of the login before could not be revoked and stays valid: see ${siteUrl}/dashboard/keys`);
  if (env.EP_KEY?.trim() && !json) print(err, 'EP_KEY is set: commands use that key instead of this one.');
  return EXIT.winner;
}

interface LoginAccount {
  user_id: string;
  /** Null if the account has no address, as one of a wallet. */
  email: string | null;
}

/** The account that a key belongs to: the first line of its export. Null if it cannot be read; the key is good anyway. */
async function readAccount(siteUrl: string, apiKey: string, signal: AbortSignal): Promise<LoginAccount | null> {
  const polls = new EloquentPoll({ baseUrl: siteUrl, apiKey, maxRetries: 0 });
  try {
    for await (const { type, user_id, email } of polls.exportAccount({}, { signal, timeoutMs: 5_000 })) {
      if (type !== 'account' || typeof user_id !== 'string') return null;
      return { user_id, email: typeof email === 'string' ? email : null };
    }
  } catch (error) {
    if (!(error instanceof EloquentPollError) && !signal.aborted) throw error;
  }
  return null;
}

async function askInBrowser(
  { terminal, siteUrl }: Invocation,
  challenge: string,
  browser: boolean,
): Promise<GrantAnswer> {
  const state = randomBytes(16).toString('base64url');
  const loopback = await listenForGrant(state);
  try {
    const name =
      hostname()
        .replace(/[^\w .-]/g, '-')
        .slice(0, 40) || 'this computer';
    const query = new URLSearchParams({ port: String(loopback.port), state, challenge, name });
    const url = `${siteUrl}/dashboard/grant?${query}`;
    const shown = confirmationOf(challenge);
    print(terminal.err, `Allow the login in the browser if the page shows the code ${shown}:`, linkOf(terminal, url));
    if (browser) await terminal.openBrowser?.(url);
    return await within(TIMEOUT_MS, loopback.answer, terminal.signal);
  } finally {
    loopback.close();
  }
}

/** Shown in the terminal and on the page, so that the owner can see that they belong together. */
const confirmationOf = (challenge: string): string => {
  const digits = createHash('sha256').update(challenge).digest('hex').slice(0, 8).toUpperCase();
  return `${digits.slice(0, 4)}-${digits.slice(4)}`;
};

/** Revokes the stored key, and deletes it even if the service cannot be reached; it is not revoked then. */
export async function logoutCommand({ terminal, json, siteUrl }: Invocation): Promise<Exit> {
  const { env, out, signal } = terminal;
  const stored = readStoredKey(env, siteUrl);
  const isRevoked = stored !== null && (await revoke(siteUrl, stored, signal));
  if (stored) forgetKey(env, siteUrl);
  const said = !stored
    ? `You were not logged in at ${siteUrl}.`
    : isRevoked
      ? `Logged out of ${siteUrl}: the key is revoked.`
      : `The key is removed from this computer, but could not be revoked: see ${siteUrl}/dashboard/keys`;
  print(out, json ? jsonText({ removed: stored !== null, revoked: isRevoked }) : said);
  return stored && !isRevoked ? EXIT.unavailable : EXIT.winner;
}

/** Uses the key to revoke itself. Also true if it was already revoked. */
async function revoke(siteUrl: string, { id, key }: StoredKey, signal: AbortSignal): Promise<boolean> {
  try {
    await new EloquentPoll({ baseUrl: siteUrl, apiKey: key }).revokeKey(id, { signal, timeoutMs: 10_000 });
    return true;
  } catch (error) {
    if (!(error instanceof EloquentPollError)) throw error;
    return error.code === 'invalid_api_key' || error.code === 'key_not_found';
  }
}

async function within(ms: number, answer: Promise<GrantAnswer>, signal: AbortSignal): Promise<GrantAnswer> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const late = new Promise<never>((_answered, reject) => {
    timer = setTimeout(() => reject(refused('The login was not finished in the browser in time.')), ms);
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const refused = (message: string): EloquentPollError =>
  new EloquentPollError(message, { code: 'login_failed', status: 401 });
