import type { CampaignRule } from './rule.ts';

const UNNOTICED: CampaignRule = {
  name: 'no answer from 500 on',
  broken: ({ operations }) =>
    operations.flatMap(({ n, kind, attempts }) =>
      attempts
        .filter(({ status }) => status !== null && status >= 500)
        .map(({ status, code }) => `operation ${n} (${kind}): ${status} ${code}`),
    ),
};

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
];
