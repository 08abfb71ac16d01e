import { type Face, glyphs } from './glyphs.ts';

// Text for pictures: only what we have letters for, and cut to the room that there is.

/** One line without characters that we cannot draw; null when most of it would be missing. */
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

/** The text, or as much of it as fits with an ellipsis behind it. */
export function fitted(text: string, face: Face, room: number): string {
  if (widthOf(text, face) <= room) return text;
  let line = '';
  let width = widthOf('…', face);
  for (const character of text) {
    width += widthOf(character, face);
    if (width > room) break;
    line += character;
  }
  return `${line.trimEnd()}…`;
}

/** Broken between words, or within one that is too long for a line; what does not fit into the last line is cut. */
export function lines(text: string, face: Face, room: number, most: number): string[] {
  const made: string[] = [];
  let rest = text;
  while (rest !== '' && made.length < most - 1) {
    if (widthOf(rest, face) <= room) break;
    const line = firstLine(rest, face, room);
    made.push(line.trimEnd());
    rest = rest.slice(line.length).trimStart();
  }
  if (rest !== '') made.push(fitted(rest, face, room));
  return made;
}

function firstLine(text: string, face: Face, room: number): string {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character, face);
    if (width > room) break;
    end += character.length;
  }
  const space = text.lastIndexOf(' ', end);
  return text.slice(0, space > 0 ? space : Math.max(end, 1));
}
