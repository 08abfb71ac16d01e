import type { Vote } from '@eloquentpoll/contracts';
import { pollState, withVote } from '@eloquentpoll/polls';
import type { ClaimedAudit, FinishedAudit } from '@eloquentpoll/storage';
import { standing } from '@eloquentpoll/voting';
import type { Context } from './context.ts';
import { requestFor } from './vote-request.ts';

/** For all models of the audit together. No caller waits for them. */
const DEADLINE_MS = 60_000;

/**
 * Asks every model whose vote was not part of the poll's answer. The audit is given up if a call was aborted, or if
 * several models were asked and none answered: that points to an outage, not to the poll.
 */
export async function askUnheard(
  { ask, clock }: Pick<Context, 'ask' | 'clock'>,
  { pollId, spec, heard }: ClaimedAudit,
  leaseEndsAt: number,
  signal: AbortSignal,
): Promise<Pick<FinishedAudit, 'costU' | 'heard'>> {
  const seatOf = new Map(spec.seats.map(({ model_id }, seat) => [model_id, seat]));
  const known = new Set(heard.models);
  const unheard = [...seatOf].filter(([model]) => !known.has(model)).map(([, seat]) => seat);
  // While this process was paused, another worker may have claimed the audit.
  const isCurrent = () => !signal.aborted && clock.now() < leaseEndsAt;
  const beforeCall = async () => isCurrent();
  const votes = await Promise.all(
    unheard.map((seat) =>
      ask(
        { ...requestFor(spec, seat), pollId, deadlineMs: DEADLINE_MS },
        { signal, beforeCall, isCurrent, onSpent() {} },
      ),
    ),
  );
  const costU = votes.reduce((sum, vote) => sum + spentU(vote), 0);
  const noneAnswered = votes.length > 1 && votes.every(({ option }) => option === null);
  if (votes.some(({ error }) => error === 'aborted') || noneAnswered) return { costU, heard: null };

  const earlier = heard.models.map((model, i) => ({ seat: seatOf.get(model) ?? -1, option: heard.votes[i] ?? null }));
  const whole = [...earlier, ...votes].reduce(
    (state, { seat, option }) => withVote(state, { ...FREE_OF_CHARGE, seat, option }),
    pollState(spec),
  );
  return {
    costU,
    heard: {
      models: votes.map(({ model_id }) => model_id),
      votes: votes.map(({ option }) => option),
      winner: standing(whole).leader,
    },
  };
}

const FREE_OF_CHARGE = { billed_u: 0 };

const spentU = ({ cost, provider_cost_u }: Vote): number => cost?.max_u ?? provider_cost_u ?? 0;
