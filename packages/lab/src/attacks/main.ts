import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { COLLECTS_ON_SIGNAL } from '../fixture/collected-memory.ts';
import type { Servers } from '../fixture/stores.ts';
import { continueFile, type RunFile, repeatedBy } from '../proof/continued.ts';
import { names, parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { type ProgressLine, progressOn } from '../terminal/progress.ts';
import { verdictLine } from '../terminal/verdict-line.ts';
import { ABUSE_SETTINGS, abuseModels } from './abuse.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import { type AttackTarget, openAttackTarget } from './attack-target.ts';
import { balanceRaces } from './balance-races.ts';
import { clocks } from './clocks.ts';
import { deafStreams } from './deaf-streams.ts';
import { fullRedis } from './full-redis.ts';
import { idleStreams } from './idle-streams.ts';
import { keyTiming } from './key-timing.ts';
import { manyKeys } from './many-keys.ts';
import { slowClients } from './slow-clients.ts';
import { throughNginx } from './through-nginx.ts';
import { hostileWebhooks } from './webhooks.ts';

// npm run attack: a gateway in its own process, and hostile clients. Exit code 1 if any requirement was violated.
// Attacks that need no process of their own are tests: `ATTACKS=full npm test -- FILES`.

/** Sizes of attacks: the default, and what it counts. */
const SIZES = {
  streams: [10_000, 'idle streams'],
  connections: [4_000, 'slow connections'],
  readers: [500, 'streams that are not read'],
  seconds: [1_800, 'for how long they are not read'],
  samples: [33_400, 'refused keys of each kind'],
  keys: [1_000_000, 'Idempotency-Keys in the table'],
  requests: [10_000, 'made-up addresses through nginx'],
  polls: [50_000, 'polls that make models fail'],
  accounts: [100, 'whose they are'],
  addresses: [1_000, 'where the free ones come from'],
  webhooks: [10_000, 'messages to receivers most of which are no good'],
  races: [1_000, 'races of 200 polls for one balance'],
} as const satisfies Record<string, readonly [byDefault: number, says: string]>;
type SizeName = keyof typeof SIZES;
type Sizes = Readonly<Record<SizeName, number>>;
const SIZE_NAMES = Object.keys(SIZES) as SizeName[];

const ATTACKS: Readonly<
  Record<string, (target: AttackTarget, sizes: Sizes, progress: ProgressLine) => Promise<AttackOutcome>>
> = {
  idle: idleStreams,
  deaf: deafStreams,
  'slow-headers': (target, sizes, progress) => slowClients(target, { ...sizes, kind: 'headers' }, progress),
  'slow-bodies': (target, sizes, progress) => slowClients(target, { ...sizes, kind: 'body' }, progress),
  silent: (target, sizes, progress) => slowClients(target, { ...sizes, kind: 'silence' }, progress),
  'no-reading': (target, { connections }, progress) =>
    slowClients(target, { connections: Math.ceil(connections / 8), kind: 'reading' }, progress),
  'full-redis': (target, _, progress) => fullRedis(target, { seconds: 15 }, progress),
  timing: keyTiming,
  'many-keys': manyKeys,
  abuse: abuseModels,
  webhooks: hostileWebhooks,
  races: balanceRaces,
};

/** Not available on every machine, so these attacks run only when named. */
const FAKETIME_LIB = process.env.FAKETIME_LIB;
const BY_NAME: typeof ATTACKS = {
  nginx: (target, { requests }, progress) => throughNginx(target, { requests }, progress),
  ...(FAKETIME_LIB && { clocks: (target, _, progress) => clocks(target, FAKETIME_LIB, progress) }),
};

/** Gateway settings for an attack; default rate limits are part of the defence against slow clients. */
const SETTINGS: Readonly<Record<string, Record<string, string>>> = {
  // The sessions created beside the streams have no worker, so they keep running.
  idle: { MAX_RUNNING_POLLS: '100000', MAX_RUNNING_POLLS_PER_KEY: '100000' },
  // All readers have one key, and a reader whose poll is refused has no stream.
  deaf: { MAX_RUNNING_POLLS: '100000', MAX_RUNNING_POLLS_PER_KEY: '100000', NODE_OPTIONS: COLLECTS_ON_SIGNAL },
  'slow-headers': { RATE_LIMITS: '' },
  'slow-bodies': { RATE_LIMITS: '' },
  silent: { RATE_LIMITS: '' },
  'no-reading': { RATE_LIMITS: '' },
  nginx: { TRUST_PROXY: '127.0.0.1/32' },
  abuse: ABUSE_SETTINGS,
};

const USAGE = `usage: npm run attack -- [--only NAMES] [--SIZE N]... [--continue FILE] [--json]

  --only NAMES     of ${Object.keys(ATTACKS).join(', ')}, separated by commas; all without it;
                   and by name alone nginx, where it is installed, and clocks, where FAKETIME_LIB names
                   libfaketime.so.1
${SIZE_NAMES.map((name) => `  ${`--${name} N`.padEnd(15)}  ${SIZES[name][1]}, default ${SIZES[name][0]}`).join('\n')}
  --continue FILE  adds the run to those in the file (docs/proofs/runs.jsonl)
  --json           figures as JSON instead of lines
`;

const MAX_SIZE = 1_000_000;
const SIZE_OPTIONS = Object.fromEntries(
  SIZE_NAMES.map((name) => [name, { type: 'string', default: String(SIZES[name][0]) }]),
) as Record<SizeName, { type: 'string'; default: string }>;

function readArguments(argv: readonly string[]) {
  const {
    only,
    json,
    continue: runFile,
    ...sizes
  } = parseOptions(argv, {
    only: { type: 'string', default: Object.keys(ATTACKS).join(',') },
    ...SIZE_OPTIONS,
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  const size = (name: SizeName): number => wholeNumber(`--${name}`, sizes[name], 1, MAX_SIZE);
  return {
    only: names('attack', only, [...Object.keys(ATTACKS), ...Object.keys(BY_NAME)]),
    sizes: Object.fromEntries(SIZE_NAMES.map((name) => [name, size(name)])) as Record<SizeName, number>,
    runFile: runFile ?? null,
    json,
  };
}

await runCommand(USAGE, async ({ group, signal }) => {
  const argv = process.argv.slice(2);
  const args = readArguments(argv);
  const kept = args.runFile === null ? null : await continueFile(args.runFile, repeatedBy('attack', argv));
  await using servers = await startThrowAwayServers(await group(), process.env);
  return attack(args, kept, servers, signal);
});

/** A smaller run proves less, however often it is repeated, so it counts as another experiment. */
function experimentOf(name: string, sizes: Sizes): string {
  return SIZE_NAMES.every((size) => sizes[size] >= SIZES[size][0]) ? `attack ${name}` : `attack ${name}, smaller`;
}

/** Each attack gets a gateway and stores of its own. */
async function attack(
  { only, sizes, json }: ReturnType<typeof readArguments>,
  kept: RunFile | null,
  servers: Servers,
  signal: AbortSignal,
): Promise<number> {
  const progress = progressOn(process.stderr);
  const report: Record<string, object> = {};
  const broken: string[] = [];
  for (const name of only) {
    signal.throwIfAborted();
    await using target = await openAttackTarget(servers, SETTINGS[name]);
    const made = await { ...ATTACKS, ...BY_NAME }[name]!(target, sizes, progress);
    progress.end();
    report[name] = { holds: made.holds, ...made.figures };
    if (!made.holds) broken.push(name);
    const { counts, lines } = made;
    const sums = await kept?.add({
      ...{ experiment: experimentOf(name, sizes), seed: null, holds: made.holds, counts },
      ...{ figure: lines[0]!, note: lines.slice(1).join('; ') },
    });
    const verdict = `${name}: ${made.holds ? 'held' : 'did NOT hold'}`;
    if (!json) process.stdout.write(`${[...lines, ...(sums ?? []), verdict].join('\n')}\n\n`);
  }
  const holds = broken.length === 0;
  if (json) process.stdout.write(`${JSON.stringify({ holds, ...report }, null, 2)}\n`);
  else process.stdout.write(`${verdictLine(broken)}\n`);
  return holds ? 0 : 1;
}
