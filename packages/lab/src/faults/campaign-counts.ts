import { killsOf } from './campaign-end.ts';
import type { CampaignHistory } from './history.ts';
import { sharedPolls } from './releases/upgrade-history.ts';
import { type Resume, resumesOf, tookMs as waitOf } from './resumes.ts';
import { auditCounts } from './rules/audit-rules.ts';
import { rowsOfBatches } from './rules/batch-rules.ts';
import { awayMsOf, judgedWaits } from './rules/cluster-rules.ts';
import { broughtBack, publicReadCounts } from './rules/deletion-rules.ts';
import { limitCounts } from './rules/limit-rules.ts';
import { listCounts } from './rules/list-rules.ts';
import { openHolds } from './rules/money-rules.ts';
import { neighbourCounts } from './rules/neighbour-rules.ts';
import { endsByWorkers, lostPolls } from './rules/poll-rules.ts';
import { sum } from './rules/rule.ts';
import { wasCut } from './rules/stream-rules.ts';
import { callsInTransit, callsMadeAgain, RESUME_WITHIN_MS, votesSeen, votesTakenOver } from './rules/worker-rules.ts';

// What a campaign counts. The counts of several campaigns can be added up.

export function countsOfCampaign(history: CampaignHistory): Record<string, number> {
  const { operations, polls, journal, faults, votes, calls } = history;
  const attempts = operations.flatMap((operation) => operation.attempts);
  const answered = (status: number) => attempts.filter((attempt) => attempt.status === status).length;
  const resumes = resumesOf(history);
  const streams = operations.filter(({ kind }) => kind === 'stream');
  const batchRows = rowsOfBatches(history);
  return {
    'process kills': killsOf(faults),
    faults: faults.length,
    operations: operations.length,
    keys: operations.filter(({ kind }) => kind === 'herd').length,
    requests: attempts.length,
    'requests without an answer': attempts.filter(({ status }) => status === null).length,
    'of these by timeout': attempts.filter(({ status, code }) => status === null && code === 'timeout').length,
    'answers 503': answered(503),
    'answers 429': answered(429),
    streams: streams.length,
    'streams that were resumed': streams.filter((stream) => stream.attempts.length > 1).length,
    'streams that were cut': attempts.filter(wasCut).length,
    polls: polls.length,
    'polls lost': lostPolls(history),
    success: polls.filter(({ resultStatus }) => resultStatus === 'success').length,
    partial: polls.filter(({ resultStatus }) => resultStatus === 'partial').length,
    'without a valid vote': polls.filter(({ resultStatus }) => resultStatus === 'failed').length,
    'given up': polls.filter(({ buried }) => buried).length,
    'claimed more than once': polls.filter(({ claims }) => claims > 1).length,
    batches: history.batches.length,
    'polls of batches': polls.filter(({ row }) => row !== null).length,
    rows: batchRows.accepted,
    'rows lost, run twice or billed twice': batchRows.wrong,
    'votes billed': votes.filter(({ billedU }) => billedU > 0n).length,
    'votes held against what their model answered': votes.filter(({ option }) => option !== null).length,
    'elections worked out again': polls.filter(({ election }) => election !== null).length,
    'elections that were answered in short or by row': sum(operations.map(({ answers }) => answers.size)),
    'calls of models': calls.length,
    'calls in transit when their worker was stopped': callsInTransit(history),
    'calls made again': callsMadeAgain(history).length,
    'votes seen to arrive': votesSeen(history),
    'votes that had arrived when their poll was claimed again': votesTakenOver(history),
    'ends held against the worker that wrote them': endsByWorkers(history).length,
    'polls taken over from killed workers': resumes.length,
    'claimed again after more than 15 s': resumes.filter((resume) => waitOf(resume) > RESUME_WITHIN_MS).length,
    ...killsOfResumes(resumes),
    ...judgedOf(history),
    ...upgradeOf(history),
    'double captures': polls.filter(({ posts }) => posts > 1).length,
    'open holds': openHolds(history),
    ...(history.promised && {
      'receipts verified with their result': history.promised.receipts.length,
      'deleted texts that a failover brought back': broughtBack(history),
      'keys on servers that have lost their slot': history.promised.unservedKeys,
      ...publicReadCounts(history),
      ...listCounts(history),
      ...triedOf(history),
    }),
    ...(history.audits && auditCounts(history.audits)),
    ...(history.neighbours && neighbourCounts(history)),
    'journal entries': journal.length,
  };
}

/** How often what is promised beyond polls was put to the test. */
function triedOf(history: CampaignHistory): Record<string, number> {
  const { taken, refused, keysOfBoth } = limitCounts(history);
  return {
    'webhooks received': history.promised?.messages.length ?? 0,
    'cancellations that callers heard to be over': history.operations.filter(
      ({ canceledAt }) => canceledAt !== undefined,
    ).length,
    'polls with a limited key': taken,
    'polls refused at the limit of a key': refused,
    'keys that took polls and refused others': keysOfBoth,
  };
}

/** All polls of a killed worker wait together, so that kills are the trials that chance draws one by one. */
function killsOfResumes(resumes: readonly Resume[]): Record<string, number> {
  const kills = [...Map.groupBy(resumes, ({ killedAt }) => killedAt).values()];
  return {
    'kills of workers that had polls': kills.length,
    'kills after which a poll was claimed later than after 15 s': kills.filter((each) =>
      each.some((resume) => waitOf(resume) > RESUME_WITHIN_MS),
    ).length,
  };
}

/** Only if two releases ran. */
function upgradeOf(history: CampaignHistory): Record<string, number> {
  const { upgrade } = history;
  if (!upgrade) return {};
  const { acceptedByOldRunByNew, acceptedByNewRunByOld, takenOver } = sharedPolls(history);
  return {
    'polls accepted by the older and run by the newer release': acceptedByOldRunByNew,
    'polls accepted by the newer and run by the older release': acceptedByNewRunByOld,
    'polls taken over from one release by the other': takenOver,
    'calls of their clients': sum(Object.values(upgrade.clientCalls)),
    'answers of a declared shape': upgrade.answersJudged,
  };
}

/** Only for a campaign on a cluster. */
function judgedOf(history: CampaignHistory): Record<string, number> {
  if (awayMsOf(history).length === 0) return {};
  const waits = judgedWaits(history);
  return {
    'waits for another worker': waits.length,
    'of these with other faults besides': waits.filter(({ ms, wholeMs }) => ms < wholeMs).length,
    'later than 15 s or 30 s, without the time of other faults': waits.filter(({ ms, withinMs }) => ms > withinMs)
      .length,
    'later than 15 s or 30 s, with that time': waits.filter(({ wholeMs, withinMs }) => wholeMs > withinMs).length,
  };
}
