import { createHash, createPublicKey, verify } from 'node:crypto';
import type { CampaignHistory } from '../history.ts';
import type { PublishedKey, ReadReceipt } from '../promised.ts';
import type { CampaignRule } from './rule.ts';

// Receipts as a stranger checks them: with the published keys, the votes in them, and nothing of ours.

interface Statement {
  result_id: string;
  options: string[];
  panel: { model_id: string }[];
  votes: { seat: number; option: number | null }[];
  decision: { tally: number[]; winner: number | null; tie: boolean };
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
      const results = new Map(history.polls.map(({ id, resultId }) => [id, resultId]));
      return (history.promised?.receipts ?? []).flatMap((receipt) => {
        const statement = signedStatement(receipt, history.promised!.publishedKeys);
        if (!statement) return [];
        const wrong = contradictions(statement, stored.get(receipt.pollId) ?? []);
        if (statement.result_id !== results.get(receipt.pollId)) wrong.push(`is of ${statement.result_id}`);
        return wrong.map((what) => `${receipt.pollId} ${what}`);
      });
    },
  },
  {
    name: 'the published verifier finds nothing wrong with a receipt',
    broken: ({ promised }) =>
      (promised?.receipts ?? [])
        .filter(({ wrong }) => wrong.length > 0)
        .map(({ pollId, wrong }) => `${pollId}: ${wrong}`),
  },
];

function contradictions({ votes, panel, options, decision }: Statement, stored: CampaignHistory['votes']): string[] {
  const tally = options.map((_, option) => votes.filter((vote) => vote.option === option).length);
  const most = Math.max(...tally);
  const leaders = tally.flatMap((count, option) => (count === most && most > 0 ? [option] : []));
  const said = new Map(votes.map(({ seat, option }) => [`${seat} ${panel[seat]?.model_id}`, option !== null]));
  const isAsStored =
    said.size === stored.length && stored.every(({ seat, modelId, voted }) => said.get(`${seat} ${modelId}`) === voted);
  return [
    ...(isAsStored ? [] : ['has other votes than are stored']),
    ...(tally.join() === decision.tally.join() ? [] : [`says ${decision.tally}, its votes are ${tally}`]),
    ...(decision.winner === null || (leaders.length === 1 && leaders[0] === decision.winner)
      ? []
      : [`elects ${decision.winner} with ${tally}`]),
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
