import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { webMcpScript } from './web-mcp.ts';

// What our pages load: the modules of browser/ with their types taken out, the service's own modules that they use, and
// stylesheets. Their folder is named after what is in it, so that browsers keep them for good. Types are taken out when a
// module is asked for: for all of them at once that would be a tenth of the start.

export interface Asset {
  name: string;
  mediaType: string;
  /** What it is made of. */
  source: string;
  readonly text: string;
}

const FOLDER = new URL('./browser/', import.meta.url);
const VOTING = new URL('../../../../packages/voting/src/', import.meta.url);
const RECEIPTS = new URL('../../../../packages/receipts/src/', import.meta.url);
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const IMPORTED = /\bfrom '\.\/([\w-]+)\.js'/g;
/** Gone with the types. */
const TYPE_IMPORT = /\b(?:im|ex)port type [^;]*;/g;

interface Assets {
  byName: ReadonlyMap<string, Asset>;
  /** Of all of them: they import each other, and one release loads one version. */
  version: string;
}

let made: Assets | undefined;

export function pageAssets(): Assets {
  made ??= makeAssets();
  return made;
}

function makeAssets(): Assets {
  const own = [...browserFiles(), ...modulesOf(RECEIPTS, 'receipts-')];
  const all = [asWritten('web-mcp.js', SCRIPT_TYPE, webMcpScript()), ...own, ...votingModules(own)];
  const version = createHash('sha256')
    .update([process.version, ...all.map(({ name, source }) => `${name}\n${source}`)].join('\n'))
    .digest('hex')
    .slice(0, 12);
  return { byName: new Map(all.map((asset) => [asset.name, asset])), version };
}

export const assetPath = (name: string): string => `/assets/${pageAssets().version}/${name}`;

/** The modules that these modules import, directly or not: a page names them, so that they load side by side. */
export function importedBy(modules: readonly string[]): string[] {
  const found = new Set(modules);
  const { byName } = pageAssets();
  // A set may grow while it is walked.
  for (const name of found) for (const imported of importsOf(byName.get(`${name}.js`))) found.add(imported);
  return [...found].filter((name) => !modules.includes(name));
}

function browserFiles(): Asset[] {
  return readdirSync(FOLDER).flatMap((name): Asset | [] => {
    if (name.endsWith('.css')) return asWritten(name, 'text/css; charset=utf-8', read(name));
    return name.endsWith('.ts') ? script(name.replace(/\.ts$/, '.js'), read(name)) : [];
  });
}

const asWritten = (name: string, mediaType: string, text: string): Asset => ({ name, mediaType, source: text, text });

/** Imports are rewritten from file names to the names of assets, which lie in one folder. */
function script(name: string, module: string, prefix = ''): Asset {
  const source = module
    .replaceAll(/\bfrom '\.\.?\/(?:[\w-]+\/)*([\w-]+)\.ts'/g, `from './${prefix}$1.js'`)
    .replaceAll(/\bfrom '@eloquentpoll\/(voting)\/([\w-]+)'/g, "from './$1-$2.js'")
    .replaceAll("import('@eloquentpoll/receipts')", "import('./receipts-index.js')");
  let text: string | undefined;
  return {
    name,
    mediaType: SCRIPT_TYPE,
    source,
    get text() {
      text ??= withoutWarning(() => stripTypeScriptTypes(source));
      return text;
    },
  };
}

/** Of the rules of a poll, what the other modules use. */
function votingModules(users: readonly Asset[]): Asset[] {
  const modules = new Map(modulesOf(VOTING, 'voting-').map((module) => [module.name, module]));
  const used = new Set(users);
  for (const asset of used)
    for (const imported of importsOf(asset)) {
      const module = modules.get(`${imported}.js`);
      if (module) used.add(module);
    }
  return [...used].filter((asset) => !users.includes(asset));
}

/** The modules of a package, in one folder with all others: their names begin with the package's. */
function modulesOf(folder: URL, prefix: string): Asset[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path): Asset | [] => {
    if (!path.endsWith('.ts')) return [];
    return script(`${prefix}${basename(path, '.ts')}.js`, readFileSync(new URL(path, folder), 'utf8'), prefix);
  });
}

function importsOf(asset: Asset | undefined): string[] {
  return [...(asset?.source.replaceAll(TYPE_IMPORT, '').matchAll(IMPORTED) ?? [])].map(([, imported]) => imported!);
}

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
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
