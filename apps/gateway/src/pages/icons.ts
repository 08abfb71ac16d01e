import { Raster } from './card/raster.ts';

// The logo as pictures of fixed sizes for clients that do not draw SVG: older browsers' tabs, home screens, link lists.

const BLUE: [number, number, number] = [52, 87, 213];
const INKS = [
  { ink: BLUE, ground: BLUE },
  { ink: [255, 255, 255], ground: BLUE },
  { ink: [164, 177, 234], ground: BLUE },
] satisfies ConstructorParameters<typeof Raster>[2];
const [, MARK, MARK_SOFT] = [0, 1, 2] as const;

/** In the units of logo.svg, which is 64 by 64. */
const BARS = [
  { x: 12, y: 30, height: 20, ink: MARK_SOFT },
  { x: 27, y: 14, height: 36, ink: MARK },
  { x: 42, y: 38, height: 12, ink: MARK_SOFT },
];

/** A square PNG without rounded corners, because home screens round them. */
export function icon(size: number): Promise<Buffer> {
  const picture = new Raster(size, size, INKS);
  const scaled = (length: number): number => Math.round((length * size) / 64);
  for (const { x, y, height, ink } of BARS)
    picture.box(scaled(x), scaled(y), scaled(10), scaled(height), ink, scaled(2));
  return picture.png();
}

/** The same as favicon.ico: a directory with one picture, which may be a PNG. */
export async function favicon(): Promise<Buffer> {
  const size = 32;
  const png = await icon(size);
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.set([size, size, 0, 0, 1, 0, 32, 0], 6);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

export const MANIFEST = JSON.stringify({
  name: 'EloquentPoll',
  short_name: 'EloquentPoll',
  description: 'Ask several AI models one multiple-choice question.',
  start_url: '/?view=human',
  display: 'browser',
  theme_color: '#3457d5',
  background_color: '#ffffff',
  icons: [
    { src: '/logo.svg', type: 'image/svg+xml', sizes: 'any' },
    { src: '/icon-192.png', type: 'image/png', sizes: '192x192' },
    { src: '/icon-512.png', type: 'image/png', sizes: '512x512' },
  ],
});
