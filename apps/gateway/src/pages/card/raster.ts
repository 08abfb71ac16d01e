import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { type Face, glyphs } from './glyphs.ts';

// A picture of few colours: each pixel is an ink on its background in 16 levels, so that edges are smooth and the file
// is small. Drawn in memory, written as PNG (RFC 2083).

export interface RasterColours {
  ink: [number, number, number];
  ground: [number, number, number];
}

const LEVELS = 16;

export class Raster {
  readonly #width: number;
  readonly #height: number;
  readonly #pixels: Uint8Array;
  readonly #inks: readonly RasterColours[];

  /** At most 16 inks. All pixels start as the background of the first one. */
  constructor(width: number, height: number, inks: readonly RasterColours[]) {
    this.#width = width;
    this.#height = height;
    this.#inks = inks;
    this.#pixels = new Uint8Array(width * height);
  }

  /** A rectangle with rounded corners. */
  box(x: number, y: number, width: number, height: number, ink: number, radius = 0): void {
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) {
        const level = Math.round((LEVELS - 1) * covered(column, row, width, height, radius));
        if (level > 0) this.#set(x + column, y + row, ink, level);
      }
  }

  /** One line of text on its baseline. Characters without a glyph are left out. */
  text(x: number, y: number, text: string, face: Face, ink: number): void {
    const { faces, levelAt } = glyphs();
    let pen = x;
    for (const character of text) {
      const glyph = faces[face].glyphs.get(character);
      if (!glyph) continue;
      for (let row = 0; row < glyph.height; row++)
        for (let column = 0; column < glyph.width; column++) {
          const level = levelAt(glyph.at + row * glyph.width + column);
          if (level > 0) this.#set(Math.round(pen) + glyph.left + column, y + glyph.top + row, ink, level);
        }
      pen += glyph.advance;
    }
  }

  #set(x: number, y: number, ink: number, level: number): void {
    if (x < 0 || y < 0 || x >= this.#width || y >= this.#height) return;
    this.#pixels[y * this.#width + x] = ink * LEVELS + level;
  }

  async png(): Promise<Buffer> {
    const head = Buffer.alloc(13);
    head.writeUInt32BE(this.#width, 0);
    head.writeUInt32BE(this.#height, 4);
    head.set([8, 3], 8);
    const rows = Buffer.alloc(this.#height * (this.#width + 1));
    for (let y = 0; y < this.#height; y++)
      rows.set(this.#pixels.subarray(y * this.#width, (y + 1) * this.#width), y * (this.#width + 1) + 1);
    const parts = [chunk('IHDR', head), chunk('PLTE', palette(this.#inks)), chunk('IDAT', await packed(rows))];
    return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
  }
}

const packed = promisify(deflate) as (rows: Buffer) => Promise<Buffer>;

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const palette = (inks: readonly RasterColours[]): Buffer =>
  Buffer.from(
    inks.flatMap(({ ink, ground }) =>
      Array.from({ length: LEVELS }, (_, level) =>
        ink.map((part, i) => Math.round(ground[i]! + ((part - ground[i]!) * level) / (LEVELS - 1))),
      ).flat(),
    ),
  );

/** Coverage of a pixel inside the corner, from 0 to 1. */
function covered(column: number, row: number, width: number, height: number, radius: number): number {
  const dx = Math.max(radius - column - 0.5, column + 0.5 - (width - radius), 0);
  const dy = Math.max(radius - row - 0.5, row + 0.5 - (height - radius), 0);
  return dx === 0 || dy === 0 ? 1 : Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(dx, dy)));
}
