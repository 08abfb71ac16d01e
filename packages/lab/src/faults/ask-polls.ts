import { randomBytes } from 'node:crypto';
import type { PanelName, PollSpec } from '@eloquentpoll/contracts';
import { type Model, type Panels, promptStyle, seatsFor } from '@eloquentpoll/models/panels';
import { acceptPoll, createAccount, creditAccount } from '@eloquentpoll/storage';
import { panelOrder } from '@eloquentpoll/voting';
import type { Chance } from '../terminal/chance.ts';
import type { Stores } from './throw-away.ts';

// Polls as the gateway would accept them: frozen with their prices and order, money set aside, then queued.

const PRICELESS_U = 1_000_000_000_000_000n;

export interface Question {
  question: string;
  options: readonly string[];
  panel: PanelName;
  /** In the order in which they are asked; without it the panel, in seeded order. */
  models?: readonly Model[];
  confidenceThreshold?: number;
  maxCostU?: number;
  seed?: string;
}

export function specOf(panels: Panels, asked: Question): PollSpec {
  const { question, options, panel, models } = asked;
  const style = promptStyle(panel);
  const seed = asked.seed ?? randomBytes(16).toString('hex');
  const members = models === undefined ? panels.panel(panel) : { ...panels.panel(panel), models: [...models] };
  const seats = seatsFor(members, { question, options, search: false, style });
  return {
    question,
    options: [...options],
    panel_name: panel,
    confidence_threshold: asked.confidenceThreshold ?? 0.95,
    max_cost_u: asked.maxCostU ?? 1_000_000,
    min_votes: 3,
    search: false,
    seed,
    seats: models === undefined ? panelOrder(seats, seed).map((seat) => seats[seat]!) : seats,
    simulated: true,
  };
}

export const holdOf = (spec: PollSpec): bigint =>
  BigInt(
    Math.min(
      spec.max_cost_u,
      spec.seats.reduce((sum, seat) => sum + seat.reserve_u, 0),
    ),
  );

export async function richAccount({ storage }: Stores): Promise<string> {
  const accountId = await createAccount(storage);
  await creditAccount(storage, { accountId, amountU: PRICELESS_U, source: 'operator', idem: `lab:${accountId}` });
  return accountId;
}

/** Accepts the poll, queues it, and answers its id. */
export async function submit(
  { storage, bus }: Stores,
  accountId: string,
  spec: PollSpec,
  deadlineMs: number,
  before: (pollId: string) => Promise<void> = async () => {},
): Promise<string> {
  const id = `ps_${base32(24)}`;
  await before(id);
  const accepted = await acceptPoll(storage, {
    poll: { id, resultId: `EP-2026-01-01-${base32(16)}`, accountId, spec, deadlineMs, entryPoint: 'lab' },
    holdU: holdOf(spec),
  });
  if (accepted.kind !== 'accepted') throw new Error(`a poll was not accepted: ${accepted.kind}`);
  await bus.enqueuePoll(id);
  return id;
}

const TOPICS = ['a bridge', 'a garden', 'a school', 'a harbour', 'a library', 'a market', 'an orchard', 'a railway'];
const OPTIONS = ['oak', 'steel', 'stone', 'glass', 'brick', 'clay', 'bamboo', 'copper', 'slate', 'linen'];

/** A question nobody was asked before, so that votes differ from poll to poll. */
export function anyQuestion(chance: Chance): Question {
  const options = chance.whole(2, 6);
  return {
    question: `Which material suits ${chance.pick(TOPICS)} best, in case ${chance.whole(1, 1_000_000_000)}?`,
    options: OPTIONS.slice(0, options),
    panel: chance.pick(['broad', 'broad', 'broad', 'strong', 'strong', 'fast'] as const),
  };
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
const base32 = (length: number): string => Array.from(randomBytes(length), (byte) => BASE32[byte & 31]).join('');
