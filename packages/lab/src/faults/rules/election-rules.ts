import { electionFaults, isPartialAndCertain, shortOf } from '../../fixture/election.ts';
import type { CampaignHistory, StoredPoll } from '../history.ts';
import type { CampaignRule } from './rule.ts';

// The stored election must follow from the stored votes, and callers must get the stored election.

export const electionRules: readonly CampaignRule[] = [
  {
    name: 'tally, winner, tie and status of every stored result follow from its votes, which are those that are stored',
    broken(history) {
      const stored = Map.groupBy(history.votes, ({ pollId }) => pollId);
      return history.polls.flatMap((poll) => {
        if (poll.resultStatus === null || poll.isEmptied) return [];
        return storedFaults(history, poll, stored.get(poll.id) ?? []).map((what) => `${poll.id} ${what}`);
      });
    },
  },
  {
    name: 'callers are answered the election that is stored, also in short and for rows of a batch',
    broken({ operations, polls }) {
      const pollOf = new Map(polls.flatMap((poll) => [poll.id, poll.resultId].map((id) => [id, poll] as const)));
      return operations.flatMap(({ n, kind, answers }) =>
        [...answers].flatMap(([id, said]) => {
          const poll = pollOf.get(id);
          if (!poll || poll.isEmptied) return [];
          const isShort = 'winner' in said;
          const kept = poll.election && (isShort ? shortOf(poll.election) : poll.election);
          return JSON.stringify(said) === JSON.stringify(kept)
            ? []
            : [
                `operation ${n} (${kind}): ${id} is answered ${JSON.stringify(said)}, stored is ${JSON.stringify(kept)}`,
              ];
        }),
      );
    },
  },
];

function storedFaults(
  { upgrade }: CampaignHistory,
  { election, options, modelIds, resultStatus, resultRow, confidence }: StoredPoll,
  stored: CampaignHistory['votes'],
): string[] {
  if (election === null || options === null) return ['has a result without an election'];
  const wrong = electionFaults(election, { seats: modelIds.length, hasOlderRules: upgrade !== null });
  if (JSON.stringify(election.options) !== JSON.stringify(options)) wrong.push(`has the options ${election.options}`);
  // An older release counted failed models as absent.
  if (upgrade === null && isPartialAndCertain({ status: election.status, confidence }))
    wrong.push('is partial and has confidence 1');
  const said = election.votes.map(({ model_id, chosen_option }) => `${model_id}: ${chosen_option}`);
  const kept = stored.map(({ modelId, option }) => `${modelId}: ${textOf(options, option)}`);
  if (said.toSorted().join('; ') !== kept.toSorted().join('; ')) wrong.push(`says ${said}, stored votes are ${kept}`);
  const isRowSame =
    resultStatus === election.status &&
    resultRow?.winner === election.winning_option &&
    resultRow.isTie === election.is_tie;
  if (!isRowSame) wrong.push(`is listed as ${resultStatus}, ${resultRow?.winner}, its response says otherwise`);
  return wrong;
}

const textOf = (options: readonly string[], option: number | null): string | null =>
  option === null ? null : (options[option] ?? `option ${option}`);
