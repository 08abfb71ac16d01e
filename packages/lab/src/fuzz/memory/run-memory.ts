import { checkLedger } from '@eloquentpoll/storage';
import { afterRun, createSetup, type Finding, listTools } from '../fuzz-operations.ts';
import { startFuzzedService } from '../fuzzed-service.ts';
import { judgeOf } from '../judge-answer.ts';
import { type FuzzedOperation, operationsOf } from '../operations.ts';
import type { SecretWatch } from '../secrets.ts';
import { asCurl, senderTo } from '../send-request.ts';
import type { Corpus } from './corpus.ts';
import { type Coverage, coverage } from './coverage.ts';
import { Drawing } from './draw-sequence.ts';
import { drawsOf } from './draws.ts';
import { HOSTILE_TEXTS } from './hostile-answers.ts';
import { retriedWhileBusy } from './people.ts';
import { type Playing, playSequence, type SequenceFault } from './play-sequence.ts';
import { Requests } from './prepare-request.ts';
import { faultKind, shrinkSequence } from './shrink-sequence.ts';
import { type FuzzStep, stepsText } from './step.ts';
import { webhookReceiver } from './webhook-receiver.ts';

// Plays sequences of requests that use earlier answers, over all operations, up to a number of requests.

export interface MemoryOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly seed: number;
  readonly requests: number;
  readonly minutes: number;
  readonly corpus: Corpus;
  /** A single sequence to repeat, instead of drawn ones. */
  readonly repeat?: readonly FuzzStep[] | undefined;
  readonly onRequest?: (requests: number, findings: number) => void;
  /** Called when a finding was shrunk. */
  readonly onFinding?: (finding: Finding) => void;
}

export interface MemoryReport {
  readonly seed: number;
  readonly requests: number;
  readonly sequences: number;
  readonly seconds: number;
  /** Of this process, which runs service, models and caller. */
  readonly cpuSeconds: number;
  /** Number of different combinations of operation, status and code. */
  readonly reached: number;
  readonly newlyReached: number;
  readonly slowestMs: number;
  readonly webhooks: number;
  readonly logLines: number;
  /** Secrets found in log lines, and in answers. */
  readonly leaks: number;
  readonly shown: number;
  readonly coverage: Coverage;
  readonly operations: readonly FuzzedOperation[];
  readonly findings: readonly Finding[];
}

const MAX_AT_ONCE = 16;
/** Requests of a typical sequence, including its lists; limits how many sequences a short run plays. */
const REQUESTS_EACH = 60;
/** Longer than any answer takes: requests ask for at most 30 seconds with `Prefer: wait`. */
const GUARD_MS = 45_000;
const MAX_FINDINGS = 25;

export async function runMemory(options: MemoryOptions): Promise<MemoryReport> {
  const began = performance.now();
  let watch: SecretWatch | null = null;
  let logLines = 0;
  const leaks = new Map<string, string>();
  const onLog = (line: string): void => {
    logLines += 1;
    const secret = watch?.inLog(line) ?? (line.indexOf('\n') < line.length - 1 ? 'a line break' : null);
    if (secret) leaks.set(secret, line);
  };
  await using receiver = await webhookReceiver(() => watch);
  // There are more texts than models: each run begins with another one.
  const from = options.seed % HOSTILE_TEXTS.length;
  const reasons = [...HOSTILE_TEXTS.slice(from), ...HOSTILE_TEXTS.slice(0, from)];
  await using service = await startFuzzedService({ ...options, onLog, isWhole: true, reasons });
  using sender = senderTo(service.origin, GUARD_MS);
  const setup = await retriedWhileBusy(() => createSetup(service, sender));
  watch = setup.watch;
  const { description, fixtures } = setup;
  const operations = operationsOf(description);
  const models = service.gateway.panels.models().map(({ id }) => id);
  const reached = coverage();
  let [requests, slowestMs, secrets] = [0, 0, 0];
  const playing: Playing = {
    service,
    sender,
    judge: judgeOf(description, setup.watch.inAnswer),
    requests: new Requests({ description, tools: await listTools(setup), models }),
    operations: new Map(operations.map((operation) => [operation.id, operation])),
    accountIds: fixtures.accountIds,
    receiver: receiver.url,
    onAnswer(operation, status, code, tookMs) {
      requests += 1;
      slowestMs = Math.max(slowestMs, tookMs);
      reached.note(operation, status, code);
      options.onRequest?.(requests, findings.size);
    },
  };
  const cpuBefore = process.cpuUsage();
  const findings = new Map<string, Finding>();
  const drawing = new Drawing(operations);
  const draws = drawsOf(options.seed);
  const until = began + options.minutes * 60_000;
  let [sequences, newlyReached] = [0, 0];
  const isOver = () => requests >= options.requests || performance.now() > until || findings.size >= MAX_FINDINGS;

  function next(): readonly FuzzStep[] {
    const kept = draws.oneIn(2) ? options.corpus.draw(draws) : null;
    return kept ? drawing.changed(kept, options.corpus.draw(draws) ?? kept, draws) : drawing.sequence(draws);
  }

  async function play(steps: readonly FuzzStep[]): Promise<void> {
    sequences += 1;
    const played = await playSequence(steps, playing);
    if (options.corpus.take(steps, played.reached)) newlyReached += 1;
    if (!played.fault || findings.has(faultKind(played.fault))) return;
    if (/shows (an API key|a cookie|a webhook|the id|a credential)|is shown/.test(played.fault.problem)) secrets += 1;
    findings.set(faultKind(played.fault), findingOf(steps, played.fault, service.origin));
    const again = async (part: readonly FuzzStep[]) => (await playSequence(part, playing)).fault;
    const shrunk = await shrinkSequence(steps, played.fault, again);
    const shortest = findingOf(shrunk.steps, shrunk.fault, service.origin);
    findings.set(faultKind(played.fault), shortest);
    options.onFinding?.(shortest);
  }

  if (options.repeat) await play(options.repeat);
  else
    await Promise.all(
      Array.from({ length: Math.min(MAX_AT_ONCE, Math.ceil(options.requests / REQUESTS_EACH)) }, async () => {
        while (!isOver()) await play(next());
      }),
    );
  const { user, system } = process.cpuUsage(cpuBefore);
  const books = await checkLedger(service.gateway.storage);
  return {
    seed: options.seed,
    requests,
    sequences,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    cpuSeconds: Math.round((user + system) / 1e5) / 10,
    reached: reached.counts.size,
    newlyReached,
    slowestMs: Math.round(slowestMs),
    webhooks: receiver.messages(),
    logLines,
    leaks: leaks.size,
    shown: secrets,
    coverage: reached,
    operations,
    findings: [
      ...findings.values(),
      ...[...leaks].map(([secret, line]) => afterRun(`a log line shows ${secret}`, line.slice(0, 500))),
      ...receiver.problems.map((problem) => afterRun(problem)),
      ...books.map((violation) => afterRun(`the books are wrong: ${JSON.stringify(violation)}`)),
    ],
  };
}

const findingOf = (
  steps: readonly FuzzStep[],
  { operation, problem, sent }: SequenceFault,
  origin: string,
): Finding => ({
  where: operation,
  problem,
  reproduction: `npm run fuzz -- --memory --repeat '${stepsText(steps)}'\n  the last request: ${asCurl(sent, origin).slice(0, 2_500)}`,
});
