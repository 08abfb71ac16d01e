import { createHash, createPublicKey, verify } from 'node:crypto';
import { PARTS } from '@eloquentpoll/receipts';
import type { Election } from '../../fixture/election.ts';
import type { CampaignHistory } from '../history.ts';
import type { PublishedKey, ReadReceipt } from '../promised.ts';
import type { CampaignRule } from './rule.ts';

// Checks receipts as a stranger would: with the published keys and the votes in them, without our code.

interface Statement {
  result_id: string;
  options: string[];
  panel: { model_id: string }[];
  votes: { seat: number; option: number | null }[];
  decision: {
    reason: string | null;
    status: string;
    tally: number[];
    winner: number | null;
    tie: boolean;
    skipped: number;
  };
}

export const receiptRules: readonly CampaignRule[] = [
  {
    name: 'every poll that ended with a result has a receipt, signed by a published key',
    broken: ({ promised }) =>
      (promised?.receipts ?? []).flatMap((receipt) => {
        if (receipt.status !== 200) return [`${receipt.pollId}: ${receipt.status} ${receipt.body.slice(0, 80)}`];
        const statement = signedStatement(receipt, promised!.publishedKeys);
        return statement ? [] : [`${receipt.pollId} is not signed by a published key`];
      }),
  },
  {
    name: 'the votes of a receipt are those that are stored, and add up to what it says',
    broken(history) {
      const stored = Map.groupBy(history.votes, ({ pollId }) => pollId);
      const polls = new Map(history.polls.map((poll) => [poll.id, poll]));
      return (history.promised?.receipts ?? []).flatMap((receipt) => {
        const statement = signedStatement(receipt, history.promised!.publishedKeys);
        if (!statement) return [];
        const wrong = contradictions(statement, stored.get(receipt.pollId) ?? []);
        if (statement.result_id !== polls.get(receipt.pollId)?.resultId) wrong.push(`is of ${statement.result_id}`);
        return wrong.map((what) => `${receipt.pollId} ${what}`);
      });
    },
  },
  {
    name: 'options, winner, tie, tally and status of a receipt are those of the result, as it is stored and published',
    broken({ promised, polls }) {
      const pollOf = new Map(polls.map((poll) => [poll.id, poll]));
      return (promised?.receipts ?? []).flatMap((receipt) => {
        const statement = signedStatement(receipt, promised!.publishedKeys);
        const poll = pollOf.get(receipt.pollId);
        if (!statement || !poll || poll.isEmptied) return [];
        const signed = JSON.stringify(signedElection(statement));
        return Object.entries({ stored: poll.election, published: receipt.election })
          .map(([where, election]) => [where, JSON.stringify(election && comparable(election))])
          .filter(([, election]) => election !== signed)
          .map(([where, election]) => `${receipt.pollId} says ${signed}, ${where} is ${election}`);
      });
    },
  },
  {
    name: 'the published verifier holds every part of a receipt to be true that it can check with the public result',
    broken: ({ promised }) =>
      (promised?.receipts ?? []).flatMap((receipt) => {
        const statement = signedStatement(receipt, promised!.publishedKeys);
        if (!statement) return [];
        // The data to check these parts is not available here, or the receipt itself says that they are not checked
        // here.
        const unchecked = new Set(['price', 'inclusion']);
        if (statement.decision.reason === 'budget') unchecked.add('decision');
        const states = new Map(receipt.parts.map(({ name, state }) => [name, state]));
        const wrong = PARTS.filter((name) => {
          const state = states.get(name);
          return state !== 'holds' && !(state === 'unchecked' && unchecked.has(name));
        });
        return wrong.map((name) => `${receipt.pollId}: ${name} ${states.get(name) ?? 'is missing'}`);
      }),
  },
];

function signedElection({ options, votes, panel, decision }: Statement) {
  const textOf = (option: number | null) => (option === null ? null : (options[option] ?? `option ${option}`));
  return {
    options,
    votes: votes.map(({ seat, option }) => [panel[seat]?.model_id, textOf(option)]),
    tally: decision.tally,
    winner: textOf(decision.winner),
    tie: decision.tie,
    status: decision.status,
    reason: decision.reason,
    skipped: decision.skipped,
  };
}

const comparable = (election: Election): ReturnType<typeof signedElection> => ({
  options: election.options,
  votes: election.votes.map(({ model_id, chosen_option }) => [model_id, chosen_option]),
  tally: election.options.map((option) => election.tally[option] ?? 0),
  winner: election.winning_option,
  tie: election.is_tie,
  status: election.status,
  reason: election.termination_reason,
  skipped: election.models_skipped,
});

function contradictions({ votes, panel, options, decision }: Statement, stored: CampaignHistory['votes']): string[] {
  const tally = options.map((_, option) => votes.filter((vote) => vote.option === option).length);
  const most = Math.max(...tally);
  const leaders = tally.flatMap((count, option) => (count === most && most > 0 ? [option] : []));
  const said = new Map(votes.map(({ seat, option }) => [`${seat} ${panel[seat]?.model_id}`, option]));
  const isAsStored =
    votes.length === stored.length &&
    stored.every(({ seat, modelId, option }) => said.get(`${seat} ${modelId}`) === option);
  const [winner = null] = leaders.length === 1 ? leaders : [];
  return [
    ...(isAsStored ? [] : ['has other votes than are stored']),
    ...(tally.join() === decision.tally.join() ? [] : [`says ${decision.tally}, its votes are ${tally}`]),
    ...(decision.winner === winner ? [] : [`elects ${decision.winner} with ${tally}`]),
    ...(decision.tie === leaders.length > 1 ? [] : [`is ${decision.tie ? 'a' : 'no'} tie with ${tally}`]),
  ];
}

function signedStatement({ status, body }: ReadReceipt, keys: readonly PublishedKey[]): Statement | null {
  if (status !== 200) return null;
  const receipt = JSON.parse(body) as { payload: string; protected: string; signature: string };
  const { kid } = JSON.parse(textOf(receipt.protected)) as { kid: string };
  const key = keys.find((one) => one.kid === kid && thumbprintOf(one) === kid);
  if (!key) return null;
  const { kty, crv, x } = key;
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  const signed = Buffer.from(`${receipt.protected}.${receipt.payload}`);
  const isRight = verify(null, signed, publicKey, Buffer.from(receipt.signature, 'base64url'));
  return isRight ? (JSON.parse(textOf(receipt.payload)) as Statement) : null;
}

const textOf = (base64url: string): string => Buffer.from(base64url, 'base64url').toString();

/** RFC 7638. */
const thumbprintOf = ({ crv, kty, x }: PublishedKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
