import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

// What our pages load, made once at the start from the files of browser/: modules with their types taken out, and the
// stylesheet as it is. There is no build, and nothing comes from another origin.

export interface Asset {
  path: string;
  mediaType: string;
  text: string;
}

const FOLDER = new URL('./browser/', import.meta.url);

export function pageAssets(): Asset[] {
  return readdirSync(FOLDER).flatMap((name): Asset | [] => {
    if (name.endsWith('.css'))
      return { path: `/assets/${name}`, mediaType: 'text/css; charset=utf-8', text: read(name) };
    if (!name.endsWith('.ts')) return [];
    const path = `/assets/${name.replace(/\.ts$/, '.js')}`;
    return { path, mediaType: 'text/javascript; charset=utf-8', text: scriptOf(read(name)) };
  });
}

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** Rewrites imports from file names to URLs. */
const scriptOf = (source: string): string =>
  withoutWarning(() => stripTypeScriptTypes(source)).replace(/(\bfrom '\.\/[\w-]+)\.ts'/g, "$1.js'");

/** Suppresses Node's experimental warning, which an operator cannot act on. */
function withoutWarning(strip: () => string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return strip();
  } finally {
    process.emitWarning = emitWarning;
  }
}
