import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

// Letters for pictures: DejaVu Sans in two sizes, pre-rendered in 16 levels of ink, for European scripts. The file has
// the length of a JSON header, the header, then the pixels of all glyphs, two levels per byte.

export type Face = 'strong' | 'plain';

interface Glyph {
  advance: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Offset of its pixels, in levels. */
  at: number;
}

type Metrics = [advance: number, left: number, top: number, width: number, height: number];

interface Glyphs {
  faces: Record<Face, { size: number; glyphs: ReadonlyMap<string, Glyph> }>;
  levelAt(place: number): number;
}

let read: Glyphs | undefined;

/** Loaded when the first picture is drawn. */
export function glyphs(): Glyphs {
  read ??= readGlyphs();
  return read;
}

function readGlyphs(): Glyphs {
  const file = brotliDecompressSync(readFileSync(new URL('./glyphs.br', import.meta.url)));
  const inkFrom = 4 + file.readUInt32LE(0);
  const head = JSON.parse(file.subarray(4, inkFrom).toString()) as Record<
    Face,
    { size: number; characters: string; metrics: Metrics[] }
  >;
  let at = 0;
  const faceOf = ({ size, characters, metrics }: (typeof head)[Face]) => {
    const glyphs = new Map<string, Glyph>();
    for (const [i, character] of [...characters].entries()) {
      const [advance, left, top, width, height] = metrics[i]!;
      glyphs.set(character, { advance, left, top, width, height, at });
      at += width * height;
    }
    return { size, glyphs };
  };
  const faces = { strong: faceOf(head.strong), plain: faceOf(head.plain) };
  return {
    faces,
    levelAt: (place) => (place % 2 === 0 ? file[inkFrom + (place >> 1)]! >> 4 : file[inkFrom + (place >> 1)]! & 15),
  };
}
