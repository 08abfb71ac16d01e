import { agreementMatrix, learnReliabilities, type VotedQuestion } from '@eloquentpoll/evidence';
import {
  auditedVotes,
  type ModelEvidence,
  recentVotes,
  type Storage,
  type VotedAudit,
  type VotedPoll,
} from '@eloquentpoll/storage';

// What the votes of the last weeks show about models. All input is bounded, so this takes a fraction of a second.

const WANTED = { days: 30, limit: 4_000, ofOneTenant: 400 };
const MAX_AUDITS = 4_000;
/** Number of audits with both models of a pair heard, before their agreement is reported. */
const MIN_TOGETHER = 100;

/** Null while there is not enough data about any model. */
export async function learnModels(
  storage: Storage,
  simulated: boolean,
  version: string,
): Promise<ModelEvidence | null> {
  const live = await recentVotes(storage, { ...WANTED, simulated });
  const audited = await auditedVotes(storage, { simulated, limit: MAX_AUDITS });
  const models = [...new Set([...live, ...audited].flatMap((poll) => poll.models))].toSorted();
  const teaching = audited.filter(({ teaches }) => teaches).map(commonPart);
  const learned = learnReliabilities(version, models, questionsOf([...live, ...teaching], models));
  const matrix = agreementMatrix(questionsOf(audited.map(commonPart), models), models.length, MIN_TOGETHER);
  const isKnown = matrix.some((row, a) => row.some((value, b) => a !== b && value !== null));
  if (learned === null && !isKnown) return null;
  return {
    simulated,
    version,
    questions: live.length + teaching.length,
    knownAnswers: live.filter(({ answer }) => answer !== null).length,
    audits: audited.length,
    reliabilities: Object.fromEntries(learned?.models ?? []),
    agreement: { models, matrix },
  };
}

const commonPart = ({ common, ...audit }: VotedAudit): VotedPoll => ({
  ...audit,
  models: audit.models.slice(0, common),
  options: audit.options.slice(0, common),
});

/** The votes of each question in the order of these models. */
const questionsOf = (polls: readonly VotedPoll[], models: readonly string[]): VotedQuestion[] =>
  polls.map((poll) => {
    const options = new Map(poll.models.map((model, i) => [model, poll.options[i] ?? null]));
    return {
      optionCount: poll.optionCount,
      votes: models.map((model) => options.get(model)),
      ...(poll.answer !== null && { answer: poll.answer }),
      ...(poll.rejected !== null && { rejected: poll.rejected }),
    };
  });
