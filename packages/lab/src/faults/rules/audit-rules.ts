import type { AuditAttempt, AuditHistory, MadeAudit } from '../audited.ts';
import type { CampaignHistory } from '../history.ts';
import { wrongAnswer } from './call-rules.ts';
import { type CampaignRule, countBy, seatKey } from './rule.ts';

// What an audit stores, and what its calls cost: the pool of audits pays for them, and no caller.

/** After so many polls that were selected, most of them must have been audited. */
const MANY = 100;
const MOST = 0.5;

export const auditRules: readonly CampaignRule[] = [
  {
    name: 'every answered poll that was selected is audited once or counted as not audited, and no other is',
    broken: ({ audits }) => (audits ? missingAudits(audits) : []),
  },
  {
    name: 'a vote of an audit is what the poll had heard, or what its model answered by the own record of the provider',
    broken: (history) =>
      (history.audits?.made ?? []).flatMap((audit) =>
        wrongVotes(history, audit).map((what) => `audit of ${audit.pollId}: ${what}`),
      ),
  },
  {
    name: 'what is set aside for an audit is settled once, and an audit costs what its pool was charged for it',
    broken: ({ audits }) => (audits ? wrongCharges(audits) : []),
  },
  {
    name: 'most polls that were selected are audited',
    broken: ({ audits }) => {
      const { drawn = [], made = [] } = audits ?? {};
      return drawn.length >= MANY && made.length < MOST * drawn.length ? [`${made.length} of ${drawn.length}`] : [];
    },
  },
];

function missingAudits({ drawn, made, unmade, waiting }: AuditHistory): string[] {
  const known = new Set(made.map(({ pollId }) => pollId));
  const selected = new Set(drawn);
  const missing = drawn.filter((id) => !known.has(id) && !waiting.includes(id));
  return [
    ...waiting.map((id) => `that of ${id} still waits`),
    // Which ones were given up is not kept.
    ...(missing.length > unmade ? [`${missing.length} are missing, ${unmade} are counted: ${missing.join(', ')}`] : []),
    ...[...countBy(made, ({ pollId }) => pollId)].filter(([, times]) => times > 1).map(([id]) => `${id} has several`),
    ...made.filter(({ pollId }) => !selected.has(pollId)).map(({ pollId }) => `${pollId} was not selected`),
  ];
}

function wrongVotes({ polls, votes, calls }: CampaignHistory, { pollId, votes: said, heard }: MadeAudit): string[] {
  const poll = polls.find(({ id }) => id === pollId);
  if (!poll) return ['there is no such poll'];
  const stored = new Map(votes.filter((vote) => vote.pollId === pollId).map((vote) => [vote.modelId, vote.option]));
  const twice = [...countBy(said, ({ modelId }) => String(modelId))].filter(([, times]) => times > 1);
  return [
    ...twice.map(([model]) => `${model} voted twice`),
    ...said.flatMap(({ modelId, option }, i) => {
      const seat = modelId === null ? -1 : poll.modelIds.indexOf(modelId);
      if (seat < 0) return [`${modelId} is not in the panel`];
      if (i < heard) {
        const isSame = stored.get(modelId!) === option;
        return isSame ? [] : [`${modelId} is said to vote ${option}, stored is ${stored.get(modelId!)}`];
      }
      if (option === null) return [];
      const own = calls.filter((call) => seatKey(call) === seatKey({ pollId, seat }));
      return wrongAnswer(option, poll.options, own).map((what) => `${modelId} ${what}`);
    }),
  ];
}

function wrongCharges({ made, attempts }: AuditHistory): string[] {
  const newest = new Map<string, AuditAttempt>();
  for (const attempt of attempts)
    if (attempt.epoch >= (newest.get(attempt.pollId)?.epoch ?? 0)) newest.set(attempt.pollId, attempt);
  return [
    ...attempts
      .filter(({ posts, voids, postedU, heldU }) => posts + voids !== 1 || postedU > heldU)
      .map(
        ({ pollId, epoch, posts, voids, postedU, heldU }) =>
          `attempt ${epoch} at ${pollId}: ${posts} posts, ${voids} voids, ${postedU} of ${heldU}`,
      ),
    ...made.flatMap(({ pollId, costU }) => {
      const { postedU = 0n, heldU = 0n } = newest.get(pollId) ?? {};
      const isCharged = postedU === costU || (postedU === heldU && costU > heldU);
      return isCharged ? [] : [`that of ${pollId} cost ${costU}, its pool was charged ${postedU} of ${heldU}`];
    }),
  ];
}

/** How often audits were made, and how often again because a worker had died. */
export function auditCounts({ drawn, made, unmade, attempts }: AuditHistory): Record<string, number> {
  return {
    'polls selected for an audit': drawn.length,
    audits: made.length,
    'audits that were given up': unmade,
    'audits that another worker began again': attempts.filter(({ epoch }) => epoch > 1).length,
  };
}
