import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

// Loaded before every test process and its children: a connection that would leave this machine fails at once with an
// error. Services that a test needs must run on loopback.

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3}|0\.0\.0\.0|::)$/i;

class NetworkClosed extends Error {
  readonly code = 'ENETUNREACH';

  constructor(host: string) {
    super(`tests reach nothing beyond this machine, and ${host} is beyond it`);
  }
}

const allowed = (host: unknown): boolean => typeof host !== 'string' || host === '' || LOOPBACK.test(host);

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]): net.Socket {
  const host = hostOf(args);
  if (checkLookup(args) || allowed(host)) Reflect.apply(connect, this, args);
  else process.nextTick(() => this.destroy(new NetworkClosed(String(host))));
  return this;
};

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

// net.connect passes its arguments as one array; other callers pass them individually.
function hostOf(args: unknown[]): unknown {
  const [inner] = args;
  const [first, second] = isList(inner) ? inner : args;
  if (typeof first === 'object' && first !== null) return 'host' in first ? first.host : undefined;
  return typeof first === 'number' || /^\d+$/.test(String(first)) ? second : undefined;
}

/** If the caller has its own resolver, the addresses that it returns are checked instead. */
function checkLookup(args: unknown[]): boolean {
  const [inner] = args;
  const [options] = isList(inner) ? inner : args;
  if (typeof options !== 'object' || options === null || !('lookup' in options) || !('host' in options)) return false;
  const { lookup: ask, host } = options;
  if (typeof ask !== 'function' || ask === dns.lookup || net.isIP(String(host))) return false;
  options.lookup = (name: string, how: object, answer: (error: Error | null, ...found: unknown[]) => void): void => {
    Reflect.apply(ask, undefined, [
      name,
      how,
      (error: Error | null, found: unknown, ...rest: unknown[]) => {
        const addresses = isList(found) ? found.map((each) => (each as { address: string }).address) : [found];
        if (error || addresses.every(allowed)) answer(error, found, ...rest);
        else answer(new NetworkClosed(String(addresses)));
      },
    ]);
  };
  return true;
}

const send = dgram.Socket.prototype.send;
dgram.Socket.prototype.send = function (this: dgram.Socket, ...args: unknown[]): void {
  const host = args.slice(1).find((arg) => typeof arg === 'string');
  if (!allowed(host)) throw new NetworkClosed(String(host));
  Reflect.apply(send, this, args);
};

const lookup = dns.lookup;
function guardedLookup(...args: unknown[]): unknown {
  const [host] = args;
  const answer = args.at(-1);
  if (allowed(host) || net.isIP(String(host)) || typeof answer !== 'function') return Reflect.apply(lookup, dns, args);
  process.nextTick(answer, new NetworkClosed(String(host)));
  return {};
}
Object.defineProperty(dns, 'lookup', {
  value: Object.assign(guardedLookup, lookup),
  configurable: true,
  writable: true,
});
