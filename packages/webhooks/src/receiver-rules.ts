import { BlockList, isIP } from 'node:net';

// Where messages may be sent. Callers choose the address and we connect from inside our network, so everything that is
// not clearly a public Internet address is refused: private and link-local ones (including clouds' metadata services),
// shared and documentation ranges, multicast, and IPv6 ranges that embed IPv4 addresses (mapped, NAT64, 6to4, Teredo).

export interface ReceiverRules {
  /** Whether messages may be sent to this machine: http, any port, loopback. For development. */
  toLoopback: boolean;
  allowsAddress(address: string): boolean;
  /** `port`: as in a URL, so empty for the default port. */
  allowsPort(port: string): boolean;
}

/** The network policies of a deployment open no other ports. */
const PORTS = ['', '443', '8443'];

const IPV4_REFUSED: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // Azure's internal service, on a public address.
  ['168.63.129.16', 32],
];

/** Only this range is global unicast. */
const IPV6_ALLOWED: readonly [string, number][] = [['2000::', 3]];
const IPV6_REFUSED: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

function listOf(ranges: readonly [string, number][], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [prefix, bits] of ranges) list.addSubnet(prefix, bits, family);
  return list;
}

const ipv4Refused = listOf(IPV4_REFUSED, 'ipv4');
const ipv6Allowed = listOf(IPV6_ALLOWED, 'ipv6');
const ipv6Refused = listOf(IPV6_REFUSED, 'ipv6');
const loopback = listOf([['127.0.0.0', 8]], 'ipv4');

const familyOf = (address: string): 'ipv4' | 'ipv6' | null =>
  address.includes('%') ? null : (({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(address)] ?? null);

function isPublic(address: string): boolean {
  const family = familyOf(address);
  if (family === 'ipv4') return !ipv4Refused.check(address, family);
  return family === 'ipv6' && ipv6Allowed.check(address, family) && !ipv6Refused.check(address, family);
}

const isLoopbackAddress = (address: string): boolean =>
  address === '::1' || (familyOf(address) === 'ipv4' && loopback.check(address, 'ipv4'));

export const receiverRules = ({ toLoopback }: { toLoopback: boolean }): ReceiverRules => ({
  toLoopback,
  allowsAddress: (address) => isPublic(address) || (toLoopback && isLoopbackAddress(address)),
  allowsPort: (port) => PORTS.includes(port),
});

const MIN_LOOPBACK_PORT = 1_024;
/** Names that public DNS should never resolve. */
const INSIDE = /(^|\.)(localhost|local|internal|intranet|home\.arpa|onion|invalid|test|svc)$/i;

/**
 * What is wrong with an address, as the end of a sentence that starts with the name of its field. Null if nothing is.
 */
export function urlProblem(text: string, rules: ReceiverRules): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text) || /[\s\\]/.test(text)) return 'must be an absolute https URL';
  const host = hostOf(url);
  if (url.username || url.password) return 'must have no user or password';
  if (url.hash) return 'must have no fragment';
  if (rules.toLoopback && isLoopbackHost(host))
    return Number(url.port || 80) < MIN_LOOPBACK_PORT && url.port !== '' ? 'must have a port from 1024' : null;
  if (url.protocol !== 'https:') return 'must be https';
  if (!rules.allowsPort(url.port)) return 'must be on port 443 or 8443';
  if (familyOf(host) ? !rules.allowsAddress(host) : !isPublicName(host)) return 'must lead to a public address';
  return null;
}

const isPublicName = (host: string): boolean => host.includes('.') && !INSIDE.test(host.replace(/\.$/, ''));

/** The host as sockets need it, without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host);
