import type { ResultDetail } from '@eloquentpoll/contracts';
import { sure } from '../browser/why-it-stopped.ts';
import { countOf } from '../result-graph.ts';
import { Raster } from './raster.ts';
import { drawable, fitted, lines, widthOf } from './set-text.ts';

// The preview image (og:image): of a result its question and tally, of any other page the service.

const [WIDTH, HEIGHT, EDGE] = [1_200, 630, 76];
const INNER_WIDTH = WIDTH - 2 * EDGE;
const WHITE: [number, number, number] = [255, 255, 255];
const PAPER: [number, number, number] = [250, 249, 246];
const BLUE: [number, number, number] = [51, 80, 200];

const INKS = [
  { ink: [28, 30, 36], ground: PAPER },
  { ink: [90, 95, 107], ground: PAPER },
  { ink: BLUE, ground: PAPER },
  { ink: [228, 226, 219], ground: PAPER },
  { ink: [185, 188, 201], ground: [228, 226, 219] },
  { ink: BLUE, ground: [228, 226, 219] },
  { ink: WHITE, ground: BLUE },
  { ink: [164, 177, 234], ground: BLUE },
] satisfies { ink: [number, number, number]; ground: [number, number, number] }[];
const [TEXT, MUTED, ACCENT, TRACK, BAR, LEAD, MARK, MARK_SOFT] = INKS.map((_, i) => i) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

const MAX_ROWS = 3;

export function resultCard(result: ResultDetail): Promise<Buffer> {
  const picture = framed();
  const asked = drawable(result.question ?? '', 'strong') ?? 'What several AI models say';
  for (const [i, line] of lines(asked, 'strong', INNER_WIDTH, 3).entries())
    picture.text(EDGE, 190 + 52 * i, line, 'strong', TEXT);
  const counts = result.options.map((option) => countOf(result.tally, option));
  const all = Math.max(
    1,
    counts.reduce((sum, count) => sum + count, 0),
  );
  const rows = result.options
    .map((option, i) => ({ option, name: drawable(option, 'plain') ?? `Option ${i + 1}`, count: counts[i]! }))
    .sort((one, other) => other.count - one.count)
    .slice(0, MAX_ROWS);
  for (const [i, { option, name, count }] of rows.entries()) {
    const [y, leads] = [376 + 62 * i, option === result.winning_option];
    const votes = String(count);
    picture.text(EDGE, y, fitted(name, 'plain', INNER_WIDTH - 120), 'plain', leads ? TEXT : MUTED);
    picture.text(WIDTH - EDGE - widthOf(votes, 'plain'), y, votes, 'plain', leads ? TEXT : MUTED);
    picture.box(EDGE, y + 14, INNER_WIDTH, 14, TRACK, 7);
    if (count > 0)
      picture.box(EDGE, y + 14, Math.max(14, Math.round((INNER_WIDTH * count) / all)), 14, leads ? LEAD : BAR, 7);
  }
  picture.text(EDGE, 586, footOf(result), 'plain', result.status === 'success' ? ACCENT : MUTED);
  return picture.png();
}

function footOf({ status, confidence = null, models_requested: asked, models_skipped: skipped }: ResultDetail): string {
  const of = `${asked} of ${asked + skipped} models asked`;
  if (status === 'failed') return `No votes · ${of}`;
  if (status === 'partial') return `Partial result · ${of}`;
  return confidence === null ? of : `${sure(confidence)} sure · ${of}`;
}

export function houseCard(): Promise<Buffer> {
  const picture = framed();
  const says = 'One AI model that is wrong sounds just like one that is right.';
  for (const [i, line] of lines(says, 'strong', INNER_WIDTH, 3).entries())
    picture.text(EDGE, 200 + 54 * i, line, 'strong', TEXT);
  picture.text(EDGE, 336, 'Ask several. Each casts one vote, and you see how firm the outcome is.', 'plain', MUTED);
  for (const [i, part] of [0.86, 0.29, 0.14].entries()) {
    picture.box(EDGE, 420 + 46 * i, INNER_WIDTH, 22, TRACK, 11);
    picture.box(EDGE, 420 + 46 * i, Math.round(INNER_WIDTH * part), 22, i === 0 ? LEAD : BAR, 11);
  }
  return picture.png();
}

/** With the logo at the top. */
function framed(): Raster {
  const picture = new Raster(WIDTH, HEIGHT, INKS);
  picture.box(0, 0, WIDTH, 10, ACCENT);
  picture.box(EDGE, 62, 56, 56, ACCENT, 13);
  picture.box(EDGE + 11, 62 + 27, 9, 17, MARK_SOFT, 2);
  picture.box(EDGE + 24, 62 + 12, 9, 32, MARK, 2);
  picture.box(EDGE + 37, 62 + 33, 9, 11, MARK_SOFT, 2);
  picture.text(EDGE + 74, 100, 'EloquentPoll', 'plain', TEXT);
  return picture;
}
