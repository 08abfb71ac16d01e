import type { Fault } from '../fault-kinds.ts';
import type { Attempt } from '../operations.ts';
import { type CampaignRule, label } from './rule.ts';

const UNNOTICED: CampaignRule = {
  name: 'no answer from 500 on',
  broken: ({ operations }) =>
    operations.flatMap(({ n, kind, attempts }) =>
      attempts
        .filter(({ status }) => status !== null && status >= 500)
        .map(({ status, code }) => `operation ${n} (${kind}): ${status} ${code}`),
    ),
};

/** A connection that is not accepted yet when its gateway stops to listen is lost. */
const UNACCEPTED_MS = 1_000;

/** A caller has no load balancer that sends its requests past a gateway that restarts: only those may be lost. */
const ANSWERED: CampaignRule = {
  name: 'no request is lost but one that was sent to a gateway while it was away',
  broken: ({ operations, faults }) =>
    operations.flatMap((operation) =>
      operation.attempts
        .filter((attempt) => wasLost(attempt) && !wasAway(attempt, faults))
        .map(({ gateway, path, code }) => `${label(operation)}: ${code} from ${gateway} ${path}`),
    ),
};

/** A stream that has begun ends with its gateway, and continues at another one. */
const wasLost = ({ status, opened, answered }: Attempt): boolean =>
  status === null && opened === null && answered !== null;

/** What ends with the campaign is not replaced. */
const wasAway = ({ gateway, asked }: Attempt, faults: readonly Fault[]): boolean =>
  faults.some(
    ({ target, at, replacedAt = Number.POSITIVE_INFINITY }) =>
      target === gateway && asked > at - UNACCEPTED_MS && asked < replacedAt + UNACCEPTED_MS,
  );

export const ORDERLY_EXIT: CampaignRule = {
  name: 'every process that is asked to end exits with code 0',
  broken: ({ faults }) =>
    faults.filter(({ exit }) => exit !== undefined && exit !== 0).map(({ target, exit }) => `${target}: ${exit}`),
};

/** Graceful restarts go unnoticed. */
export const rollingRules: readonly CampaignRule[] = [
  UNNOTICED,
  {
    name: 'no poll fails',
    broken: ({ polls }) => polls.filter(({ status }) => status === 'failed').map(({ id }) => id),
  },
  ORDERLY_EXIT,
  ANSWERED,
];
