import type { Calibration } from './calibration.ts';

const SIZE = 480;
const EDGE = 64;
const SIDE = SIZE - 2 * EDGE;
const COLOURS = ['#1f6feb', '#d1551f', '#2e8b57', '#8a3ffc'];

/** Confidence against what came true, as an SVG document: one line per panel; a dot's size grows with its states. */
export function calibrationPlot(
  panels: readonly { readonly name: string; readonly calibration: Calibration }[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}" font-family="system-ui, sans-serif" font-size="12">`,
    '<title>Calibration of confidence on recorded votes</title>',
    `<rect width="${SIZE}" height="${SIZE}" fill="#fff"/>`,
    ...axes(),
    ...panels.flatMap(({ name, calibration }, i) => series(name, calibration, COLOURS[i % COLOURS.length]!, i)),
    '</svg>',
    '',
  ].join('\n');
}

function axes(): string[] {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return [
    `<path d="M${x(0)} ${y(1)}V${y(0)}H${x(1)}" fill="none" stroke="#57606a"/>`,
    `<path d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}" stroke="#8c959f" stroke-dasharray="4 4"/>`,
    ...ticks.flatMap((tick) => [
      `<text x="${x(tick)}" y="${y(0) + 18}" text-anchor="middle">${tick}</text>`,
      `<text x="${x(0) - 8}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
    ]),
    `<text x="${SIZE / 2}" y="${SIZE - 18}" text-anchor="middle">confidence</text>`,
    `<text transform="translate(20 ${SIZE / 2}) rotate(-90)" text-anchor="middle">leader won the full panel</text>`,
  ];
}

function series(name: string, { bins, ece, states }: Calibration, colour: string, index: number): string[] {
  const filled = bins.filter((bin) => bin.states > 0);
  const points = filled.map((bin) => `${x(bin.confidence)},${y(bin.cameTrue)}`).join(' ');
  const legend = `${escaped(name)}: calibration error ${ece.toFixed(3)}`;
  return [
    `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ...filled.map((bin) => {
      const radius = rounded(2 + 12 * Math.sqrt(bin.states / states));
      return `<circle cx="${x(bin.confidence)}" cy="${y(bin.cameTrue)}" r="${radius}" fill="${colour}" fill-opacity=".5"/>`;
    }),
    `<text x="${x(0) + 12}" y="${y(1) + 6 + 18 * index}" fill="${colour}">${legend}</text>`,
  ];
}

const x = (share: number): number => rounded(EDGE + SIDE * share);
const y = (share: number): number => rounded(SIZE - EDGE - SIDE * share);
const rounded = (value: number): number => Math.round(value * 100) / 100;

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.codePointAt(0)};`);
