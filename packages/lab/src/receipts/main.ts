import { parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { verifyMany } from './verify-many.ts';

// npm run receipts: receipts of random polls must be accepted offline, and forged ones refused. Exit code 1 otherwise.

const USAGE = `usage: npm run receipts -- [--receipts N] [--forgeries N] [--seed TEXT]

  --receipts N   receipts of drawn polls, default 10000
  --forgeries N  of them, by turns with a byte changed and with a false statement signed by the right key, default 1000
  --seed TEXT    the same again, default the time
`;

await runCommand(USAGE, async () => {
  const options = parseOptions(process.argv.slice(2), {
    receipts: { type: 'string', default: '10000' },
    forgeries: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now()) },
  });
  const receipts = wholeNumber('--receipts', options.receipts, 1, 1_000_000);
  const found = await verifyMany(receipts, wholeNumber('--forgeries', options.forgeries, 0, 1_000_000), options.seed);
  const { bytes, us } = found;
  const list = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
  const lines = [
    `seed ${options.seed}`,
    `${found.receipts - found.failed.length} of ${found.receipts} receipts hold (${list(found.reasons)})`,
    `${found.forged - found.accepted.length} of ${found.forged} forgeries are refused, by part: ${list(found.refusedBy)}`,
    `a receipt with proof and price has ${bytes.median} bytes (median; largest ${bytes.max})`,
    `statement ${us.build.toFixed(0)} us, signature ${us.sign.toFixed(0)} us, verification ${us.verify.toFixed(0)} us`,
    ...[...found.failed, ...found.accepted].slice(0, 20).map((problem) => `WRONG: ${problem}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return found.failed.length + found.accepted.length === 0 ? 0 : 1;
});
