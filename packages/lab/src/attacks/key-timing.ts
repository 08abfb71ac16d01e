import { Agent, request } from 'node:http';
import { crc32 } from 'node:zlib';
import { apiKeyPrefix, newApiKey } from '@eloquentpoll/gateway/api-key';
import { type Chance, chance } from '../terminal/chance.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';
import { comparePaired } from './paired-times.ts';

// The time of a refusal must not depend on whether a key is unknown, revoked, or begins like a valid key. Each round
// sends one key of each kind in random order, and one unknown key whose measured time is lengthened on purpose. A run
// that does not detect this planted delay proves nothing.

const MAX_US = 50;
const MIN_P = 0.01;
const KEYS = 200;
const PLANTED_US = 5;
const PLANTED = 'planted';
const WARM_UP = 300;

export async function keyTiming(
  target: AttackTarget,
  { samples }: { samples: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  // Keys are made beforehand, so that the attacker's work between two requests is always the same.
  const some = (make: () => string) => Array.from({ length: KEYS }, make);
  const revoked: string[] = [];
  while (revoked.length < KEYS) revoked.push(await target.revokedKey());
  const kinds: Record<string, readonly string[]> = {
    ...{ unknown: some(() => newApiKey()), revoked, 'same beginning': some(() => likeIt(target.key)) },
    [PLANTED]: some(() => newApiKey()),
  };
  const names = Object.keys(kinds);
  const tookUs = Object.fromEntries(names.map((name): [string, number[]] => [name, []]));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const draw = chance(target.key);
  for (let i = 0; i < samples + WARM_UP; i++) {
    for (const name of shuffled(names, draw)) {
      const us = await refusal(target.port, kinds[name]![i % KEYS]!, agent, name === PLANTED ? PLANTED_US : 0);
      if (i >= WARM_UP) tookUs[name]!.push(us);
    }
    if (i % 500 === 0) progress.show(`key timing: ${i} of ${samples} rounds`);
  }
  agent.destroy();

  const real = names.filter((name) => name !== PLANTED);
  const pairs = real.flatMap((a, i) => real.slice(i + 1).map((b) => comparedAs(a, b, tookUs, real.length)));
  const control = comparedAs(PLANTED, 'unknown', tookUs, 1);
  const isSeen = control.p < MIN_P;
  const apart = pairs.map(({ apartUs }) => Math.abs(apartUs));
  const ps = pairs.map(({ p }) => p);
  const medians = names.map((name) => `${name} ${percentile(tookUs[name]!, 0.5)?.toFixed(0)} us`);
  return {
    figures: { samples: samples * real.length, pairs, control },
    counts: { 'refused keys': samples * real.length },
    holds: isSeen && Math.max(...apart) < MAX_US && Math.min(...ps) >= MIN_P,
    lines: [
      `at most ${Math.max(...apart).toFixed(1)} us apart, p ${shortly(Math.min(...ps))} to ${shortly(Math.max(...ps))}; ${PLANTED_US} us that were planted are ${isSeen ? '' : 'NOT '}seen (p ${shortly(control.p)})`,
      `${samples * real.length} refused keys, medians: ${medians.join(', ')}`,
      ...[...pairs, control].map(
        ({ a, b, apartUs, betweenUs: [low, high], p }) =>
          `${a} - ${b}: ${apartUs.toFixed(1)} us (${low.toFixed(1)} to ${high.toFixed(1)}), p ${shortly(p)}`,
      ),
    ],
  };
}

/** `comparisons`: number of comparisons for the Bonferroni correction. */
function comparedAs(a: string, b: string, tookUs: Readonly<Record<string, number[]>>, comparisons: number) {
  const { p, ...apart } = comparePaired(tookUs[a]!, tookUs[b]!);
  return { a, b, ...apart, p: Math.min(1, comparisons * p) };
}

const shortly = (p: number): string => String(Number(p.toPrecision(2)));

function shuffled(names: readonly string[], draw: Chance): string[] {
  const order = [...names];
  for (let i = order.length - 1; i > 0; i--) {
    const other = draw.whole(0, i);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order;
}

/** Another key with the same visible prefix. Its checksum is valid; otherwise it would be refused without a lookup. */
function likeIt(key: string): string {
  const shown = apiKeyPrefix(key);
  const body = shown + newApiKey().slice(shown.length, -6);
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return body + digits;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function refusal(port: number, key: string, agent: Agent, plantedUs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const outgoing = request(
      { agent, host: '127.0.0.1', port, path: '/api/keys', headers: { authorization: `Bearer ${key}` } },
      (response) => {
        response.resume();
        response.on('end', () => {
          const until = process.hrtime.bigint() + BigInt(plantedUs * 1_000);
          while (process.hrtime.bigint() < until);
          if (response.statusCode === 401) resolve(Number(process.hrtime.bigint() - began) / 1_000);
          else reject(new Error(`a refused key was answered ${response.statusCode}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}
