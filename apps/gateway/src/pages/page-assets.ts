import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { WEB_MCP_SCRIPT } from './web-mcp.ts';

// What our pages load, made once at the start from the files of browser/: modules with their types taken out, and the
// stylesheets as they are. There is no build, and nothing comes from another origin. Their folder is named after what is
// in it, so that a browser keeps them for good and a new release is loaded at once.

export interface Asset {
  name: string;
  mediaType: string;
  text: string;
}

const FOLDER = new URL('./browser/', import.meta.url);
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const IMPORTED = /\bfrom '\.\/([\w-]+)\.js'/g;

export const ASSETS: ReadonlyMap<string, Asset> = new Map(
  [{ name: 'web-mcp.js', mediaType: SCRIPT_TYPE, text: WEB_MCP_SCRIPT }, ...browserFiles()].map((asset) => [
    asset.name,
    asset,
  ]),
);

/** Of all of them: they import each other, and one release loads one version. */
export const ASSETS_VERSION = createHash('sha256')
  .update([...ASSETS.values()].map(({ name, text }) => `${name}\n${text}`).join('\n'))
  .digest('hex')
  .slice(0, 12);

export const assetPath = (name: string): string => `/assets/${ASSETS_VERSION}/${name}`;

/** The modules that these modules import, directly or not: a page names them, so that they load side by side. */
export function importedBy(modules: readonly string[]): string[] {
  const found = new Set(modules);
  // A set may grow while it is walked.
  for (const name of found)
    for (const [, imported] of ASSETS.get(`${name}.js`)?.text.matchAll(IMPORTED) ?? []) found.add(imported!);
  return [...found].filter((name) => !modules.includes(name));
}

function browserFiles(): Asset[] {
  return readdirSync(FOLDER).flatMap((name): Asset | [] => {
    if (name.endsWith('.css')) return { name, mediaType: 'text/css; charset=utf-8', text: read(name) };
    if (!name.endsWith('.ts')) return [];
    return { name: name.replace(/\.ts$/, '.js'), mediaType: SCRIPT_TYPE, text: scriptOf(read(name)) };
  });
}

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

/** Rewrites imports from file names to URLs. */
function scriptOf(source: string): string {
  return withoutWarning(() => stripTypeScriptTypes(source)).replace(/(\bfrom '\.\/[\w-]+)\.ts'/g, "$1.js'");
}

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
