import { setTimeout as sleep } from 'node:timers/promises';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import { balanceOf, checkLedger, createAccount, creditAccount, FREE_POOL } from '@eloquentpoll/storage';
import { createFundedAccount, insertApiKey } from '../fixture/accounts.ts';
import { startModule } from '../fixture/modules.ts';
import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';
import { type Answer, askFree, askHonestly, askPaid, type Post, poster } from './abuse-callers.ts';
import { lossU, type Money, readMoney } from './abuse-money.ts';
import { firing, seriesBetween } from './alarm-expression.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import { type AttackTarget, comesTrue, countRunningPolls } from './attack-target.ts';

// Polls that make models refuse, use up their tokens or break the answer format. Half are free and come from many
// addresses, half are paid by accounts with little money; providers are paid for all. The loss must stay within the
// settings: the allowance of each account and the daily cap of free polls. The spend ceiling is higher than both.

export interface AbuseSizes {
  readonly polls: number;
  readonly accounts: number;
  readonly addresses: number;
}

const FREE_FAILURES_U = 50_000;
const BALANCE_U = 150_000n;
const FREE_CAP_USD = '0.5';
const CEILING_U = 60_000_000;

export const ABUSE_SETTINGS = {
  TRUST_PROXY: '127.0.0.0/8',
  FREE_DAILY_CAP_USD: FREE_CAP_USD,
  PROVIDER_SPEND_HOUR_USD: String(CEILING_U / 1e6),
  PROVIDER_SPEND_DAY_USD: String(CEILING_U / 1e6),
};
const WORKER_SETTINGS = { FREE_FAILURES_USD: String(FREE_FAILURES_U / 1e6), FREE_FAILURES_SHARE: '0', OPS_PORT: '0' };

/** Models of the fast and free panels. All models of the strong panel answer normally. */
const REFUSING = ['sim/acorn-mini', 'sim/fjord-small', 'sim/harbor-moe'];
const LOOPING = { 'sim/birch-flash': 600, 'sim/ember-8b': 400, 'sim/iris-30b': 400 };
const BREAKING = ['sim/dune-quick'];

const ABUSERS_AT_ONCE = 24;
const HONEST_ALONE = 15;
const HONEST_EVERY_MS = 250;
const LOOK_EVERY_MS = 1_000;

export async function abuseModels(
  target: AttackTarget,
  sizes: AbuseSizes,
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const { stores } = target;
  const simulator = failingModels(target);
  const models = await simulator.listen({ host: '127.0.0.1', port: 0 });
  try {
    const worker = await startModule(target.group, 'worker', '@eloquentpoll/worker/main', {
      ...target.env,
      ...WORKER_SETTINGS,
      MODELS_BASE_URL: `${models}/v1`,
    });
    const scrape = async () => (await fetch(`${String(worker.ready.ops_url)}/metrics`)).text();
    const honestId = await createFundedAccount(stores.storage);
    const { key: honestKey } = await insertApiKey(stores.storage, honestId);
    const keys = await Promise.all(Array.from({ length: sizes.accounts }, () => smallAccount(target)));
    using caller = poster(target.port, ABUSERS_AT_ONCE + 2);
    const ask = (): ReturnType<typeof askHonestly> => askHonestly(caller.post, honestKey);

    const alone = [];
    for (let n = 0; n < HONEST_ALONE; n++) alone.push(await ask());
    const before = await scrape();
    const watching = watch(target, honestId);
    let over = false;
    const beside = (async () => {
      const answers = [];
      for (; !over; await sleep(HONEST_EVERY_MS)) answers.push(await ask());
      return answers;
    })();
    const statuses = await askBadQuestions(caller.post, sizes, keys, progress);
    over = true;
    const honest = await beside;
    const ended = await comesTrue(async () => (await countRunningPolls(target)) === 0, 60_000);
    const money = await readMoney(stores, honestId);
    const worst = await watching.end(money);
    const alarms = firing('SellingBelowCost', seriesBetween(before, await scrape()));
    const ceiling = await atTheCeiling(target, money.spendU, honestKey);
    const ledger = await checkLedger(stores.storage);
    const pool = (await balanceOf(stores.storage, FREE_POOL))!;

    const mayLoseU = sizes.accounts * FREE_FAILURES_U;
    const capU = Number(FREE_CAP_USD) * 1e6;
    const checks: Record<string, boolean> = {
      'every poll has ended': ended,
      'accounts cost no more than their allowances': worst.abusersU <= mayLoseU,
      'the free pool pays what free polls cost': worst.poolU <= 0 && Number(pool.usageU) <= capU,
      'provider cost minus billed never above the ceiling': worst.lossU <= CEILING_U && worst.spendU <= CEILING_U,
      'the alarm fires for the payer who is billed too little': alarms.some(({ labels }) => labels.payer === 'account'),
      'every honest poll is right': [...alone, ...honest].every(({ isRight }) => isRight),
      'at the ceiling polls are refused, and no micro-USD goes above it': ceiling.holds,
      'the ledger has no drift': ledger.length === 0,
    };
    return {
      figures: {
        sizes,
        statuses,
        money,
        worst,
        honest: latencies(honest),
        alone: latencies(alone),
        alarms,
        ceiling,
        checks,
      },
      counts: { polls: sizes.polls, 'checks that failed': Object.values(checks).filter((isSo) => !isSo).length },
      holds: Object.values(checks).every(Boolean),
      lines: [
        `a night of abuse: ${sizes.polls} polls, ${sizes.accounts} accounts, ${sizes.addresses} addresses: ${JSON.stringify(statuses)}`,
        ...(['abusers', 'pool', 'honest'] as const).map((name) => line(name, money)),
        `lost at most ${usd(worst.abusersU)} to accounts of ${usd(mayLoseU)} allowed, ${usd(worst.poolU)} beside the pool`,
        `spend at most ${usd(worst.spendU)} of ${usd(CEILING_U)}; at a ceiling of ${usd(ceiling.ceilingU)}: ${JSON.stringify(ceiling.statuses)}, at most ${usd(ceiling.mostU)}`,
        `alarm SellingBelowCost: ${alarms.map(({ labels, value }) => `${labels.payer}, providers ${value.toFixed(4)} USD`).join(', ') || 'silent'}`,
        `honest polls: ${honest.length}, alone ${JSON.stringify(latencies(alone))}, beside ${JSON.stringify(latencies(honest))}`,
        ...Object.entries(checks).map(([name, isSo]) => `${isSo ? 'yes' : 'NO '}  ${name}`),
      ],
    };
  } finally {
    await simulator.close();
  }
}

function failingModels({ panels }: AttackTarget) {
  const price = (id: string) => {
    const { input, output } = panels.model(id)!.price;
    return { prompt_usd_per_mtok: Number(input) / 1e6, completion_usd_per_mtok: Number(output) / 1e6 };
  };
  const failing = (kind: 'refusal' | 'length' | 'prose') => ({ failures: [{ kind, rate: 1 }] });
  const behaviours = panels.models().map(({ id }) => {
    const looping = Object.entries(LOOPING).find(([name]) => name === id);
    const failure = REFUSING.includes(id)
      ? failing('refusal')
      : BREAKING.includes(id)
        ? failing('prose')
        : looping
          ? { ...failing('length'), reasoning_tokens: looping[1] }
          : { voter: 'longest' as const };
    return [id, { price: price(id), ...failure }] as const;
  });
  return buildSimulator({ latencyScale: 0, models: Object.fromEntries(behaviours) });
}

async function smallAccount({ stores: { storage } }: AttackTarget): Promise<string> {
  const accountId = await createAccount(storage);
  await creditAccount(storage, { accountId, amountU: BALANCE_U, source: 'operator', idem: `abuse:${accountId}` });
  return (await insertApiKey(storage, accountId)).key;
}

async function askBadQuestions(post: Post, sizes: AbuseSizes, keys: readonly string[], progress: ProgressLine) {
  const statuses: Record<string, number> = {};
  let next = 0;
  const ask = async (): Promise<void> => {
    while (next < sizes.polls) {
      const n = next++;
      const isFree = n % 2 === 0;
      const { status } = await (isFree
        ? askFree(post, n >> 1, sizes.addresses)
        : askPaid(post, n >> 1, keys[(n >> 1) % keys.length]!));
      const name = `${isFree ? 'free' : 'paid'} ${status}`;
      statuses[name] = (statuses[name] ?? 0) + 1;
      progress.show(`${n} of ${sizes.polls} polls: ${JSON.stringify(statuses)}`);
    }
  };
  await Promise.all(Array.from({ length: ABUSERS_AT_ONCE }, ask));
  return Object.fromEntries(Object.entries(statuses).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Records the maximum of each figure until `end` is called. */
function watch({ stores }: AttackTarget, honestId: string) {
  const worst = { abusersU: 0, poolU: Number.NEGATIVE_INFINITY, lossU: 0, spendU: 0 };
  const note = ({ abusers, pool, honest, spendU }: Money): void => {
    worst.abusersU = Math.max(worst.abusersU, lossU(abusers));
    worst.poolU = Math.max(worst.poolU, lossU(pool));
    worst.lossU = Math.max(worst.lossU, lossU(abusers) + lossU(honest) + lossU(pool));
    worst.spendU = Math.max(worst.spendU, spendU);
  };
  const stop = new AbortController();
  const looking = (async () => {
    while (!stop.signal.aborted) {
      note(await readMoney(stores, honestId));
      await sleepUnlessAborted(LOOK_EVERY_MS, stop.signal);
    }
  })();
  return {
    async end(last: Money) {
      stop.abort();
      await looking;
      note(last);
      return worst;
    },
  };
}

/** Polls of a funded account, at a gateway whose ceiling is a little above what the attack has spent. */
async function atTheCeiling(target: AttackTarget, spentU: number, key: string) {
  const ceilingU = spentU + 60_000;
  const gateway = await startModule(target.group, 'gateway at its ceiling', '@eloquentpoll/gateway/main', {
    ...target.env,
    PROVIDER_SPEND_HOUR_USD: (ceilingU / 1e6).toFixed(6),
  });
  using caller = poster(Number(gateway.ready.port), 8);
  let mostU = 0;
  const answers: Answer[] = [];
  let next = 0;
  const ask = async (): Promise<void> => {
    while (next < 80) {
      answers.push(await askPaid(caller.post, next++, key));
      const { spendU } = await readMoney(target.stores, '00000000-0000-4000-8000-000000000000');
      mostU = Math.max(mostU, spendU);
    }
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  const free = await askFree(caller.post, 1, 1);
  const of = (wanted: number) => answers.filter(({ status }) => status === wanted);
  const honest = of(503).every(({ retryAfter }) => Number(retryAfter) > 0);
  return {
    ceilingU,
    mostU,
    statuses: { 200: of(200).length, 503: of(503).length, free: free.status },
    holds:
      mostU <= ceilingU &&
      of(503).length > 0 &&
      of(200).length + of(503).length === 80 &&
      honest &&
      free.status !== 200,
  };
}

const usd = (amountU: number): string => `${(amountU / 1e6).toFixed(4)} USD`;

const line = (name: 'abusers' | 'pool' | 'honest', money: Money): string =>
  `${name}: ${money[name].polls} polls, providers ${usd(money[name].providerU)}, billed ${usd(money[name].billedU)}`;

function latencies(answers: readonly { tookMs: number }[]) {
  const at = (q: number) =>
    Math.round(
      percentile(
        answers.map(({ tookMs }) => tookMs),
        q,
      ) ?? 0,
    );
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}
