import type { ProofRow } from '../proof-row.ts';
import { SERVICE } from './paths.ts';

/** Everything at once, as it is used. */
export const DAY: readonly ProofRow[] = [
  {
    id: 'day',
    says: 'On a normal day everything is answered right, and nothing grows or alarms',
    target:
      '0 in two hours at 60 % of the machine: every way to ask, pages, batches, webhooks, audits, money; memory flat after collection; tables, queues and logs bounded; no alarm',
    command:
      '`npm run day -- --minutes 120 --load .6 --docs --continue docs/proofs/runs.jsonl`, which writes docs/day.md and its picture',
    covers: [...SERVICE, 'packages/webhooks/src', 'infra/monitoring'],
    rate: { failures: ['answers wrong'], of: 'answers judged' },
    none: ['webhooks missing', 'ledger violations', 'alarms fired', 'bounds broken'],
    needs: [{ what: 'minutes', atLeast: 120 }],
    short: {
      tried:
        '45 minutes, which found ended runs that stayed in memory and a result that a second gateway did not have yet, webhooks that came before the day knew their secret, and stopped calls that cost more than prices assumed; an hour, which found compressed results that each kept a block of 16 kB or more in memory (all mended). Of the wrong answers of that hour 33 are refusals with 503 within two seconds in which the disk of the machine wrote nothing, by the logs of Postgres and Redis, some 400 fell in forty seconds in which a build ran on the same machine, and 1,100 are webhooks to an endpoint whose creation was answered 503 in one of these, so that the judge never had its secret',
      takes: 'the same again without what it found, for two hours',
    },
  },
];
