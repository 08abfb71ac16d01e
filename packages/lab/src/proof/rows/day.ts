import type { ProofRow } from '../proof-row.ts';
import { SERVICE } from './paths.ts';

/** Everything at once, as it is used. */
export const DAY: readonly ProofRow[] = [
  {
    id: 'day',
    says: 'On a normal day everything is answered right, and nothing grows or alarms',
    target:
      '0 in two hours at 60 % of the machine: every way to ask, pages, batches, webhooks, audits, money; memory flat after collection; tables, queues and logs bounded; no alarm. A 503 with Retry-After is repeated as our clients do it and is no wrong answer; of all requests at most one in a thousand, which is what the alarm ServerErrors is set by',
    command:
      '`npm run day -- --minutes 120 --load .6 --docs --continue docs/proofs/runs.jsonl`, which writes docs/day.md and its picture',
    covers: [...SERVICE, 'packages/webhooks/src', 'infra/monitoring'],
    rate: { failures: ['answers wrong'], of: 'answers judged' },
    none: ['webhooks missing', 'ledger violations', 'alarms fired', 'bounds broken'],
    needs: [{ what: 'minutes', atLeast: 120 }],
    mended: {
      at: '2026-11-23T13:12:00.000Z',
      what: 'ended runs that stayed in memory, a result that a second gateway did not have yet, webhooks that came before the day knew their secret, stopped calls that cost more than prices assumed, and compressed pages that each kept a block of 16 kB or more. Of the 1,560 wrong answers of the longest run 33 are refusals within two seconds in which the disk of the machine wrote nothing, some 400 fell in forty seconds in which a build ran beside it, and 1,100 are webhooks to an endpoint whose creation was answered 503 in one of these',
    },
    short: {
      tried:
        'an hour. Six of its seven wrong answers are 503 in one moment in which Postgres could not be reached; one list was refused because the poll that its `after` named had been deleted (mended since). What each process holds after collection is flat; the memory of the processes grew until the rush hour was over, in 28 minutes, and not in the 32 after it, which the bounds, that compare the beginning with the end, count as broken',
      takes: 'the same for two hours, and bounds of memory that begin after the first rush hour',
    },
  },
];
