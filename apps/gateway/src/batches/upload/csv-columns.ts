import { LIMITS } from '@eloquentpoll/contracts';

// The columns of a CSV file, and its rows as fields of a poll. An empty cell counts as a field that was not sent.

const OPTION = /^option_([1-9]|10)$/;
const METADATA = /^metadata\.(.+)$/s;
const NUMBERS = ['confidence_threshold', 'max_cost_usd'];
const LISTS = ['options', 'models'];
const TEXTS = ['custom_id', 'question', 'gold', 'preset', 'panel'];
const KNOWN = [...TEXTS, ...LISTS, ...NUMBERS, 'reasons'];

const isKnown = (name: string): boolean => KNOWN.includes(name) || OPTION.test(name) || METADATA.test(name);

/** Refuses mistyped columns: ignoring `gould` would be noticed only after the batch has run. */
export function columnsOf(cells: readonly string[]): { names: string[] } | { problem: string } {
  const names = cells.map((cell) => cell.trim());
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) {
    const known = [...KNOWN, `option_1 to option_${LIMITS.options.max}`, 'metadata.NAME'].join(', ');
    return { problem: `has the unknown column ${JSON.stringify(unknown.slice(0, 80))}; known are ${known}` };
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return { problem: `has the column ${twice} twice` };
  if (!names.includes('question')) return { problem: 'has no column question' };
  const separate = names.some((name) => OPTION.test(name));
  if (names.includes('options') === separate)
    return { problem: 'needs either a column options, with | between them, or columns option_1, option_2 ...' };
  return { names };
}

export function fieldsOf(names: readonly string[], cells: readonly string[]): object {
  const fields: [string, unknown][] = [];
  const options: { place: number; text: string }[] = [];
  const metadata: [string, string][] = [];
  for (const [i, name] of names.entries()) {
    const cell = cells[i]!;
    if (cell.trim() === '') continue;
    const [, place] = OPTION.exec(name) ?? [];
    const [, key] = METADATA.exec(name) ?? [];
    if (place !== undefined) options.push({ place: Number(place), text: cell });
    else if (key !== undefined) metadata.push([key, cell]);
    else fields.push([name, fieldOf(name, cell)]);
  }
  if (options.length > 0) fields.push(['options', options.sort((a, b) => a.place - b.place).map(({ text }) => text)]);
  if (metadata.length > 0) fields.push(['metadata', Object.fromEntries(metadata)]);
  return Object.fromEntries(fields);
}

/** Text that is not a number stays text, so that the field's own rules report it. */
function fieldOf(name: string, cell: string): unknown {
  if (LISTS.includes(name)) return cell.split('|').map((part) => part.trim());
  if (NUMBERS.includes(name)) return Number.isNaN(Number(cell)) ? cell : Number(cell);
  if (name === 'reasons') return { true: true, false: false }[cell.trim().toLowerCase()] ?? cell;
  return cell;
}
