// Says in plain words why a free poll cannot be asked. The form shows it before submitting; without scripts, the
// service shows the same text.

export interface FreePollLimits {
  question: { min: number; max: number };
  options: { min: number; max: number };
  /** Maximum number of characters of one option. */
  option: number;
}

export interface FreePollProblem {
  /** The question, or the index of an option in the form. */
  field: 'question' | number;
  says: string;
}

/** `options` are the form's fields, including empty ones. */
export function freePollProblem(
  { question, options }: { question: string; options: readonly string[] },
  limits: FreePollLimits,
): FreePollProblem | null {
  const length = lengthOf(question);
  if (question.trim() === '') return { field: 'question', says: 'Write a question.' };
  if (length < limits.question.min)
    return { field: 'question', says: `The question needs at least ${limits.question.min} characters.` };
  if (length > limits.question.max)
    return {
      field: 'question',
      says: `The question has ${count(length)} characters; ${count(limits.question.max)} is the most.`,
    };
  const filled = options.flatMap((text, i) => (text.trim() === '' ? [] : [{ text, i }]));
  if (filled.length < limits.options.min)
    return { field: filled.length, says: filled.length === 0 ? 'Add at least two options.' : 'Add one more option.' };
  for (const { text, i } of filled) {
    if (lengthOf(text) > limits.option)
      return { field: i, says: `Option ${i + 1} has ${lengthOf(text)} characters; ${limits.option} is the most.` };
    const twin = filled.find((other) => other.i < i && textForm(other.text) === textForm(text));
    if (twin) return { field: i, says: `Options ${twin.i + 1} and ${i + 1} are the same.` };
  }
  return null;
}

/** Counts code points, as the service does. */
export const lengthOf = (text: string): number => [...text].length;

/**
 * Equal for texts that the service treats as duplicates. Texts that it refuses, such as -d and -D, may merely look
 * alike.
 */
const textForm = (text: string): string => text.replace(/\r\n?/g, '\n').replace(IGNORED, '').normalize('NFC').trim();

/** Invisible characters, except those that change words and emoji: joiners and flag tags. */
const IGNORED = /(?!\u200C|\u200D|[\u{E0020}-\u{E007F}])[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;

const count = (characters: number): string => characters.toLocaleString('en-US');
