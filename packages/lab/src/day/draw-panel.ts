// Draws one panel of a board as SVG: lines or stacked areas, with a scale and the names of the largest.

export interface PanelLine {
  readonly name: string;
  readonly points: readonly (readonly [at: number, value: number])[];
}

export interface DrawnPanel {
  readonly title: string;
  /** In Grafana's name for the unit. */
  readonly unit: string;
  readonly isStacked: boolean;
  readonly lines: readonly PanelLine[];
}

export interface PanelPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Unix time in seconds. */
  readonly from: number;
  readonly to: number;
}

/** With more lines, colours would look alike. */
const MAX_LINES = 7;
const [LEFT, RIGHT, TOP, LEGEND] = [48, 10, 26, 34];

export function drawPanel(panel: DrawnPanel, place: PanelPlace): string {
  const { x, y, width, height, from, to } = place;
  const plot = { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: height - TOP - LEGEND };
  const largest = panel.lines
    .toSorted((a, b) => peakOf(b) - peakOf(a))
    .slice(0, MAX_LINES)
    .filter(({ points }) => points.length > 0);
  const lines = panel.isStacked ? stacked(largest) : largest.map((line) => ({ ...line, floor: null }));
  const lowest = Math.min(0, ...lines.flatMap(({ points }) => points.map(([, value]) => value)));
  const bottom = lowest < 0 ? -scaleTop(-lowest) : 0;
  const peak = Math.max(0, ...lines.map(peakOf));
  const top = peak === 0 && bottom < 0 ? 0 : scaleTop(peak);
  const px = (at: number) => (plot.x + (plot.width * (at - from)) / Math.max(1, to - from)).toFixed(1);
  const py = (value: number) => (plot.y + plot.height * (1 - (value - bottom) / (top - bottom))).toFixed(1);
  const path = (points: PanelLine['points']) => points.map(([at, value]) => `${px(at)} ${py(value)}`).join('L');
  const drawn = lines.map(({ points, floor }, i) => {
    if (floor === null) return `<path class="l c${i}" d="M${path(points)}"/>`;
    return `<path class="a c${i}" d="M${path(points)}L${path(floor.toReversed())}Z"/>`;
  });
  const grid = [0, 0.5, 1].map((share) => {
    const value = bottom + share * (top - bottom);
    const at = py(value);
    const label = `<text class="s e" x="${LEFT - 6}" y="${Number(at) + 3}">${inSvg(inUnit(value, panel.unit))}</text>`;
    return `<path class="g" d="M${plot.x} ${at}H${plot.x + plot.width}"/>${label}`;
  });
  const others = panel.lines.length - largest.length;
  return [
    `<g transform="translate(${x} ${y})"><rect class="p" width="${width}" height="${height}" rx="6"/>`,
    `<text class="t" x="12" y="18">${inSvg(panel.title)}</text>`,
    ...grid,
    ...drawn,
    lines.length === 0 ? `<text class="s m" x="${width / 2}" y="${height / 2}">nothing of this happened</text>` : '',
    legend(lines, { width, y: height - LEGEND + 14, others }),
    '</g>',
  ].join('');
}

function legend(
  lines: readonly PanelLine[],
  { width, y, others }: { width: number; y: number; others: number },
): string {
  let [x, row] = [12, 0];
  const names: string[] = [];
  for (const [i, { name }] of lines.entries()) {
    const text = name.length > 26 ? `${name.slice(0, 25)}…` : name || 'value';
    const wide = 16 + text.length * 5.6;
    if (x + wide > width - 10) [x, row] = [12, row + 1];
    if (row > 1) return `${names.join('')}`;
    const at = y + row * 13;
    names.push(`<rect class="k c${i}" x="${x}" y="${at - 7}" width="8" height="8" rx="2"/>`);
    names.push(`<text class="s" x="${x + 12}" y="${at}">${inSvg(text)}</text>`);
    x += wide;
  }
  if (others > 0 && x + 60 < width)
    names.push(`<text class="s" x="${x}" y="${y + row * 13}">and ${others} more</text>`);
  return names.join('');
}

const peakOf = ({ points }: PanelLine): number => points.reduce((peak, [, value]) => Math.max(peak, value), 0);

/** Stacks each line on those before it. */
function stacked(lines: readonly PanelLine[]): (PanelLine & { floor: PanelLine['points'] })[] {
  const below = new Map<number, number>();
  return lines.map(({ name, points }) => {
    const floor = points.map(([at]) => [at, below.get(at) ?? 0] as const);
    const raised = points.map(([at, value], i) => [at, value + floor[i]![1]] as const);
    for (const [at, value] of raised) below.set(at, value);
    return { name, points: raised, floor };
  });
}

/** A round number above the highest value. */
function scaleTop(peak: number): number {
  if (peak <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(peak));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((top) => top >= peak)!;
}

export function inUnit(value: number, unit: string): string {
  const short = (number: number) => Number(number.toPrecision(2)).toLocaleString('en-US', { notation: 'compact' });
  switch (unit) {
    case 's':
      return value > 0 && value < 1 ? `${short(value * 1_000)} ms` : `${short(value)} s`;
    case 'percentunit':
      return `${Number((100 * value).toPrecision(2))} %`;
    case 'bytes':
      return Math.abs(value) < 1e6 ? `${short(value / 1e3)} kB` : `${short(value / 1e6)} MB`;
    case 'currencyUSD':
      return `$${short(value)}`;
    case 'ops':
    case 'reqps':
      return `${short(value)}/s`;
    default:
      return short(value);
  }
}

export const inSvg = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
