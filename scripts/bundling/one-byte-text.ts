import { readFileSync } from 'node:fs';

// V8 keeps a program's source in memory: with one byte per character, or with two if any character is outside Latin-1.
// A single dash in a page would make a gateway's source text 3 MB larger.

/**
 * Converts a program to ASCII. An escape means the same in strings, templates, patterns and names; in comments it is
 * harmless.
 */
export const oneByteText = (source: string): string =>
  source.replace(/[^\0-\x7f]/g, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );

/** Throws if a bundled file contains a character outside Latin-1, and shows the text around it. */
export function requireOneByteText(file: string): void {
  const text = readFileSync(file, 'utf8');
  const [around] = /.{0,40}[^\0-\x7f].{0,40}/.exec(text) ?? [];
  if (around !== undefined) throw new Error(`${file} would take two bytes for each character in memory: ${around}`);
}
