import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { WEB_MCP_SCRIPT } from './web-mcp.ts';

// What our pages load, made once at the start from the files of browser/: modules with their types taken out, and the
// stylesheets as they are. The rule of the verdict is the service's own module. There is no build, and nothing comes from another origin. Their folder is named after what is
// in it, so that a browser keeps them for good and a new release is loaded at once.

export interface Asset {
  name: string;
  mediaType: string;
  text: string;
}

const FOLDER = new URL('./browser/', import.meta.url);
const VOTING = new URL('../../../../packages/voting/src/', import.meta.url);
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const IMPORTED = /\bfrom '\.\/([\w-]+)\.js'/g;

/** The verdict and what it is made of. */
const VERDICT = ['verdict/verdict', 'verdict/agreement', 'verdict/headline', 'verdict/words', 'status', 'tally'];

export const ASSETS: ReadonlyMap<string, Asset> = new Map(
  [
    { name: 'web-mcp.js', mediaType: SCRIPT_TYPE, text: WEB_MCP_SCRIPT },
    ...browserFiles(),
    ...VERDICT.map(votingModule),
  ].map((asset) => [asset.name, asset]),
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

function votingModule(path: string): Asset {
  const source = readFileSync(new URL(`${path}.ts`, VOTING), 'utf8');
  return { name: `voting-${path.split('/').at(-1)}.js`, mediaType: SCRIPT_TYPE, text: scriptOf(source, 'voting-') };
}

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

/** Rewrites imports from file names to the names of assets, which lie in one folder. */
function scriptOf(source: string, prefix = ''): string {
  return withoutWarning(() => stripTypeScriptTypes(source))
    .replaceAll(/\bfrom '\.\.?\/(?:[\w-]+\/)*([\w-]+)\.ts'/g, `from './${prefix}$1.js'`)
    .replaceAll("from '@eloquentpoll/voting/verdict'", "from './voting-verdict.js'");
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
