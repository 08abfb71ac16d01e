import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { WebhookError } from '@eloquentpoll/contracts';
import { hostOf, isLoopbackHost, type ReceiverRules } from './receiver-rules.ts';

// A name is resolved once per attempt, and the connection uses the addresses that were checked. So an answer that
// changes between check and connection (DNS rebinding) has no effect.

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Returns all addresses of a name. Throws if there is none. */
export type NameResolver = (host: string) => Promise<readonly string[]>;

/** Thrown with the reason why nothing was sent. */
export class Unsendable extends Error {
  override name = 'Unsendable';
  readonly reason: WebhookError;

  constructor(reason: WebhookError, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Queries name servers directly: getaddrinfo has four threads for the whole process, which slow names would block. */
export function systemResolver(
  servers: Record<'resolve4' | 'resolve6', (host: string) => Promise<string[]>> = new Resolver({
    timeout: 2_000,
    tries: 2,
  }),
): NameResolver {
  return async (host) => {
    const answers = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw new Error('no address');
    return addresses;
  };
}

/** If one address is refused, the name is refused: a public name should not point to an internal address. */
export async function resolveReceiver(url: URL, rules: ReceiverRules, resolve: NameResolver): Promise<Address[]> {
  const host = hostOf(url);
  const found = await addressesOf(host, rules, resolve);
  if (!found.every((address) => rules.allowsAddress(address))) throw new Unsendable('address_refused');
  return found.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }));
}

async function addressesOf(host: string, rules: ReceiverRules, resolve: NameResolver): Promise<readonly string[]> {
  if (isIP(host)) return [host];
  if (rules.toLoopback && isLoopbackHost(host)) return ['127.0.0.1', '::1'];
  try {
    return await resolve(host);
  } catch (cause) {
    throw new Unsendable('name_not_resolved', { cause });
  }
}
