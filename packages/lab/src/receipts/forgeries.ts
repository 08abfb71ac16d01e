import type { PartName, Statement } from '@eloquentpoll/receipts';
import type { Chance } from '../terminal/chance.ts';

// Two kinds of forgery: one character of a receipt is changed; or a statement that does not follow from its votes and
// rules is signed with the service's own key.

/** Replaces one character by another. */
export function withOtherByte(json: string, draw: Chance): string {
  const at = draw.whole(0, json.length - 1);
  let other = json[at];
  while (other === json[at]) other = String.fromCharCode(draw.whole(32, 126));
  return json.slice(0, at) + other + json.slice(at + 1);
}

type Vote = Statement['votes'][number];

export interface FalseStatement {
  readonly says: string;
  /** The part of the verification that must fail. */
  readonly part: PartName;
  /** Null if this statement cannot be falsified in this way. */
  alter(statement: Statement, draw: Chance): Statement | null;
}

const someVote = ({ votes }: Statement, draw: Chance, fits: (vote: Vote) => boolean): number => {
  const places = [...votes.keys()].filter((i) => fits(votes[i]!));
  return places.length === 0 ? -1 : draw.pick(places);
};
const withVote = (statement: Statement, at: number, change: Partial<Vote>): Statement => ({
  ...statement,
  votes: statement.votes.with(at, { ...statement.votes[at]!, ...change }),
});
const withFailureRate = (statement: Statement, at: number, failure_rate: number): Statement => ({
  ...statement,
  panel: statement.panel.with(at, { ...statement.panel[at]!, failure_rate }),
});

const withDecision = (statement: Statement, change: Partial<Statement['decision']>): Statement => ({
  ...statement,
  decision: { ...statement.decision, ...change },
});
const nudged = (chance: number): number => (chance > 0.5 ? chance - 1e-4 : chance + 1e-4);

export const FALSE_STATEMENTS: readonly FalseStatement[] = [
  {
    says: 'a model voted for another option',
    part: 'tally',
    alter(statement, draw) {
      const at = someVote(statement, draw, ({ option }) => option !== null);
      if (at < 0) return null;
      return withVote(statement, at, { option: (statement.votes[at]!.option! + 1) % statement.options.length });
    },
  },
  {
    says: 'a model that failed voted',
    part: 'tally',
    alter(statement, draw) {
      const at = someVote(statement, draw, ({ option }) => option === null);
      return at < 0 ? null : withVote(statement, at, { option: 0, error: null });
    },
  },
  {
    says: 'a vote more in the tally',
    part: 'tally',
    alter: (statement) =>
      withDecision(statement, { tally: statement.decision.tally.with(0, statement.decision.tally[0]! + 1) }),
  },
  {
    says: 'another winner',
    part: 'tally',
    alter: (statement) =>
      withDecision(statement, { winner: ((statement.decision.winner ?? -1) + 1) % statement.options.length }),
  },
  {
    says: 'another confidence',
    part: 'odds',
    alter: (statement) =>
      statement.decision.confidence === null
        ? null
        : withDecision(statement, { confidence: nudged(statement.decision.confidence) }),
  },
  {
    says: 'a partial result that is certain',
    part: 'odds',
    alter: (statement) =>
      statement.decision.status === 'partial' && statement.decision.winner !== null
        ? withDecision(statement, { confidence: 1 })
        : null,
  },
  {
    says: 'another track record of a partial result',
    part: 'odds',
    alter: ({ decision, ...statement }) =>
      decision.status === 'partial' && decision.record !== undefined && (decision.confidence ?? 0) > 0.01
        ? { ...statement, decision: { ...decision, record: { audits: 100_000, same_leader: 0 } } }
        : null,
  },
  {
    says: 'other odds on the way',
    part: 'odds',
    alter(statement, draw) {
      const at = someVote(statement, draw, ({ chances }) => chances !== undefined);
      if (at < 0) return null;
      const chances = statement.votes[at]!.chances!;
      const option = draw.whole(0, chances.length - 1);
      return withVote(statement, at, { chances: chances.with(option, nudged(chances[option]!)) });
    },
  },
  {
    says: 'another track record',
    part: 'odds',
    alter(statement, draw) {
      const at = someVote(
        statement,
        draw,
        ({ record, confidence }) => record !== undefined && (confidence ?? 0) > 0.01,
      );
      return at < 0 ? null : withVote(statement, at, { record: { audits: 100_000, same_leader: 0 } });
    },
  },
  {
    says: 'another failure rate',
    part: 'odds',
    alter(statement) {
      // Only for a model that did not vote, in a poll that its vote could still have changed.
      const heard = new Set(statement.votes.map(({ seat }) => seat));
      const at = statement.panel.findIndex((_, seat) => !heard.has(seat));
      if (at < 0 || statement.decision.reason === 'mathematical_lock' || statement.decision.confidence === null)
        return null;
      const { failure_rate } = statement.panel[at]!;
      return withFailureRate(statement, at, failure_rate < 0.15 ? 0.3 : 0);
    },
  },
  {
    says: 'a failure rate that the rules never use',
    part: 'panel',
    alter: (statement) => withFailureRate(statement, 0, 0.9),
  },
  {
    says: 'another reason to stop',
    part: 'decision',
    alter: (statement) =>
      statement.decision.reason === 'confidence'
        ? withDecision(statement, { reason: 'mathematical_lock' })
        : statement.decision.reason === 'mathematical_lock' || statement.decision.reason === 'roster_exhausted'
          ? withDecision(statement, { reason: 'confidence' })
          : null,
  },
  {
    says: 'a threshold that was not reached',
    part: 'decision',
    alter: (statement) =>
      statement.decision.reason === 'confidence' ? { ...statement, rule: { ...statement.rule, threshold: 1 } } : null,
  },
  {
    says: 'a model voted twice',
    part: 'panel',
    alter: ({ votes, ...rest }, draw) =>
      votes.length === 0 ? null : { ...rest, votes: [...votes, votes[draw.whole(0, votes.length - 1)]!] },
  },
  {
    says: 'a model that is not in the panel voted',
    part: 'panel',
    alter: (statement, draw) => {
      const at = someVote(statement, draw, () => true);
      return at < 0 ? null : withVote(statement, at, { seat: statement.panel.length });
    },
  },
  {
    says: 'another price',
    part: 'price',
    alter: (statement) => ({ ...statement, price_sha256: statement.question_sha256 }),
  },
];
