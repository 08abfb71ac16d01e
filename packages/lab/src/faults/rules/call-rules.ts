import { type CampaignRule, countBy, seatKey } from './rule.ts';

/** The call, one retry, one repair. */
const MAX_ATTEMPTS = 3;

export const callRules: readonly CampaignRule[] = [
  {
    name: 'a model is asked at most once per claim of its poll, and at most three times for that vote',
    broken({ calls, journal }) {
      const claims = countBy(
        journal.filter(({ kind }) => kind === 'claimed'),
        ({ pollId }) => pollId,
      );
      const first = calls.filter(({ attempt }) => attempt === 1);
      return [
        ...[...countBy(first, seatKey)]
          .filter(([seat, times]) => times > (claims.get(seat.split(' ')[0]!) ?? 0))
          .map(([seat, times]) => `${seat} asked ${times} times, ${claims.get(seat.split(' ')[0]!) ?? 0} claims`),
        ...calls.filter(({ attempt }) => attempt > MAX_ATTEMPTS).map((call) => `${seatKey(call)}: ${call.attempt}`),
      ];
    },
  },
  {
    name: 'every vote that is stored was given by a model',
    broken({ votes, calls }) {
      const asked = new Set(calls.map(seatKey));
      return votes
        .filter((vote) => vote.voted && !asked.has(seatKey(vote)))
        .map((vote) => `${seatKey(vote)} was never asked`);
    },
  },
];
