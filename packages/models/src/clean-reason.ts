// A model's reason, made safe to show: one line of plain text. It is untrusted, because the question may have steered
// the model that wrote it. Every step takes linear time, so no regular expression runs over the text.

const MAX_WORDS = 40;
const MAX_CHARACTERS = 320;
/** Only this much of a text is read. */
const MAX_READ = 4_000;
const LINK = '(link removed)';
const MORE = '…';

/** Null if nothing readable is left. */
export function cleanReason(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const words = wordsOf(text.slice(0, MAX_READ).toWellFormed());
  const shown = words.slice(0, MAX_WORDS).map((word) => (isLink(word) ? LINK : word));
  const line = shown.join(' ');
  if (line === '') return null;
  const cut = line.length > MAX_CHARACTERS ? trimTo(line, MAX_CHARACTERS - MORE.length) : line;
  return cut.length < line.length || words.length > MAX_WORDS ? `${cut}${MORE}` : cut;
}

/** The words of the text without hidden characters, split at any kind of space. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (isSpace(character)) {
      if (word !== '') words.push(word);
      word = '';
    } else if (!isHidden(character.codePointAt(0)!)) word += character;
  }
  if (word !== '') words.push(word);
  return words;
}

const isSpace = (character: string): boolean => character.trim() === '' && !isHidden(character.codePointAt(0)!);

/** Control and format characters, direction marks, and tags. Joiners that scripts and emoji need are kept. */
function isHidden(point: number): boolean {
  if (point === 0x09 || point === 0x0a || point === 0x0d) return false;
  return (
    point < 0x20 ||
    (point >= 0x7f && point < 0xa0) ||
    HIDDEN.has(point) ||
    (point >= 0x202a && point <= 0x202e) ||
    (point >= 0x2060 && point <= 0x206f) ||
    (point >= 0xfff9 && point <= 0xfffb) ||
    (point >= 0xe0000 && point <= 0xe0fff)
  );
}

const HIDDEN: ReadonlySet<number> = new Set([0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0xfeff]);

/** A URL, or the target of a Markdown link or image. */
function isLink(word: string): boolean {
  const lower = word.toLowerCase();
  return lower.includes('://') || lower.includes('](') || SCHEMES.some((start) => lower.includes(start));
}

const SCHEMES = ['www.', 'mailto:', 'javascript:', 'data:', 'tel:'];

/** Never cuts in the middle of a character. */
function trimTo(text: string, length: number): string {
  return text.slice(0, length).toWellFormed().replaceAll('\ufffd', '').trimEnd();
}
