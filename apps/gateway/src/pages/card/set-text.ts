import { type Face, glyphs } from './glyphs.ts';

// Text for pictures: only characters that have glyphs, cut to the available width.

/** One line; null if a visible character has no glyph, because the text could mean something else without it. */
export function drawable(text: string, face: Face): string | null {
  const known = glyphs().faces[face].glyphs;
  const line = oneLine(text);
  return line !== '' && [...line].every((character) => known.has(character)) ? line : null;
}

/** One line with an ellipsis in place of characters without glyphs; null if those are the majority. */
export function mostlyDrawable(text: string, face: Face): string | null {
  const known = glyphs().faces[face].glyphs;
  const characters = [...oneLine(text)];
  const drawn = characters.filter((character) => known.has(character)).length;
  if (drawn === 0 || drawn < characters.length * 0.7) return null;
  return characters
    .map((character) => (known.has(character) ? character : LEFT_OUT))
    .join('')
    .replace(/…{2,}/gu, LEFT_OUT);
}

const LEFT_OUT = '…';

/** Without invisible characters. */
const oneLine = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();

export function widthOf(text: string, face: Face): number {
  const known = glyphs().faces[face].glyphs;
  return [...text].reduce((sum, character) => sum + (known.get(character)?.advance ?? 0), 0);
}

/** The text, cut with an ellipsis if it does not fit. */
export function fitted(text: string, face: Face, maxWidth: number): string {
  if (widthOf(text, face) <= maxWidth) return text;
  let line = '';
  let width = widthOf('…', face);
  for (const character of text) {
    width += widthOf(character, face);
    if (width > maxWidth) break;
    line += character;
  }
  return `${line.trimEnd()}…`;
}

/** Breaks lines between words, or within a word longer than a line; the last line is cut. */
export function lines(text: string, face: Face, maxWidth: number, maxLines: number): string[] {
  const made: string[] = [];
  let rest = text;
  while (rest !== '' && made.length < maxLines - 1) {
    if (widthOf(rest, face) <= maxWidth) break;
    const line = firstLine(rest, face, maxWidth);
    made.push(line.trimEnd());
    rest = rest.slice(line.length).trimStart();
  }
  if (rest !== '') made.push(fitted(rest, face, maxWidth));
  return made;
}

function firstLine(text: string, face: Face, maxWidth: number): string {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character, face);
    if (width > maxWidth) break;
    end += character.length;
  }
  const space = text.lastIndexOf(' ', end);
  return text.slice(0, space > 0 ? space : Math.max(end, 1));
}
