import { crc32 } from 'node:zlib';
import t from 'tap';
import { looksLikeApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { principalOfKey } from '../../src/accounts/principal.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const { app, context, keyWith } = await build(t, { rateLimits: readPolicies('failed_authentication=999999999/60') });

/** Recomputes the checksum, as an attacker who knows the format does. */
function withChecksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return body + digits;
}

t.test(
  '[§A6-bad-bearer-401] a key with any one bit flipped is a 401, with a wrong checksum or a corrected one',
  async (t) => {
    const { key, accountId } = await keyWith(0);
    t.match(await principalOfKey(context, key, '192.0.2.1'), { accountId });
    let accepted = 0;
    for (let at = 0; at < key.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = key.slice(0, at) + String.fromCharCode(key.charCodeAt(at) ^ (1 << bit)) + key.slice(at + 1);
        if (await principalOfKey(context, changed, '192.0.2.1')) accepted += 1;
      }
    }
    t.equal(accepted, 0, 'bit flips');

    let lookups = 0;
    for (let at = 'ep_k_'.length; at < key.length - 6; at++) {
      for (const other of ['0', 'Z', 'a']) {
        if (key[at] === other) continue;
        const forged = withChecksum(key.slice(0, at) + other + key.slice(at + 1, -6));
        t.ok(looksLikeApiKey(forged));
        lookups += 1;
        if (await principalOfKey(context, forged, '192.0.2.1')) accepted += 1;
      }
    }
    t.ok(lookups > 50);
    t.equal(accepted, 0, 'other keys of the right form');
  },
);

t.test('[§A6-bad-bearer-401] unknown, revoked and malformed keys get identical answers', async (t) => {
  const { key, bearer } = await keyWith(0);
  const [{ id }] = (await app.inject({ url: '/api/keys', headers: bearer })).json();
  await app.inject({ method: 'DELETE', url: `/api/keys/${id}`, headers: bearer });
  const answers = new Set<string>();
  for (const wrong of [
    key,
    newApiKey(),
    key.slice(0, -1),
    `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    'x',
  ]) {
    const { statusCode, body, headers } = await app.inject({
      url: '/api/keys',
      headers: { authorization: `Bearer ${wrong}`, 'x-request-id': 'the-same-id' },
    });
    answers.add(JSON.stringify([statusCode, body, headers['www-authenticate']]));
  }
  t.equal(answers.size, 1, 'revoked, unknown, cut, mistyped, nonsense');
});
