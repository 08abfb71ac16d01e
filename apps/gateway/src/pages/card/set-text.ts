import { type Face, glyphs } from './glyphs.ts';

// Text for pictures: only characters that have glyphs, cut to the available width.

/** One line without characters that have no glyph; null if most would be missing. */
export function drawable(text: string, face: Face): string | null {
  const known = glyphs().faces[face].glyphs;
  const characters = [
    ...text
      .normalize('NFC')
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
      .trim(),
  ];
  const kept = characters.filter((character) => known.has(character));
  return kept.length === 0 || kept.length < characters.length * 0.7 ? null : kept.join('');
}

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
