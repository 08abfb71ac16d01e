// Floods a whole service with free polls and says what the operator paid. Exit code 1 when the cap did not hold.
//
//   DATABASE_URL=... REDIS_URL=... node packages/lab/src/free-flood/main.ts [--addresses 10000] [--cap 0.05] [--json]
import { parseArgs } from 'node:util';
import { runExperiment } from '../fixture/experiment.ts';
import { progressOn } from '../terminal/progress.ts';
import { floodHolds, floodWithFreePolls } from './flood.ts';

const { values } = parseArgs({
  options: {
    addresses: { type: 'string', default: '10000' },
    cap: { type: 'string', default: '0.05' },
    json: { type: 'boolean', default: false },
  },
});
const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
const addresses = Number(values.addresses);
if (!databaseUrl || !redisUrl || !(addresses >= 1 && addresses <= 131_072)) {
  console.error('free-flood needs DATABASE_URL, REDIS_URL and 1 to 131072 --addresses');
  process.exit(2);
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());

const servers = { databaseUrl, redisUrl };
const report = await runExperiment(servers, interrupted.signal, (bench) =>
  floodWithFreePolls(bench, { addresses, atOnce: 64, capUsd: values.cap }, progressOn(process.stderr)),
);
const holds = floodHolds(report);
if (values.json) console.log(JSON.stringify({ holds, ...report }, null, 2));
else {
  const { statuses, polls, spent_u, most_at_stake_u, cap_u, seconds } = report;
  console.log(`${addresses} addresses in ${seconds} s: ${JSON.stringify(statuses)}, ${polls} polls`);
  console.log(`spent ${spent_u}, at stake at most ${most_at_stake_u} of ${cap_u} micro-USD`);
  console.log(holds ? 'the cap held' : `the cap did NOT hold: ${JSON.stringify(report)}`);
}
process.exitCode = holds ? 0 : 1;
