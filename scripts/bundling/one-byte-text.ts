import { readFileSync } from 'node:fs';

// V8 keeps the text of a program in memory as long as it runs: with one byte for each character, or with two as soon as
// one of them is beyond Latin-1. A single dash in a page made a gateway's text 3 MB larger.

/** The same program in ASCII: an escape means the same in strings, templates, patterns and names, and nothing in comments. */
export const oneByteText = (source: string): string =>
  source.replace(/[^\0-\x7f]/g, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );

/** Throws where a file of a bundle has another character, with the text around it. */
export function requireOneByteText(file: string): void {
  const text = readFileSync(file, 'utf8');
  const [around] = /.{0,40}[^\0-\x7f].{0,40}/.exec(text) ?? [];
  if (around !== undefined) throw new Error(`${file} would take two bytes for each character in memory: ${around}`);
}
