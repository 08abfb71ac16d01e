import { ORDERLY_EXIT } from './rolling-rules.ts';
import type { CampaignRule } from './rule.ts';

/** An upgrade and its rollback go unnoticed, and each release can read what the other wrote. */
export const releaseRules: readonly CampaignRule[] = [
  ORDERLY_EXIT,
  {
    name: 'no poll fails that was not canceled',
    broken({ polls, operations }) {
      const canceled = new Set(operations.flatMap(({ kind, named }) => (kind === 'cancel' ? [...named] : [])));
      const failed = polls.filter(({ status, row }) => status === 'failed' && row === null);
      return failed.map(({ id }) => id).filter((id) => !canceled.has(id));
    },
  },
  {
    name: 'every answer is of the shape that its release declares, and of that which the older one declares',
    broken: ({ upgrade }) =>
      upgrade?.answersJudged === 0 ? ['no answer was judged'] : [...(upgrade?.wrongAnswers ?? [])],
  },
  {
    name: 'every call of the clients of both releases succeeds, and both get the same answer',
    broken: ({ upgrade }) => [...(upgrade?.clientFailures ?? [])],
  },
  {
    name: 'the migrated database is as a new one',
    broken: ({ upgrade }) => [...(upgrade?.schema ?? [])],
  },
];
