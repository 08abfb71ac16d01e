import type { Mutant } from './mutant.ts';

// Mutants of SQL: comparisons, arithmetic, conditions, conflicts, sums, outcomes, whole statements. Found by patterns,
// which is enough for functions that are written in one style. Postgres may reject some; these do not count.

type Swap = readonly [pattern: RegExp, ...instead: string[]];

const SWAPS: readonly Swap[] = [
  [/(?<= )<(?= )/g, '<=', '>='],
  [/(?<= )<=(?= )/g, '<', '>'],
  [/(?<= )>(?= )/g, '>=', '<='],
  [/(?<= )>=(?= )/g, '>', '<'],
  [/(?<= )<>(?= )/g, '='],
  [/(?<=\b(?:where|and|or|on|if|when|not|then)\b[^,;\n]*) =(?= )/gi, ' <>'],
  [/(?<= )\+(?= )/g, '-'],
  [/(?<= )-(?= )/g, '+'],
  [/\band\b(?! interval)/g, 'or'],
  [/\bor\b(?! replace)/g, 'and'],
  [/\bnot (?!null|found|exists)/g, ''],
  [/\bnot found\b/g, 'found'],
  [/\bif found\b/g, 'if not found'],
  [/\bnot exists\b/g, 'exists'],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/\breturn true\b/g, 'return false'],
  [/\breturn false\b/g, 'return true'],
  [/\bgreatest\b/g, 'least'],
  [/\bleast\b/g, 'greatest'],
  [/\bsum\(/g, 'max('],
  [/(?<=[=,(] |[=,(])0(?=[,); ])/g, '1'],
  [/(?<=select |then |else )'(?:accepted|joined|reused|insufficient|stored|fenced|post|void)'/g, "'other'"],
  [/\bon conflict[^;]*do nothing/g, ''],
  [/\b(?:filter \(where [^)]*\))/g, ''],
];

/** Statements of a function's body that a mutant leaves out. */
const STATEMENTS = /(?<=\n\s+)(?:update|delete|perform|insert into [a-z_]+ [^;]*values)\b[^;]*;/gi;

export function sqlMutants(source: string, from = 0, to = source.length): Mutant[] {
  const part = source.slice(from, to);
  // Nothing depends on comments and the texts of errors.
  const code = part.replace(/--[^\n]*|(?<=raise exception )'[^']*'/g, (text) => ' '.repeat(text.length));
  const mutants: Mutant[] = [];
  for (const [pattern, ...instead] of SWAPS)
    for (const match of code.matchAll(pattern))
      for (const text of instead)
        mutants.push({ start: from + match.index, end: from + match.index + match[0].length, text });
  for (const match of code.matchAll(STATEMENTS))
    mutants.push({ start: from + match.index, end: from + match.index + match[0].length, text: 'null;' });
  return mutants.sort((a, b) => a.start - b.start);
}
