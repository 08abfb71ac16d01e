import { type Logger, repeat } from '@eloquentpoll/ops';
import { newestModelEvidence, type Storage, storeModelEvidence, withLock } from '@eloquentpoll/storage';
import { type Evidence, evidenceOf, NO_EVIDENCE } from './evidence.ts';
import { learnModels } from './learn.ts';

// Learns about models once per UTC day in one worker; all workers read the result. Until then, and while the store is
// down, the previous version is used: a version that is a day old does not make readings wrong.

const EVERY_MS = 5 * 60_000;
const FIRST_MS = 2_000;
const LEARNING_TERM_MS = 60_000;

export interface EvidenceTerms {
  /** Evidence about simulated models is kept separately. */
  simulated: boolean;
  /** False: results have no reading. */
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

/** Does nothing if today's version exists or another worker is learning. */
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
