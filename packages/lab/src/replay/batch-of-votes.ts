// Recorded votes as a batch with right answers. Its polls are accepted and ended by the functions of the service, each
// with its recorded votes until the rules stop it, and the report is read as a caller reads it.
import { setTimeout as wait } from 'node:timers/promises';
import type { BatchReport, PollSpec, Vote } from '@eloquentpoll/contracts';
import { batchReport } from '@eloquentpoll/gateway/batch-report';
import {
  newBatchId,
  newPollId,
  newResultId,
  type PollOutcome,
  pollResponse,
  pollState,
  withVote,
} from '@eloquentpoll/polls';
import {
  acceptBatchPolls,
  addBatchRows,
  type ClaimedBatch,
  claimBatches,
  claimPoll,
  createAccount,
  creditAccount,
  endBatch,
  findBatch,
  finishPoll,
  openBatch,
  type Storage,
  startBatch,
} from '@eloquentpoll/storage';
import { standing, stopReason, type TerminationReason } from '@eloquentpoll/voting';
import { makerOf } from './families.ts';
import type { RecordedPoll } from './recorded-poll.ts';

/** One milli-dollar in micro-USD, times 1,000: prices in a file may be fractions of a micro-USD. */
const PRICE_U = 1_000_000;
const CHUNK = 100;

export async function reportOfVotes(
  storage: Storage,
  polls: readonly RecordedPoll[],
  threshold: number,
  onPoll: () => void,
): Promise<BatchReport> {
  const accountId = await createAccount(storage);
  const specs = polls.map((poll) => specOf(poll, threshold));
  const reserveU = specs.reduce((sum, { max_cost_u }) => sum + BigInt(max_cost_u), 0n);
  await creditAccount(storage, { accountId, amountU: reserveU, source: 'operator', idem: `votes of ${accountId}` });
  const batch = await startedBatch(storage, accountId, polls, specs, reserveU);
  for (let from = 0; from < polls.length; from += CHUNK) {
    const accepted = specs.slice(from, from + CHUNK).map((spec, i) => ({
      ...{ line: from + i + 1, id: newPollId(), resultId: newResultId(), spec },
      ...{ holdU: BigInt(spec.max_cost_u), providerMaxU: 0 },
    }));
    const answers = await acceptBatchPolls(storage, {
      batchId: batch.id,
      epoch: batch.epoch,
      entryPoint: 'batches',
      polls: accepted,
    });
    const refused = answers.find(({ outcome }) => outcome !== 'accepted');
    if (refused) throw new Error(`row ${refused.line} was not accepted: ${refused.outcome}`);
    await Promise.all(
      accepted.map(async (poll, i) => {
        await runPoll(storage, poll, polls[from + i]!);
        onPoll();
      }),
    );
  }
  const ending = await endBatch(storage, batch, null);
  if (ending !== 'ended_now') throw new Error(`the batch does not end: ${ending}`);
  return await completeReport(storage, accountId, batch.id);
}

async function startedBatch(
  storage: Storage,
  accountId: string,
  polls: readonly RecordedPoll[],
  specs: readonly PollSpec[],
  reserveU: bigint,
): Promise<ClaimedBatch> {
  const id = newBatchId();
  await openBatch(storage, { id, accountId, maxOpen: 1 });
  const rows = specs.map(({ seed: _seed, seats: _seats, simulated: _simulated, ...order }, i) => ({
    ...{ line: i + 1, customId: polls[i]!.question.id, order },
    gold: order.options[polls[i]!.question.answer]!,
  }));
  for (let from = 0; from < rows.length; from += CHUNK) await addBatchRows(storage, id, rows.slice(from, from + CHUNK));
  const terms = { id, accountId, reserveU, maxCostU: null, metadata: {}, skipped: { count: 0, first: [] } };
  const started = await startBatch(storage, terms);
  if (started.kind !== 'started') throw new Error(`the batch is not started: ${started.kind}`);
  const claimed = (await claimBatches(storage, 'replay', 3_600_000, 10)).find((one) => one.id === id);
  if (claimed === undefined) throw new Error('another runner has the batch');
  return claimed;
}

async function runPoll(
  storage: Storage,
  { id, resultId, spec }: { id: string; resultId: string; spec: PollSpec },
  recorded: RecordedPoll,
): Promise<void> {
  const votes: Vote[] = [];
  const arrivals: PollOutcome['arrivals'] = [];
  let state = pollState(spec);
  let reason: TerminationReason | null = null;
  for (let seat = 0; reason === null; seat++) {
    const vote = voteOf(recorded, seat);
    votes.push(vote);
    state = withVote(state, vote);
    arrivals.push({ at_ms: 0, confidence: standing(state).confidence });
    reason = stopReason(state);
  }
  const claim = await claimPoll(storage, id, 'replay');
  if (!claim) throw new Error(`poll ${id} is another worker's`);
  const response = pollResponse({ resultId, spec, state, reason, votes, gatherMs: 0, totalMs: 0, arrivals });
  const { outcome } = await finishPoll(storage, { id, epoch: claim.epoch, votes, response });
  if (outcome !== 'stored') throw new Error(`poll ${id} is not stored: ${outcome}`);
}

const priceU = ({ prices }: RecordedPoll, seat: number): number => Math.round(PRICE_U * (prices?.[seat] ?? 1));

function specOf(recorded: RecordedPoll, threshold: number): PollSpec {
  const { question, models } = recorded;
  const seats = models.map((model_id, seat) => ({
    ...{ model_id, family: makerOf(model_id), failure_rate: 0, p90_ms: 0 },
    ...{ reserve_u: priceU(recorded, seat), call_typical_u: priceU(recorded, seat) },
  }));
  return {
    question: question.id,
    options: Array.from({ length: question.optionCount }, (_, option) => `option ${option + 1}`),
    ...{ panel_name: 'broad', confidence_threshold: threshold, min_votes: 3, search: false, service_tier: 'flex' },
    max_cost_u: seats.reduce((sum, { reserve_u }) => sum + reserve_u, 0),
    ...{ seed: question.id, seats, simulated: true },
  };
}

/** A vote that failed costs what the file says, as in the replay. */
function voteOf(recorded: RecordedPoll, seat: number): Vote {
  const option = recorded.votes[seat] ?? null;
  const costU = priceU(recorded, seat);
  return {
    ...{ seat, model_id: recorded.models[seat]!, option, error: option === null ? 'malformed' : null },
    ...{ latency_ms: 0, billed_u: costU, provider_cost_u: costU, labels: [], calls: 1, searched: false },
    cost: { estimated_u: costU, max_u: costU, fault_u: 0 },
  };
}

async function completeReport(storage: Storage, accountId: string, batchId: string): Promise<BatchReport> {
  for (let tries = 0; tries < 600; tries++) {
    const batch = (await findBatch(storage, accountId, batchId))!;
    const report = await batchReport(storage, batch);
    if (report.complete) return report;
    await wait(0);
  }
  throw new Error('the report was not complete after 600 readings');
}
