import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// In `t.match`, a list may be longer than its pattern, so the pattern [] matches every list. { length: 0 } matches an
// empty one.

const TESTS = ['apps/*/test/**/*.ts', 'packages/*/test/**/*.ts', 'scripts/test/**/*.ts'];
const LEFT_OUT = ['**/node_modules/**', 'scripts/test/checking.test.ts'];
const CALL = 't.match(';
const EMPTY_LIST = /(?:[:,] |\[|^ +)\[\]/m;

/** The places where a pattern contains an empty list. Reads formatted code. */
export function emptyPatterns(root: string): string[] {
  return globSync(TESTS, { cwd: root, exclude: LEFT_OUT })
    .sort()
    .flatMap((file) =>
      callsIn(readFileSync(join(root, file), 'utf8'))
        .filter(({ text }) => EMPTY_LIST.test(patternOf(text)))
        .map(({ line }) => `${file}:${line} t.match accepts any list for []: write { length: 0 }, or use t.same`),
    );
}

interface Call {
  line: number;
  /** What is between the parentheses, and the end of the last line. */
  text: string;
}

function callsIn(source: string): Call[] {
  const lines = source.split('\n');
  return lines.flatMap((first, index) => {
    const start = first.indexOf(CALL);
    if (start < 0) return [];
    const rest = first.slice(start + CALL.length);
    if (/\)[;,]?$/.test(rest)) return [{ line: index + 1, text: rest }];
    const indent = first.slice(0, first.search(/\S/));
    const end = lines.findIndex((line, at) => at > index && /^[)\]}]/.test(line.slice(indent.length)));
    return [{ line: index + 1, text: [rest, ...lines.slice(index + 1, end)].join('\n') }];
  });
}

/** The second argument and what follows it. */
function patternOf(text: string): string {
  let depth = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (quote !== '') {
      if (character === '\\') i++;
      else if (character === quote) quote = '';
    } else if ('\'"`'.includes(character)) quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    else if (character === ',' && depth === 0) return text.slice(i);
  }
  return '';
}
