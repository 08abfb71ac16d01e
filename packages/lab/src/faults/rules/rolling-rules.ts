import type { CampaignRule } from './rule.ts';

/** Restarts in good order go unnoticed. */
export const rollingRules: readonly CampaignRule[] = [
  {
    name: 'no answer from 500 on',
    broken: ({ operations }) =>
      operations.flatMap(({ n, kind, attempts }) =>
        attempts
          .filter(({ status }) => status !== null && status >= 500)
          .map(({ status, code }) => `operation ${n} (${kind}): ${status} ${code}`),
      ),
  },
  {
    name: 'no poll fails',
    broken: ({ polls }) => polls.filter(({ status }) => status === 'failed').map(({ id }) => id),
  },
  {
    name: 'every process exits with code 0',
    broken: ({ faults }) => faults.filter(({ exit }) => exit !== 0).map(({ target, exit }) => `${target}: ${exit}`),
  },
];
