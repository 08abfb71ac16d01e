import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '@eloquentpoll/contracts';
import { AccountMoving } from '@eloquentpoll/storage';
import type { Config } from '../../config/config.ts';
import type { AccountsContext } from '../context.ts';
import { fromRedis } from '../login/from-redis.ts';

// Logs a command line in (RFC 8252, loopback): the owner agrees on a page, the browser passes a code to a port of its
// own computer, and the program exchanges code and verifier for a key, once. The grant is kept in Redis.

const LIFETIME_S = 120;

/** The fields that the program puts into the page's address. */
export interface GrantRequest {
  port: number;
  state: string;
  /** SHA-256 of the verifier, which only the program has. */
  challenge: string;
  /** Name of the computer, for the key's label. */
  name: string;
}

interface Grant {
  accountId: string;
  /** The login of the browser that agreed: if it ends, the grant ends too. */
  loginId: string;
  challenge: string;
  label: string;
}

/** Null when a field is missing or malformed: the page's address comes from other programs. */
export function readGrantRequest(field: (name: string) => string | undefined): GrantRequest | null {
  const [port = '', state = '', challenge = '', name = ''] = ['port', 'state', 'challenge', 'name'].map(field);
  const isValid =
    /^\d{4,5}$/.test(port) &&
    Number(port) >= 1_024 &&
    Number(port) <= 65_535 &&
    /^[\w-]{22,64}$/.test(state) &&
    /^[\w-]{43}$/.test(challenge) &&
    /^[\w .-]{1,40}$/.test(name);
  return isValid ? { port: Number(port), state, challenge, name } : null;
}

export const labelOfGrant = ({ name }: GrantRequest): string => `eloquentpoll on ${name}`.slice(0, LIMITS.key_label);

/** Shown on the page and in the terminal, so that the owner sees that they belong together. */
export function confirmationOf({ challenge }: GrantRequest): string {
  const digits = createHash('sha256').update(challenge).digest('hex').slice(0, 8).toUpperCase();
  return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/** Stores the grant under the hash of a new code and returns the code. */
export async function createGrant(
  { bus, config }: AccountsContext,
  { accountId, loginId }: Pick<Grant, 'accountId' | 'loginId'>,
  request: GrantRequest,
): Promise<string> {
  const code = newCode(config);
  const grant: Grant = { accountId, loginId, challenge: request.challenge, label: labelOfGrant(request) };
  await fromRedis(bus.redis.set(nameOf(bus.prefix, code), JSON.stringify(grant), 'EX', LIFETIME_S));
  return code;
}

/**
 * Null for an unknown, used or expired code, and for a wrong verifier, which uses the code up too. Throws
 * `AccountMoving` for a code of another cell: the program has no key yet, so a router cannot know the cell.
 */
export async function takeGrant(
  { bus, config }: AccountsContext,
  code: string,
  verifier: string,
): Promise<Pick<Grant, 'accountId' | 'loginId' | 'label'> | null> {
  const stored = await fromRedis(bus.redis.getdel(nameOf(bus.prefix, code)));
  if (stored === null) refuseOtherCell(config, code);
  const grant = stored === null ? null : readGrant(stored);
  return grant && isSame(challengeFor(verifier), grant.challenge) ? grant : null;
}

/** Null for a text that another release wrote in another format. */
function readGrant(stored: string): Grant | null {
  const { accountId, loginId, challenge, label } = Object(JSON.parse(stored)) as Record<string, unknown>;
  if (typeof accountId !== 'string' || typeof loginId !== 'string') return null;
  if (typeof challenge !== 'string' || typeof label !== 'string') return null;
  return { accountId, loginId, challenge, label };
}

type OfCell = Pick<Config, 'cell' | 'keyPepper'>;

const CODE = /^(?<said>(?<cell>[0-9a-hjkmnp-tv-z])[\w-]{43})(?<mark>[\w-]{22})$/;

/** The cell, a random text, and a MAC of both with the pepper that all cells share. */
function newCode({ cell, keyPepper }: OfCell): string {
  const said = cell + randomBytes(32).toString('base64url');
  return said + markOf(keyPepper, said);
}

function refuseOtherCell({ cell, keyPepper }: OfCell, code: string): void {
  const { said, cell: other, mark } = CODE.exec(code)?.groups ?? {};
  if (said && mark && other !== cell && isSame(markOf(keyPepper, said), mark)) throw new AccountMoving(other!);
}

const markOf = (pepper: string, said: string): string =>
  createHmac('sha256', pepper).update(`grant ${said}`).digest().subarray(0, 16).toString('base64url');

const challengeFor = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const nameOf = (prefix: string, code: string): string =>
  `${prefix}:grant:{${createHash('sha256').update(code).digest('base64url')}}`;
