// Describes what is wrong with a poll in the words of its form. The API's own messages are for programs: they use field
// names and count from zero.

export interface FieldIssue {
  /** JSON pointer into the request body. */
  pointer: string;
  detail: string;
}

export interface FieldSentence {
  /** The field of the request body. */
  field: string;
  says: string;
}

const NAMES: Record<string, string> = {
  question: 'The question',
  options: 'The options',
  preset: 'The panel',
  confidence_threshold: 'The threshold',
  max_cost_usd: 'The limit',
  label: 'The key name',
};

export function issueSentence({ pointer, detail }: FieldIssue): FieldSentence {
  const [, field = '', index] = pointer.split('/');
  const name =
    field === 'options' && index !== undefined ? `Option ${Number(index) + 1}` : (NAMES[field] ?? 'The request');
  const amount = (value: string) => (field === 'max_cost_usd' ? `$${value}` : value);
  return { field, says: sentence(field, name, index, detail, amount) };
}

function sentence(
  field: string,
  name: string,
  index: string | undefined,
  detail: string,
  amount: (value: string) => string,
): string {
  const found = (pattern: RegExp) => pattern.exec(detail)?.slice(1);
  const twins = found(/must be unique: items (\d+) and (\d+) are the same$/);
  const alike = found(/must be unique: options\[(\d+)\]/);
  if (twins) return `Options ${Number(twins[0]) + 1} and ${Number(twins[1]) + 1} are the same.`;
  if (alike) return `Options ${Number(alike[0]) + 1} and ${Number(index) + 1} are the same.`;

  if (/ (?:is required|must not be blank|must not be empty)$/.test(detail))
    return field === 'question'
      ? 'Write a question.'
      : index === undefined
        ? 'Add at least two options.'
        : `${name} is empty.`;
  const [fewest] = found(/must contain at least (\d+) items?$/) ?? [];
  if (fewest !== undefined) return fewest === '2' ? 'Add at least two options.' : `Add at least ${fewest} options.`;
  const [most] = found(/must contain at most (\d+) items$/) ?? [];
  if (most !== undefined) return `There can be at most ${most} options.`;
  const [short] = found(/must be at least (\d+) characters$/) ?? [];
  if (short !== undefined) return `${name} needs at least ${short} characters.`;
  const [long] = found(/must be at most (\d+) characters$/) ?? [];
  if (long !== undefined) return `${name} can have at most ${long} characters.`;

  const [highest] = found(/must be at most (\S+)$/) ?? [];
  if (highest !== undefined) return `${name} can be at most ${amount(highest)}.`;
  const [lowest] = found(/must be at least (\S+)$/) ?? [];
  if (lowest !== undefined) return `${name} must be at least ${amount(lowest)}.`;
  const [above] = found(/must be greater than (\S+)$/) ?? [];
  if (above !== undefined) return `${name} must be more than ${amount(above)}.`;
  if (/ must be an? (?:number|integer)$/.test(detail)) return `${name} must be a number.`;
  if (/ must not hold /.test(detail)) return `${name} contains invisible characters. Type it again without them.`;
  return `${name} cannot be used like this.`;
}
