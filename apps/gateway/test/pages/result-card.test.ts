import { inflateSync } from 'node:zlib';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { drawnNames, houseCard, resultCard } from '../../src/pages/card/result-card.ts';
import { drawable, fitted, lines, mostlyDrawable, widthOf } from '../../src/pages/card/set-text.ts';
import { madeUpResult } from '../fixtures/made-up-result.ts';

// The picture of a link: a PNG that others can read, whatever the texts are.

/** Rows of palette indices; throws on anything but an indexed PNG of the size that everybody takes. */
function pixelsOf(png: Buffer): Buffer {
  if (png.subarray(1, 4).toString() !== 'PNG') throw new Error('not a PNG');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.set(png.subarray(at + 4, at + 8).toString(), png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const head = chunks.get('IHDR')!;
  if (head.readUInt32BE(0) !== 1_200 || head.readUInt32BE(4) !== 630) throw new Error('not of this size');
  return inflateSync(chunks.get('IDAT')!);
}

t.test('the picture of a result shows its tally', async (t) => {
  const one = pixelsOf(await resultCard(madeUpResult()));
  t.equal(one.length, 630 * 1_201);
  const row = 394 + 12 + 7;
  const blue = (pixels: Buffer) =>
    pixels.subarray(row * 1_201, (row + 1) * 1_201).filter((index) => index === 5 * 16 + 15);
  t.equal(blue(one).length, Math.round((1_048 * 5) / 9), 'five of nine models are five ninths of the bar');
  t.equal(blue(pixelsOf(await resultCard(madeUpResult({ choices: [0, 0], unasked: 0 })))).length, 1_048);
  t.ok((await resultCard(madeUpResult())).length < 60_000);
  t.equal(pixelsOf(await houseCard()).length, one.length);
});

t.test('any text is drawn, cut or left out', async (t) => {
  for (const question of ['你认为哪一个更好?', '\u202e\u0000<script>', '', '𝕳'.repeat(900), 'a'.repeat(5_000)])
    pixelsOf(await resultCard(madeUpResult({ question, options: [question || 'x', 'other'], choices: [0, 1, 0] })));
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 60, max: 900 }), (text, width) => {
      const plain = drawable(text, 'strong');
      if (plain === null) return;
      const made = lines(plain, 'strong', width, 3);
      t.ok(made.length <= 3 && made.every((line) => widthOf(line, 'strong') <= width));
      t.ok(widthOf(fitted(plain, 'plain', width), 'plain') <= width);
    }),
    { numRuns: 300 },
  );
});

t.test('an option is drawn whole or has its number, and no two are drawn alike', async (t) => {
  t.equal(drawable('A♭ minor', 'strong'), null);
  t.equal(drawable('x 😀', 'plain'), null);
  t.equal(drawable(' A\u200b\tminor\n', 'plain'), 'A minor', 'what one does not see is no other text');
  t.equal(mostlyDrawable('Is it A♭♭ minor?', 'plain'), 'Is it A… minor?');
  t.equal(mostlyDrawable('你认为哪一个更好?', 'plain'), null);
  t.same(drawnNames(['A♭ minor', 'A minor']), ['Option 1', 'A minor']);
  t.same(drawnNames(['a b', 'a  b', 'c']), ['Option 1', 'Option 2', 'c']);
  t.same(drawnNames(['♭', 'b', 'Option 1']), ['Option 1', 'b', 'Option 3']);
  const long = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore';
  t.same(drawnNames([`${long} one`, `${long} two`]), ['Option 1', 'Option 2'], 'both would be cut before they differ');
  const character = fc.constantFrom('A', 'a', '♭', ' ', 'Option 1', 'Option 2', '\u200b', 'é', 'W'.repeat(60));
  fc.assert(
    fc.property(
      fc.array(
        fc.array(character).map((parts) => parts.join('')),
        { minLength: 2, maxLength: 10 },
      ),
      (options) => {
        const drawn = drawnNames(options).map((name) => fitted(name, 'plain', 848));
        t.equal(new Set(drawn).size, options.length);
      },
    ),
    { numRuns: 300 },
  );
});
