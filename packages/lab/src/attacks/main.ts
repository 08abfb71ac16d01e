import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import type { Servers } from '../fixture/stores.ts';
import { names, parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { type ProgressLine, progressOn } from '../terminal/progress.ts';
import { ABUSE_SETTINGS, nightOfAbuse } from './abuse.ts';
import { clocks } from './clocks.ts';
import { deafStreams } from './deaf-streams.ts';
import { type Field, openField } from './field.ts';
import { fullRedis } from './full-redis.ts';
import { idleStreams } from './idle-streams.ts';
import { keyTiming } from './key-timing.ts';
import { manyKeys } from './many-keys.ts';
import { slowClients } from './slow-clients.ts';
import { throughNginx } from './through-nginx.ts';
import { hostileWebhooks } from './webhooks.ts';

// npm run attack: a gateway as a process of its own, and clients that wish it no good. Exit code 1 when something that
// must hold did not. Attacks that need no process of their own are tests: `ATTACKS=full npm test -- FILES`.

/** What an attack came to. */
export interface Attack {
  readonly figures: object;
  readonly holds: boolean;
  readonly lines: readonly string[];
}

interface Sizes {
  readonly streams: number;
  readonly connections: number;
  readonly readers: number;
  readonly seconds: number;
  readonly samples: number;
  readonly keys: number;
  readonly requests: number;
  readonly polls: number;
  readonly accounts: number;
  readonly addresses: number;
  readonly webhooks: number;
}

const ATTACKS: Readonly<Record<string, (field: Field, sizes: Sizes, progress: ProgressLine) => Promise<Attack>>> = {
  idle: idleStreams,
  deaf: deafStreams,
  'slow-headers': (field, sizes, progress) => slowClients(field, { ...sizes, kind: 'headers' }, progress),
  'slow-bodies': (field, sizes, progress) => slowClients(field, { ...sizes, kind: 'body' }, progress),
  silent: (field, sizes, progress) => slowClients(field, { ...sizes, kind: 'silence' }, progress),
  'no-reading': (field, { connections }, progress) =>
    slowClients(field, { connections: Math.ceil(connections / 8), kind: 'reading' }, progress),
  'full-redis': (field, _, progress) => fullRedis(field, { seconds: 15 }, progress),
  timing: keyTiming,
  'many-keys': manyKeys,
  abuse: nightOfAbuse,
  webhooks: hostileWebhooks,
};

/** Needs more than the machine may have, so it runs only when it is named. */
const FAKETIME_LIB = process.env.FAKETIME_LIB;
const BY_NAME: typeof ATTACKS = {
  nginx: (field, { requests }, progress) => throughNginx(field, { requests }, progress),
  ...(FAKETIME_LIB && { clocks: (field, _, progress) => clocks(field, FAKETIME_LIB, progress) }),
};

/** Settings of the gateway that an attack needs; limits are part of what holds the slow ones off. */
const SETTINGS: Readonly<Record<string, Record<string, string>>> = {
  'slow-headers': { RATE_LIMITS: '' },
  'slow-bodies': { RATE_LIMITS: '' },
  silent: { RATE_LIMITS: '' },
  'no-reading': { RATE_LIMITS: '' },
  nginx: { TRUST_PROXY: '127.0.0.1/32' },
  abuse: ABUSE_SETTINGS,
};

const USAGE = `usage: npm run attack -- [--only NAMES] [--streams N] [--connections N] [--readers N] [--seconds N] [--samples N] [--keys N] [--requests N] [--polls N] [--accounts N] [--addresses N] [--webhooks N] [--json]

  --only NAMES     of ${Object.keys(ATTACKS).join(', ')}, separated by commas; all without it;
                   and by name alone nginx, where it is installed, and clocks, where FAKETIME_LIB names
                   libfaketime.so.1
  --streams N      idle streams, default 10000
  --connections N  slow connections, default 4000
  --readers N      streams that are not read, default 500
  --seconds N      for how long they are not read, default 60
  --samples N      refused keys of each kind, default 33400
  --keys N         Idempotency-Keys in the table, default 1000000
  --requests N     made-up addresses through nginx, default 10000
  --polls N        polls that make models fail, default 50000
  --accounts N     whose they are, default 100
  --addresses N    where the free ones come from, default 1000
  --webhooks N     messages to receivers most of which are no good, default 10000
  --json           figures as JSON instead of lines
`;

const MAX_SIZE = 1_000_000;

function readArguments(argv: readonly string[]) {
  const { only, json, ...sizes } = parseOptions(argv, {
    only: { type: 'string', default: Object.keys(ATTACKS).join(',') },
    streams: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '4000' },
    readers: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '60' },
    samples: { type: 'string', default: '33400' },
    keys: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '10000' },
    polls: { type: 'string', default: '50000' },
    accounts: { type: 'string', default: '100' },
    addresses: { type: 'string', default: '1000' },
    webhooks: { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
  });
  const size = (name: keyof Sizes): number => wholeNumber(`--${name}`, sizes[name], 1, MAX_SIZE);
  return {
    only: names('attack', only, [...Object.keys(ATTACKS), ...Object.keys(BY_NAME)]),
    sizes: {
      streams: size('streams'),
      connections: size('connections'),
      readers: size('readers'),
      seconds: size('seconds'),
      samples: size('samples'),
      keys: size('keys'),
      requests: size('requests'),
      polls: size('polls'),
      accounts: size('accounts'),
      addresses: size('addresses'),
      webhooks: size('webhooks'),
    },
    json,
  };
}

await runCommand(USAGE, async ({ group }) => {
  const { only, sizes, json } = readArguments(process.argv.slice(2));
  await using servers = await startThrowAwayServers(await group(), process.env);
  return attack(only, sizes, json, servers);
});

/** Each attack gets a gateway and stores of its own. */
async function attack(only: readonly string[], sizes: Sizes, json: boolean, servers: Servers): Promise<number> {
  const progress = progressOn(process.stderr);
  const report: Record<string, object> = {};
  let holds = true;
  for (const name of only) {
    await using field = await openField(servers, SETTINGS[name]);
    const made = await { ...ATTACKS, ...BY_NAME }[name]!(field, sizes, progress);
    progress.end();
    report[name] = { holds: made.holds, ...made.figures };
    holds &&= made.holds;
    if (!json) process.stdout.write(`${[...made.lines, made.holds ? 'held' : 'did NOT hold'].join('\n')}\n\n`);
  }
  if (json) process.stdout.write(`${JSON.stringify({ holds, ...report }, null, 2)}\n`);
  return holds ? 0 : 1;
}
