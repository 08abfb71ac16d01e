import type { BoardSection } from './board-panels.ts';
import { drawPanel, inSvg } from './draw-panel.ts';

// Draws the whole board as one picture, for light and dark pages.

const [COLUMNS, WIDTH, PANEL_HEIGHT, GAP, HEAD, SECTION] = [3, 1_320, 190, 12, 64, 40];

const STYLE = `
svg { --back: #f6f7f9; --panel: #fff; --ink: #1c2330; --soft: #5b6473; --grid: #e3e6ec; }
.b { fill: var(--back); } .p { fill: var(--panel); stroke: var(--grid); } .g { stroke: var(--grid); fill: none; }
text { font-family: system-ui, sans-serif; fill: var(--ink); } .h { font-size: 20px; font-weight: 650; }
.r { font-size: 14px; font-weight: 650; } .t { font-size: 12px; font-weight: 600; }
.s { font-size: 10px; fill: var(--soft); } .e { text-anchor: end; } .m { text-anchor: middle; }
.l { fill: none; stroke: var(--c); stroke-width: 1.4; stroke-linejoin: round; } .a { fill: var(--c); fill-opacity: .75; } .k { fill: var(--c); }
.c0 { --c: #3457d5; } .c1 { --c: #d9730d; } .c2 { --c: #0f8a6d; } .c3 { --c: #b5308f; } .c4 { --c: #7a8190; } .c5 { --c: #c9a400; } .c6 { --c: #c2303a; }
@media (prefers-color-scheme: dark) { svg { --back: #0f1218; --panel: #171b23; --ink: #e8eaf0; --soft: #a0a8b8; --grid: #2a303c; }
.c0 { --c: #8aa2ff; } .c1 { --c: #ffab5c; } .c2 { --c: #4fd0ae; } .c3 { --c: #f08bd2; } .c4 { --c: #a6adbb; } .c5 { --c: #ead05a; } .c6 { --c: #ff7f87; } }`;

export function drawBoard(
  title: string,
  subtitle: string,
  sections: readonly BoardSection[],
  span: { from: Date; to: Date },
): string {
  const width = (WIDTH - (COLUMNS + 1) * GAP) / COLUMNS;
  const drawn: string[] = [];
  let y = HEAD;
  for (const section of sections) {
    drawn.push(`<text class="r" x="${GAP}" y="${y + 26}">${inSvg(section.title)}</text>`);
    y += SECTION;
    for (const [i, panel] of section.panels.entries()) {
      const x = GAP + (i % COLUMNS) * (width + GAP);
      const place = { x, y: y + Math.floor(i / COLUMNS) * (PANEL_HEIGHT + GAP), width, height: PANEL_HEIGHT };
      drawn.push(drawPanel(panel, { ...place, from: span.from.getTime() / 1_000, to: span.to.getTime() / 1_000 }));
    }
    y += Math.ceil(section.panels.length / COLUMNS) * (PANEL_HEIGHT + GAP);
  }
  const height = y + GAP;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${inSvg(title)}</title><style>${STYLE}\n</style><rect class="b" width="${WIDTH}" height="${height}"/>`,
    `<text class="h" x="${GAP}" y="32">${inSvg(title)}</text><text class="s" x="${GAP}" y="52">${inSvg(subtitle)}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
