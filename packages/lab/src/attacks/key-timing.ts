import { Agent, request } from 'node:http';
import { crc32 } from 'node:zlib';
import { apiKeyPrefix, newApiKey } from '@eloquentpoll/gateway/api-key';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';
import type { Field } from './field.ts';
import type { Attack } from './main.ts';

// How long a refusal takes says nothing about a key: unknown, revoked, or right at its beginning. The three are asked
// in turns, so that whatever else happens on the machine happens to all. Compared are the fastest tenths, as an attacker would
// who wants to know: what else a machine does only ever adds to a time.

const MAX_US = 50;
const MIN_P = 0.01;
const KEYS = 200;

export async function keyTiming(
  field: Field,
  { samples }: { samples: number },
  progress: ProgressLine,
): Promise<Attack> {
  // Made beforehand, all of them: what the attacker does between two requests must not differ.
  const some = <T>(make: () => T): T[] => Array.from({ length: KEYS }, make);
  const kinds: Record<string, readonly string[]> = {
    unknown: some(newApiKey),
    revoked: await Promise.all(some(() => field.revokedKey())),
    'same beginning': some(() => likeIt(field.key)),
  };
  const names = Object.keys(kinds);
  const tookUs: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = -300; i < samples; i++) {
    // Each round in another order, or the first of a round would be another kind of request.
    for (const name of i % 2 === 0 ? names : names.toReversed()) {
      const us = await refusal(field.port, kinds[name]![(i + KEYS * 2) % KEYS]!, agent);
      if (i >= 0) tookUs[name]!.push(us);
    }
    if (i % 500 === 0) progress.show(`key timing: ${i} of ${samples}`);
  }
  agent.destroy();
  const at = (name: string, q: number): number => Math.round((percentile(tookUs[name]!, q) ?? 0) * 10) / 10;
  const quickest = Object.fromEntries(names.map((name) => [name, at(name, 0.1)]));
  const medians = Object.fromEntries(names.map((name) => [name, at(name, 0.5)]));
  const pairs = names.flatMap((a, i) =>
    names.slice(i + 1).map((b) => ({
      a,
      b,
      us: Math.abs(quickest[a]! - quickest[b]!),
      median_us: Math.abs(medians[a]! - medians[b]!),
      p: mannWhitney(tookUs[a]!, tookUs[b]!),
    })),
  );
  const worst = Math.max(...pairs.map(({ us }) => us));
  return {
    figures: { samples: samples * names.length, quickest_us: quickest, medians_us: medians, pairs },
    holds: worst < MAX_US,
    lines: [
      `${samples * names.length} refused keys: ${names.map((name) => `${name} ${quickest[name]} us (median ${medians[name]})`).join(', ')}`,
      ...pairs.map(
        ({ a, b, us, median_us, p }) =>
          `${a} and ${b}: ${us.toFixed(1)} us apart (medians ${median_us.toFixed(1)}), Mann-Whitney p = ${p.toPrecision(2)}${p < MIN_P ? ' (below 0.01)' : ''}`,
      ),
    ],
  };
}

/** Another key whose shown beginning is the same; its checksum fits, or anybody would see without asking that it is none. */
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

function refusal(port: number, key: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const outgoing = request(
      { agent, host: '127.0.0.1', port, path: '/api/keys', headers: { authorization: `Bearer ${key}` } },
      (response) => {
        response.resume();
        response.on('end', () => {
          if (response.statusCode === 401) resolve(Number(process.hrtime.bigint() - began) / 1_000);
          else reject(new Error(`a refused key was answered ${response.statusCode}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Two-sided p by the normal approximation, which these numbers are large enough for. */
function mannWhitney(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, first: true })), ...b.map((value) => ({ value, first: false }))].sort(
    (x, y) => x.value - y.value,
  );
  let rankSum = 0;
  for (let i = 0; i < all.length; ) {
    let j = i;
    while (j < all.length && all[j]!.value === all[i]!.value) j++;
    // Equal values share the mean of their ranks.
    const rank = (i + 1 + j) / 2;
    for (let k = i; k < j; k++) if (all[k]!.first) rankSum += rank;
    i = j;
  }
  const [n, m] = [a.length, b.length];
  const u = rankSum - (n * (n + 1)) / 2;
  const z = (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  return erfc(Math.abs(z) / Math.SQRT2);
}

/** Abramowitz and Stegun 7.1.26, good to seven digits. */
function erfc(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  return (
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x)
  );
}
