import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { receiptPrice, receiptSigner, statementText } from '@eloquentpoll/polls';
import t, { type Test } from 'tap';
import { drawnPoll } from '../src/receipts/drawn-polls.ts';
import { sealedDay } from '../src/receipts/sealed-day.ts';

// slow: 4 s

const CLI = fileURLToPath(new URL('../../client/src/cli/main.ts', import.meta.url));
const signer = receiptSigner(Buffer.alloc(32, 5));
const poll = drawnPoll('of the verify command');
const { response } = poll;
const statement = statementText(poll);
const day = sealedDay('2026-11-20', [statement, statementText(drawnPoll('beside it'))]);
const receipt = { ...signer.sign(statement), proof: day.proofOf(statement), price: receiptPrice(poll) };
const keys = { keys: signer.keys };
const days = { days: [day.published] };

async function verify(args: readonly string[], url = 'http://127.0.0.1:9') {
  const child = spawn(process.execPath, [CLI, 'verify', ...args], {
    env: { ...process.env, EP_URL: url, NO_COLOR: '1' },
  });
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((done) => child.once('exit', done)),
  ]);
  return { out, err, code };
}

const folder = t.testdir();
function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}
const offline = ['--keys', file('jwks.json', keys), '--days', file('days.json', days)];

t.test('a receipt in a file is verified without any service', async (t) => {
  const { out, err, code } = await verify([file('receipt.json', receipt), ...offline]);
  t.equal(err, '');
  t.equal(code, 0);
  t.match(out, /^Everything that could be checked is valid\.\nEP-2026-11-20-\w{16}\n/);
  for (const part of ['signature', 'panel', 'tally', 'odds', 'decision', 'price', 'inclusion'])
    t.match(out, new RegExp(`^  ${part} +ok `, 'm'));
  t.match(out, / {2}result +unchecked {2}The published result is not at hand\./);
});

t.test('a proof is nothing without the published seal of its day, since anyone can make one', async (t) => {
  const made = sealedDay('2026-11-20', [statement]);
  const alone = file('alone.json', { ...receipt, proof: made.proofOf(statement) });
  const { out, code } = await verify([alone, ...offline.slice(0, 2)]);
  t.equal(code, 0, out);
  t.match(out, /^ {2}inclusion +unchecked {2}The proof is of 2026-11-20, whose published seal is not at hand/m);
  t.match(await verify([alone, ...offline]), { code: 6, out: /^This receipt is not valid: inclusion\./ });
});

t.test('days that were sealed anew are noticed, because a seal follows from the one before', async (t) => {
  const next = sealedDay('2026-11-21', [statementText(drawnPoll('of the next day'))], day.published.seal);
  const anew = sealedDay('2026-11-21', [statementText(drawnPoll('put in its place'))]);
  const known = (...published: unknown[]) => [
    file('chained.json', receipt),
    ...offline.slice(0, 2),
    '--days',
    file('days-chained.json', { days: published }),
  ];
  t.match(await verify(known(next.published, day.published)), { code: 0 });
  t.match(await verify(known(anew.published, day.published)), {
    code: 6,
    out: /The seal of 2026-11-21 does not follow from that of the day before it/,
  });
});

t.test('one that was changed names the part that fails, for people and for programs', async (t) => {
  const other = { ...receipt, proof: { ...receipt.proof, index: 1 - receipt.proof.index } };
  const changed = file('changed.json', other);
  const shown = await verify([changed, ...offline]);
  t.equal(shown.code, 6);
  t.match(shown.out, /^This receipt is not valid: inclusion\./);
  const { good, parts } = JSON.parse((await verify([changed, ...offline, '--json'])).out);
  t.equal(good, false);
  t.match(
    parts.find(({ state }: { state: string }) => state === 'fails'),
    { name: 'inclusion' },
  );
});

/** A service that publishes this, whatever the id. */
async function publish(t: Test, { signed = receipt, known = keys, result = response } = {}) {
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(request.url!);
    const path = request.url!.split('?')[0]!;
    const body = path.endsWith('/receipt')
      ? signed
      : path.endsWith('jwks.json')
        ? known
        : path.endsWith('/days')
          ? days
          : result;
    answer.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

t.test('by its id everything is fetched, and compared with the published result', async (t) => {
  const { url, asked } = await publish(t);
  const { out, code } = await verify([response.poll_id], url);
  t.equal(code, 0);
  t.match(out, /^Everything is valid\./);
  t.ok(asked.includes(`/api/receipts/days?day=2026-11-20&result_id=${response.poll_id}`));
});

t.test('keys and days that were saved count for an id, too: the service may have changed its own', async (t) => {
  const forger = receiptSigner(Buffer.alloc(32, 6));
  const forged = { ...receipt, ...forger.sign(statement) };
  const { url, asked } = await publish(t, { signed: forged, known: { keys: forger.keys } });
  t.match(await verify([response.poll_id], url), { code: 0 }, 'by its own keys everything is valid');
  asked.length = 0;
  const saved = await verify([response.poll_id, ...offline], url);
  t.match(saved, { code: 6, out: /^This receipt is not valid: key\./ });
  t.same(asked.toSorted(), [`/api/results/${response.poll_id}`, `/api/results/${response.poll_id}/receipt`]);
});

t.test('the valid receipt of another poll is not that of the id', async (t) => {
  const { url } = await publish(t);
  const shown = await verify(['EP-2026-11-20-0123456789abcdef'], url);
  t.match(shown, { code: 6, out: /^This receipt is not valid: result\.\n/ });
  t.match(shown.out, `The receipt is of ${response.poll_id}, not of EP-2026-11-20-0123456789abcdef.`);
});

t.test('what cannot be read is said', async (t) => {
  const wrong = await verify(['no-such-file']);
  t.equal(wrong.code, 2);
  t.match(wrong.err, /neither a result id \(EP-…\) nor a file/);
  const notKeys = await verify([file('receipt.json', receipt), '--keys', file('other.json', days)]);
  t.match(notKeys, { code: 2, err: /is not JSON with a list of keys/ });
  const noKey = await verify([file('receipt.json', receipt), '--keys', file('null.json', { keys: [null] })]);
  t.match(noKey, { code: 2, err: /is not JSON with a list of keys/ });
  const junk = await verify([file('junk.json', 'not a receipt'), ...offline]);
  t.match(junk, { code: 6, out: /is not valid: form/ });
});
