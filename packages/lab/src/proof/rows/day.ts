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
        'two hours: 297,530 polls, 633,451 requests, 364,576 answers judged, no alarm, resident memory flat after the rush hour, all 10,114 webhooks there. One answer was wrong: an MCP call was answered with an error in the second in which 18 requests were a 503, because Postgres could not be reached on a machine that was wholly busy. Two kinds of bounds were broken: the heap of gateways after collection was 59 MB after ten minutes, 65 MB after fifty and 67 MB after two hours (5 % are allowed); 21 errors were logged, 19 of them in that second, two of webhooks to endpoints that were removed in that moment (mended since). The hour before it: seven wrong, six of them 503 in one moment, and one list that named a poll deleted meanwhile (mended)',
      takes:
        'a machine whose stores answer within a second throughout, and what gateways add to their heap between ten and fifty minutes named',
    },
  },
];
