// Scores how well a text matches lists of phrases, by words alone. Deterministic; linear in the text's length.

export interface PhraseScore {
  /** From 0 to 1. */
  score: number;
  /** The phrases whose words all occur together in the text. */
  matched: string[];
}

interface Phrase {
  text: string;
  words: readonly string[];
  weight: number;
}

export type Scorer = (words: readonly string[]) => ReadonlyMap<string, PhraseScore>;

/** Maximum number of other words between the words of a phrase. */
const SLACK = 3;
/** Factor for words that are near each other but not adjacent. */
const LOOSE = 0.75;
/** Penalty for a phrase at the end of the text, because people state their request first. */
const LATE = 0.2;
const EXTRA = 0.02;
/** Stop words: they count little. */
const FILLERS: ReadonlySet<string> = new Set(
  'a an and are did do does for have how i in is it me much my of on one or that the this to was what which who with would you'.split(
    ' ',
  ),
);
const LIGHT = 0.1;

/** Phrases by intent id. Weights are inverse document frequencies: words in many phrases count little. */
export function phraseScorer(phrasesById: ReadonlyMap<string, readonly string[]>): Scorer {
  const all = [...phrasesById.values()].flat().map(wordsOf);
  const frequency = new Map<string, number>();
  for (const words of all) for (const word of new Set(words)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const weightOf = (word: string): number =>
    (FILLERS.has(word) ? LIGHT : 1) * Math.log(1 + all.length / (frequency.get(word) ?? all.length));
  const sum = (words: Iterable<string>): number => [...words].reduce((total, word) => total + weightOf(word), 0);

  const phrases = new Map<string, Phrase[]>();
  for (const [id, texts] of phrasesById)
    phrases.set(
      id,
      texts.map((text) => ({ text, words: wordsOf(text), weight: sum(new Set(wordsOf(text))) })),
    );

  function scoreOf({ words, weight }: Phrase, text: readonly string[]): { score: number; whole: boolean } {
    const wanted = new Set(words);
    let best = { score: 0, whole: false };
    for (let at = 0; at < text.length; at++) {
      if (!wanted.has(text[at]!)) continue;
      const early = 1 - (LATE * at) / text.length;
      const side = words.every((word, i) => text[at + i] === word);
      const found = new Set(text.slice(at, at + words.length + SLACK).filter((word) => wanted.has(word)));
      const share = sum(found) / weight;
      const score = side ? early : LOOSE * share ** 2 * early;
      if (score > best.score) best = { score, whole: side || found.size === wanted.size };
    }
    return best;
  }

  return (text) => {
    const scores = new Map<string, PhraseScore>();
    for (const [id, candidates] of phrases) {
      const found = candidates.map((phrase) => ({ phrase, ...scoreOf(phrase, text) }));
      const matched = found.filter(({ whole }) => whole).map(({ phrase }) => phrase.text);
      const best = Math.max(...found.map(({ score }) => score));
      scores.set(id, { score: Math.min(1, best + EXTRA * Math.max(0, matched.length - 1)), matched });
    }
    return scores;
  };
}

/** Lower case, without punctuation and plural s. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) =>
    word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word,
  );
}
