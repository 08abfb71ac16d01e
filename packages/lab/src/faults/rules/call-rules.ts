import { optionDigest } from '../../fixture/election.ts';
import type { ModelExchange } from '../../fixture/simulators.ts';
import { type CampaignRule, countBy, seatKey } from './rule.ts';

/** The call, one retry, one repair. */
const MAX_ATTEMPTS = 3;

export const callRules: readonly CampaignRule[] = [
  {
    name: 'a model is asked at most once per claim of its poll, and at most three times for that vote',
    broken({ calls, journal, audits }) {
      // An audit asks the models whose calls its poll had aborted again.
      const begun = [...journal.filter(({ kind }) => kind === 'claimed'), ...(audits?.attempts ?? [])];
      const claims = countBy(begun, ({ pollId }) => pollId);
      // Each of the three calls once: the number of a call is said by its worker, who could say the same one again.
      return [
        ...[...countBy(calls, (call) => `${seatKey(call)} call ${call.attempt}`)]
          .filter(([call, times]) => times > (claims.get(call.split(' ')[0]!) ?? 0))
          .map(([call, times]) => `${call} made ${times} times, ${claims.get(call.split(' ')[0]!) ?? 0} claims`),
        ...calls.filter(({ attempt }) => attempt > MAX_ATTEMPTS).map((call) => `${seatKey(call)}: ${call.attempt}`),
      ];
    },
  },
  {
    name: 'every vote that is stored is for the option that its model answered, by the own record of the provider',
    broken({ votes, calls, polls }) {
      const pollOf = new Map(polls.map((poll) => [poll.id, poll]));
      const answered = Map.groupBy(calls, seatKey);
      return votes.flatMap((vote) => {
        const { pollId, seat, modelId, option } = vote;
        const poll = pollOf.get(pollId);
        const wrong = [
          ...(poll && poll.modelIds[seat] !== modelId
            ? [`is of ${modelId}, its seat is ${poll.modelIds[seat]}'s`]
            : []),
          ...(option === null ? [] : wrongAnswer(option, poll?.options ?? null, answered.get(seatKey(vote)) ?? [])),
        ];
        return wrong.map((what) => `${seatKey(vote)} ${what}`);
      });
    },
  },
];

/** The options of a deleted poll are gone, so only the fact that its model answered can be checked. */
export function wrongAnswer(
  option: number,
  options: readonly string[] | null,
  calls: readonly ModelExchange[],
): string[] {
  if (calls.length === 0) return ['was never asked'];
  const digests = calls.flatMap(({ optionDigest }) => (optionDigest === null ? [] : [optionDigest]));
  if (digests.length === 0) return ['has a vote, its model gave none'];
  if (options === null) return [];
  const text = options[option];
  if (text === undefined) return [`votes for option ${option} of ${options.length}`];
  const said = options.filter((one) => digests.includes(optionDigest(one)));
  return said.includes(text) ? [] : [`votes for ${text}, its model said ${said.join(' or ') || 'something else'}`];
}
