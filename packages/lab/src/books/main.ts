import { setTimeout as wait } from 'node:timers/promises';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { openStores } from '../fixture/stores.ts';
import { parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { closeOldDays, fillBooks } from './fill-books.ts';
import { checkRounds, closeAll, holdAndCapture, quantiles, wholeCheck } from './measure-books.ts';

// npm run books: the check of a ledger of millions of polls. Exit code 1 if it finds violations or a round is slow.

const USAGE = `usage: npm run books -- [--polls N] [--days N] [--accounts N] [--seconds N] [--thin] [--full]

  --polls N     ended polls in the books, default 200000; 10000000 take 15 GB of disk with --thin
  --days N      over so many days, default 20
  --accounts N  of so many accounts, default 10000
  --seconds N   how long holds and captures are measured, alone and during the check, default 10
  --thin        votes and results of the newest day only, and older days are closed unread: for 10000000 polls
  --full        also read everything, as check-ledger.js --full does
`;
const MAX_ROUND_MS = 2_000;

await runCommand(USAGE, async ({ group, signal }) => {
  const options = parseOptions(process.argv.slice(2), {
    polls: { type: 'string', default: '200000' },
    days: { type: 'string', default: '20' },
    accounts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    thin: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
  });
  const size = {
    polls: wholeNumber('--polls', options.polls, 1_000, 100_000_000),
    days: wholeNumber('--days', options.days, 1, 1_000),
    accounts: wholeNumber('--accounts', options.accounts, 1, 1_000_000),
    thin: options.thin,
  };
  const forMs = 1_000 * wholeNumber('--seconds', options.seconds, 1, 600);
  await using servers = await startThrowAwayServers(await group(), process.env);
  await using stores = await openStores(servers);
  const progress = progressOn(process.stderr);
  const began = performance.now();
  const show = (figures: object): void => void process.stdout.write(`${JSON.stringify(figures)}\n`);
  await fillBooks(stores, size, progress, signal);
  const [{ bytes } = {}] = await stores.query<{ bytes: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as bytes',
  );
  show({ ...size, size: bytes, filled_s: Math.round((performance.now() - began) / 1_000) });
  if (size.thin) await closeOldDays(stores, progress);
  show({ closing: await closeAll(stores, progress, signal) });

  const [{ id = '' } = {}] = await stores.query<{ id: string }>("select id from accounts where kind = 'user' limit 1");
  const alone = await holdAndCapture(stores.storage, id, wait(forMs));
  const checking = checkRounds(stores, forMs);
  const beside = await holdAndCapture(stores.storage, id, checking);
  const { tookMs, violations } = await checking;
  show({ round_ms: quantiles(tookMs), rounds: tookMs.length, violations: violations.length });
  show({ hold_and_capture_ms: { alone: quantiles(alone), beside: quantiles(beside) } });
  const broken = new Set(violations.map(({ rule }) => rule));
  if (options.full) {
    const whole = await wholeCheck(stores, progress);
    show({ whole_check_s: Math.round(whole.tookMs / 1_000), violations: whole.violations.length });
    for (const { rule } of whole.violations) broken.add(rule);
  }
  progress.end();
  const { p50 } = quantiles(tookMs);
  if (p50 > MAX_ROUND_MS) broken.add(`a round takes ${p50} ms, more than ${MAX_ROUND_MS}`);
  const holds = broken.size === 0;
  show({ holds, broken: [...broken] });
  return holds ? 0 : 1;
});
