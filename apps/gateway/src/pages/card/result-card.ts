import type { ResultDetail } from '@eloquentpoll/contracts';
import { endedVerdict } from '@eloquentpoll/polls';
import { headlineText, type Verdict } from '@eloquentpoll/voting/verdict';
import { pictureOf } from '../result-picture.ts';
import { Raster } from './raster.ts';
import { drawable, fitted, lines, mostlyDrawable, widthOf } from './set-text.ts';

// The preview image (og:image): question and tally for a result, the service for any other page.

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
  { ink: [125, 78, 0], ground: PAPER },
] satisfies { ink: [number, number, number]; ground: [number, number, number] }[];
const [TEXT, MUTED, ACCENT, TRACK, BAR, LEAD, MARK, MARK_SOFT, WARN] = INKS.map((_, i) => i) as [
  number,
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
/** Width of an option's name beside its votes. */
const NAME_WIDTH = INNER_WIDTH - 200;

/** The verdict is most prominent; the question and the bars, scaled to the whole panel, explain it. */
export function resultCard(result: ResultDetail, isCanceled = false): Promise<Buffer> {
  const picture = framed();
  const { options, tally, panelSize } = pictureOf(result);
  const verdict = endedVerdict(result, { isCanceled });
  const names = drawnNames(options);
  const asked = mostlyDrawable(result.question ?? '', 'plain') ?? 'A question to several AI models';
  for (const [i, line] of lines(asked, 'plain', INNER_WIDTH, 2).entries())
    picture.text(EDGE, 172 + 38 * i, line, 'plain', MUTED);
  for (const [i, line] of lines(headlineText(verdict.headlineParts, names), 'strong', INNER_WIDTH, 2).entries())
    picture.text(EDGE, 272 + 54 * i, line, 'strong', TEXT);
  const rows = options
    .map((_, i) => ({
      name: fitted(names[i]!, 'plain', NAME_WIDTH),
      count: tally[i]!,
      leads: i === verdict.leader,
    }))
    .sort((one, other) => other.count - one.count)
    .slice(0, MAX_ROWS);
  for (const [i, { name, count, leads }] of rows.entries()) {
    const y = 394 + 58 * i;
    const votes = `${count} of ${panelSize}`;
    const ink = leads ? TEXT : MUTED;
    picture.text(EDGE, y, name, 'plain', ink);
    picture.text(WIDTH - EDGE - widthOf(votes, 'plain'), y, votes, 'plain', ink);
    picture.box(EDGE, y + 12, INNER_WIDTH, 14, TRACK, 7);
    if (count > 0)
      picture.box(EDGE, y + 12, Math.max(14, Math.round((INNER_WIDTH * count) / panelSize)), 14, leads ? LEAD : BAR, 7);
  }
  picture.text(EDGE, 592, footOf(result, verdict), 'plain', result.simulated ? WARN : MUTED);
  return picture.png();
}

/** An option that cannot be drawn, or looks like another one after being cut, is shown by its number. */
export function drawnNames(options: readonly string[]): string[] {
  const names = options.map((option, i) => drawable(option, 'plain') ?? numbered(i));
  for (;;) {
    const shown = names.map((name) => fitted(name, 'plain', NAME_WIDTH));
    const alike = names.flatMap((name, i) =>
      name !== numbered(i) && shown.filter((other) => other === shown[i]).length > 1 ? [i] : [],
    );
    if (alike.length === 0) return names;
    // Another option's text may be that number.
    for (const i of alike) names[i] = numbered(i);
  }
}

const numbered = (option: number): string => `Option ${option + 1}`;

function footOf(
  { simulated, models_requested: asked, models_skipped: skipped }: ResultDetail,
  { band }: Verdict,
): string {
  const agreement = band === null ? [] : [`Agreement: ${band}`];
  return [
    ...(simulated ? ['Simulated models: not a real answer'] : []),
    ...agreement,
    `${asked} of ${asked + skipped} asked`,
  ].join(' · ');
}

export function houseCard(): Promise<Buffer> {
  const picture = framed();
  const says = 'One AI model that is wrong sounds just like one that is right.';
  for (const [i, line] of lines(says, 'strong', INNER_WIDTH, 3).entries())
    picture.text(EDGE, 200 + 54 * i, line, 'strong', TEXT);
  picture.text(EDGE, 336, 'Ask several. Each casts one vote, and you see how settled the result is.', 'plain', MUTED);
  for (const [i, part] of [0.86, 0.29, 0.14].entries()) {
    picture.box(EDGE, 420 + 46 * i, INNER_WIDTH, 22, TRACK, 11);
    picture.box(EDGE, 420 + 46 * i, Math.round(INNER_WIDTH * part), 22, i === 0 ? LEAD : BAR, 11);
  }
  return picture.png();
}

/** A picture with the logo at the top. */
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
