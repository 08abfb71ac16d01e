import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { checkLedger } from '@eloquentpoll/storage';
import { afterRun, createSetup, type Finding, type FuzzSetup, fuzzOperations, type Tried } from './fuzz-operations.ts';
import { startFuzzedService } from './fuzzed-service.ts';
import type { SecretWatch } from './secrets.ts';
import { senderTo } from './send-request.ts';

// One run: a service, single requests, requests that build on each other, and then a check of what is left: open
// handles, memory, money, and log lines.

export interface FuzzOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly seed: number;
  /** Number of inputs per operation. */
  readonly runs: number;
  readonly only?: string | undefined;
  readonly realLimits?: boolean;
  readonly onInput?: (inputs: number) => void;
}

export interface FuzzReport {
  readonly seed: number;
  readonly inputs: number;
  readonly seconds: number;
  readonly operations: readonly Tried[];
  readonly logLines: number;
  /** Secrets found in log lines. */
  readonly leaks: number;
  /** Of this process, which is both service and attacker: after a tenth of the inputs, and at the end. */
  readonly heapMb: { readonly early: number; readonly end: number };
  readonly rssMb: number;
  readonly handles: number;
  readonly findings: readonly Finding[];
}

/** Nothing here takes long, so a request without an answer by then hangs. */
const GUARD_MS = 45_000;
/** Caches fill at the start of a run; if the heap then grows by more than this, something is unbounded. */
const MAX_GROWTH_MB = 64;
const MAX_HANDLES = 200;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heapMb = (): number => {
  collect();
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10;
};

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const began = performance.now();
  let watch: SecretWatch | null = null;
  let logLines = 0;
  const leaks = new Map<string, string>();
  const onLog = (line: string): void => {
    logLines += 1;
    const secret = watch?.inLog(line);
    if (secret) leaks.set(secret, line);
  };
  await using service = await startFuzzedService({ ...options, onLog });
  using sender = senderTo(service.origin, GUARD_MS);
  const setup = await createSetup(service, sender);
  watch = setup.watch;

  let early = 0;
  let inputs = 0;
  // A short run ends before all code was loaded, so it shows nothing about growth.
  const warm = options.runs < 50 ? Number.POSITIVE_INFINITY : options.runs * 8;
  const onInput = (count: number): void => {
    inputs = count;
    if (count === warm) early = heapMb();
    options.onInput?.(count);
  };
  const { tried, findings } = await fuzzOperations(setup, { ...options, onInput });
  const left = await whatIsLeft(setup);
  const end = heapMb();
  const grown = early > 0 && end - early > MAX_GROWTH_MB;
  const handles = process.getActiveResourcesInfo().length;
  return {
    seed: options.seed,
    inputs,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    operations: tried,
    logLines,
    leaks: leaks.size,
    heapMb: { early, end },
    rssMb: Math.round(process.memoryUsage().rss / 1e6),
    handles,
    findings: [
      ...findings,
      ...left.map((problem) => afterRun(problem)),
      ...[...leaks].map(([secret, line]) => afterRun(`a log line shows ${secret}`, line)),
      ...(grown ? [afterRun(`the heap grew from ${early} to ${end} MB`)] : []),
      ...(handles > MAX_HANDLES ? [afterRun(`${handles} handles are open: ${process.getActiveResourcesInfo()}`)] : []),
    ],
  };
}

/** Streams and subscriptions without a listener, and money that is unaccounted for. */
async function whatIsLeft({ service: { gateway } }: FuzzSetup): Promise<string[]> {
  const open = () => [gateway.streams.count(), gateway.bus.watched(), gateway.rereads.followed()];
  const until = performance.now() + 20_000;
  while (open().some((count) => count > 0) && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const [streams, subscriptions, sessions] = open();
  const books = await checkLedger(gateway.storage);
  return [
    ...(streams ? [`${streams} streams are open`] : []),
    ...(subscriptions ? [`${subscriptions} subscriptions are left`] : []),
    ...(sessions ? [`${sessions} sessions are watched`] : []),
    ...books.map((violation) => `the books are wrong: ${JSON.stringify(violation)}`),
  ];
}
