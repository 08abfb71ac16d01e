// Options for a caller who sends only a question. By the form of the words alone: no model is called, and the same
// question gets the same options every time.

const YES_NO =
  /^(?:is|are|am|was|were|do|does|did|can|could|should|shall|would|will|has|have|had|may|might|must)(?:n't)?\s/i;
const SCALE =
  /\b(?:how (?:likely|probable|confident|important|good|bad|risky|safe|hard|difficult|easy)|rate|rating)\b/i;
const LONGEST_CHOICE = 50;

export function suppliedOptions(question: string): string[] {
  return (
    namedChoices(question) ??
    (YES_NO.test(question.trim()) ? ['Yes', 'No'] : null) ??
    (SCALE.test(question) ? ['Very low', 'Low', 'Medium', 'High', 'Very high'] : null) ?? ['Yes', 'No', 'It depends']
  );
}

/** "Should we use A, B or C?", "A vs B", "between A and B": the phrases that the question itself offers. */
function namedChoices(question: string): string[] | null {
  const text = question.trim().replace(/[?.!\s]+$/, '');
  const between = / between (.+) and (.+)$/i.exec(text);
  const phrases = between ? [between[1]!, between[2]!] : alternatives(text);
  if (!phrases) return null;
  const choices = phrases.flatMap((phrase) => phrase.split(/\s*,\s*/)).map((phrase) => phrase.trim());
  const cleaned = choices.filter((choice) => choice !== '');
  const distinct = new Set(cleaned.map((choice) => choice.toLowerCase()));
  if (cleaned.length < 2 || cleaned.length > 5 || distinct.size < cleaned.length) return null;
  return cleaned.every((choice) => choice.length <= LONGEST_CHOICE) ? cleaned : null;
}

function alternatives(text: string): string[] | null {
  const parts = text.split(/,?\s+(?:or|vs\.?|versus)\s+/i);
  if (parts.length < 2) return null;
  const [first = '', ...rest] = parts;
  return [lastPhrase(first), ...rest];
}

/** What stands before the first alternative belongs to the question: after a colon, else the last word or the list. */
function lastPhrase(text: string): string {
  const colon = text.lastIndexOf(':');
  if (colon >= 0) return text.slice(colon + 1);
  const list = text.split(/\s*,\s*/);
  const head = list[0]!.split(/\s+/);
  return [head.at(-1)!, ...list.slice(1)].join(', ');
}
