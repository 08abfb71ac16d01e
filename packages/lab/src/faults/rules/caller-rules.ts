import { askedPolls } from './asked-polls.ts';
import { type CampaignRule, label } from './rule.ts';

export const callerRules: readonly CampaignRule[] = [
  {
    name: 'every caller that persists gets a definite answer',
    broken: ({ operations }) =>
      operations
        .filter(({ kind, outcome }) => kind !== 'balance' && outcome === null)
        .map((operation) => `${label(operation)} after ${operation.attempts.length} attempts`),
  },
  {
    name: 'one key, one poll',
    broken(history) {
      const { idOf, buried } = askedPolls(history);
      const byKey = new Map(history.keys.map(({ key, pollId }) => [key, pollId]));
      return history.operations.flatMap((operation) => {
        const { key, named, erasure } = operation;
        // A caller who deletes the account asks for a poll and a batch, each with its own key.
        if (key === null || erasure?.what === 'account') return [];
        // A buried poll cost nothing, and its key can be used again.
        const polls = new Set([...named].map(idOf).filter((id) => !buried.has(id)));
        const stored = byKey.get(key);
        if (stored !== undefined && !buried.has(stored)) polls.add(stored);
        return polls.size > 1 ? [`${label(operation)}: ${[...polls].join(', ')}`] : [];
      });
    },
  },
  {
    name: 'no key has more polls than one, asked for or not',
    broken({ operations, polls, keys }) {
      const paid = operations.filter(({ key }) => key !== null).length;
      const kept = new Set(keys.map(({ pollId }) => pollId));
      const loose = polls.filter(
        ({ id, buried, row, isEmptied }) => !buried && !isEmptied && row === null && !kept.has(id),
      );
      return [
        ...loose.map(({ id }) => `${id} belongs to no key`),
        ...(kept.size > paid ? [`${kept.size} polls for ${paid} keys`] : []),
      ];
    },
  },
  {
    name: 'the same answer for the same key, every time, and it is what is stored',
    broken(history) {
      const { idOf, pollOf, buried } = askedPolls(history);
      return history.operations.flatMap((operation) => {
        const { kind, bodies, named } = operation;
        if (bodies.size > 1) return [`${label(operation)}: ${bodies.size} answers`];
        const [body] = bodies;
        const [name] = [...named].filter((each) => !buried.has(idOf(each)));
        if (body === undefined || name === undefined || !WHOLE.has(kind)) return [];
        const stored = pollOf.get(idOf(name))?.digest;
        return stored === body ? [] : [`${label(operation)} got another result than ${name} has`];
      });
    },
  },
  {
    name: 'no poll of a caller is answered as unknown',
    broken: ({ operations }) =>
      operations
        .filter(({ erasure, attempts }) => !erasure && attempts.some(({ code }) => code === 'session_not_found'))
        .map((operation) => `${label(operation)}: ${[...operation.named].join(', ')}`),
  },
];

/** Kinds of operations whose answer is the stored response itself. */
const WHOLE = new Set(['sync', 'async', 'cancel', 'stream']);
