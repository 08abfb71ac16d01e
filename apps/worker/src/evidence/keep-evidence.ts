import { type Logger, repeat } from '@eloquentpoll/ops';
import { newestModelEvidence, type Storage, storeModelEvidence, withLock } from '@eloquentpoll/storage';
import { type Evidence, evidenceOf, NO_EVIDENCE } from './evidence.ts';
import { learnModels } from './learn.ts';

// Learns about models once per UTC day, in one worker, and reads in all of them what was learned. Until then, and while
// the store is away, the last version counts; a record that is a day old makes no reading wrong.

const EVERY_MS = 5 * 60_000;
const FIRST_MS = 2_000;
const LEARNING_TERM_MS = 60_000;

export interface EvidenceTerms {
  /** Simulated models are a record of their own. */
  simulated: boolean;
  /** False: no poll has a reading. */
  readings: boolean;
  log: Pick<Logger, 'info' | 'warn'>;
}

export interface KeptEvidence extends Evidence, AsyncDisposable {}

export function keepEvidence(storage: Storage, terms: EvidenceTerms): KeptEvidence {
  const { log, simulated, readings } = terms;
  let newest: Evidence = NO_EVIDENCE;
  const learning = repeat(
    async () => {
      await learnDaily(storage, terms);
      const found = await newestModelEvidence(storage, simulated);
      if (found) newest = evidenceOf(found, readings);
    },
    { everyMs: EVERY_MS, firstMs: FIRST_MS, onError: (err) => log.warn({ err }, 'evidence.learning_failed') },
  );
  return {
    effectiveVotes: (votes) => newest.effectiveVotes(votes),
    reading: (optionCount, votes) => newest.reading(optionCount, votes),
    [Symbol.asyncDispose]: () => learning[Symbol.asyncDispose](),
  };
}

/** Does nothing where this day's version is there, or another worker is at it. */
export async function learnDaily(
  storage: Storage,
  { simulated, log }: Pick<EvidenceTerms, 'simulated' | 'log'>,
  version = new Date().toISOString().slice(0, 10),
): Promise<void> {
  const isDone = async () => ((await newestModelEvidence(storage, simulated))?.version ?? '') >= version;
  if (await isDone()) return;
  await withLock(storage, 'evidence', LEARNING_TERM_MS, async () => {
    if (await isDone()) return;
    const learned = await learnModels(storage, simulated, version);
    if (learned === null) return;
    await storeModelEvidence(storage, learned);
    const { questions, knownAnswers, audits } = learned;
    log.info({ version, questions, known_answers: knownAnswers, audits }, 'evidence.learned');
  });
}
