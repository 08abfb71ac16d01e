import { newApiKey } from '@eloquentpoll/gateway/api-key';
import type { FuzzedOperation } from '../operations.ts';
import type { Credential } from '../requests.ts';
import type { Draws } from './draws.ts';
import type { AccountHolder, Held, KeyAccess, People } from './people.ts';
import { otherThan } from './remembered.ts';
import type { FuzzStep } from './step.ts';

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** `odd`: the credential of a wild request, from which the rules conclude nothing. */
  readonly access: KeyAccess | 'none' | 'odd';
  readonly way: 'key' | 'cookie' | 'none';
  readonly held: Held | null;
}

const NONE: Credentials = { headers: {}, access: 'none', way: 'none', held: null };
const ORIGIN = 'http://localhost:8080';

interface Asked {
  readonly step: FuzzStep;
  readonly operation: FuzzedOperation;
  readonly draws: Draws;
  readonly people: People;
  /** The credential that a wild request uses. */
  readonly wild: Credential | null;
}

export async function credentialsFor({ step, operation, draws, people, wild }: Asked): Promise<Credentials> {
  if (step.actor === 'n') return NONE;
  if (wild !== null) return wildCredentials(wild, people[step.actor], people, draws);
  const person = people[step.actor];
  const ways = operation.ways.filter((way) => way !== 'none');
  if (ways.length === 0 && !draws.oneIn(8)) return NONE;
  const way = ways.length === 0 ? 'key' : draws.of(ways);
  const wanted: KeyAccess =
    step.manner === 'ended' && draws.oneIn(3) ? 'ended' : way === 'key' && draws.oneIn(10) ? 'restricted' : 'full';
  const found = await held(people, person, way, wanted, draws);
  return found ?? (await held(people, person, way, 'full', draws)) ?? NONE;
}

async function held(
  people: People,
  person: AccountHolder,
  way: 'key' | 'cookie',
  access: KeyAccess,
  draws: Draws,
): Promise<Credentials | null> {
  const found = way === 'key' ? await people.key(person, access, draws) : await people.cookie(person, access);
  if (!found) return null;
  const headers = way === 'key' ? bearer(found.value) : { cookie: found.value, origin: ORIGIN };
  return { headers, access, way, held: found };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function wildCredentials(
  name: Credential,
  person: AccountHolder,
  people: People,
  draws: Draws,
): Promise<Credentials> {
  const key = async (access: KeyAccess, of = person) => (await people.key(of, access, draws))?.value ?? newApiKey();
  const cookie = async () => (await people.cookie(person, 'full'))?.value ?? 'ep_session=x';
  const odd = (headers: Record<string, string>): Credentials => ({ headers, access: 'odd', way: 'none', held: null });
  switch (name) {
    case 'none':
      return odd({});
    case 'key':
      return (await held(people, person, 'key', 'full', draws)) ?? NONE;
    case 'cookie':
      return (await held(people, person, 'cookie', 'full', draws)) ?? NONE;
    case 'key of another':
      return odd(bearer(await key('full', people[otherThan(person.party)])));
    case 'revoked key':
      return odd(bearer(await key('ended')));
    case 'key without money':
      return odd(bearer(await key('restricted')));
    case 'unknown key':
      return odd(bearer(newApiKey()));
    case 'garbage':
      return odd(bearer('x y\u00ff'));
    case 'user id':
      return odd(bearer(person.accountId));
    case 'two keys':
      return odd({ authorization: `Bearer ${await key('full')}, Bearer ${newApiKey()}` });
    case 'basic':
      return odd({ authorization: `Basic ${Buffer.from(`a:${await key('full')}`).toString('base64')}` });
    case 'cookie without origin':
      return odd({ cookie: await cookie() });
    case 'cookie from elsewhere':
      return odd({ cookie: await cookie(), origin: 'https://elsewhere.example' });
    case 'forged cookie':
      return odd({ cookie: `${(await cookie()).slice(0, -4)}AAAA`, origin: ORIGIN });
    case 'cookie and key':
      return odd({ cookie: await cookie(), origin: ORIGIN, ...bearer(await key('full')) });
    case 'cookie and garbage':
      return odd({ cookie: await cookie(), origin: ORIGIN, ...bearer('ep_k_') });
  }
}
