import { randomBelow, randomBuffer } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build, type Gateway } from '../fixtures/build.ts';
import { times } from './full-scale.ts';

// One peer is one client, whatever it says about where a request comes from.

const LIMIT = 1_000_000;
const rateLimits = readPolicies(`read=${LIMIT}/3600`);

const random = (count: number) => [...randomBuffer(count)].join('.');
const spellings = [
  () => random(4),
  () => `${random(4)}, ${random(4)}`,
  () => `2001:db8::${randomBuffer(2).toString('hex')}`,
  () => `[2001:db8::1]:${randomBelow(65_536)}`,
  () => `::ffff:${random(4)}`,
  () => `${random(4)}:80`,
  () => 'unknown',
  () => randomBuffer(8).toString('base64'),
  () => ',,,',
  () => `127.0.0.1, ${random(4)}`,
];

async function bucketsOf({ app }: Gateway, requests: number, more: (spelling: string) => string): Promise<number> {
  const left: number[] = [];
  for (let i = 0; i < requests; i++) {
    const spelling = spellings[i % spellings.length]!();
    const { headers } = await app.inject({
      url: '/api/profiles',
      remoteAddress: '198.51.100.7',
      headers: {
        'x-forwarded-for': more(spelling),
        'x-real-ip': random(4),
        forwarded: `for=${random(4)}`,
        'cf-connecting-ip': random(4),
        'true-client-ip': random(4),
      },
    });
    left.push(Number(headers['ratelimit-remaining']));
  }
  // In one bucket each call finds one less.
  return 1 + left.filter((remaining, i) => i > 0 && remaining !== left[i - 1]! - 1).length;
}

t.test('X-Forwarded-For from an untrusted peer: one rate-limit bucket for all spellings', async (t) => {
  const gateway = await build(t, { rateLimits });
  t.equal(await bucketsOf(gateway, times(60, 10_000), (spelling) => spelling), 1);
});

t.test('X-Forwarded-For from a trusted proxy: one bucket per address that the proxy saw', async (t) => {
  const gateway = await build(t, { rateLimits, trustedProxies: ['198.51.100.0/24'] });
  t.equal(await bucketsOf(gateway, times(60, 10_000), (spelling) => `${spelling}, 203.0.113.9`), 1);
});
