import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { webMcpScript } from './web-mcp.ts';

// The files that our pages load: stylesheets, the modules of browser/ and the other modules that they import, all
// without types. The folder name is a hash of the content, so browsers may cache forever. Types are stripped on first
// request: stripping all modules at startup would take a tenth of the startup time.

export interface Asset {
  name: string;
  mediaType: string;
  /** The source text before it is served. */
  source: string;
  readonly text: string;
}

const FOLDER = new URL('./browser/', import.meta.url);
const VOTING = new URL('../../../../packages/voting/src/', import.meta.url);
const RECEIPTS = new URL('../../../../packages/receipts/src/', import.meta.url);
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const IMPORTED = /\bfrom '\.\/([\w-]+)\.js'/g;
/** Removed together with the types. */
const TYPE_IMPORT = /\b(?:im|ex)port type [^;]*;/g;

interface Assets {
  byName: ReadonlyMap<string, Asset>;
  /** One version for all assets: they import each other, and a page must load all of them from one release. */
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

/** The modules that these modules import, directly or indirectly. The page preloads them in parallel. */
export function importedBy(modules: readonly string[]): string[] {
  const found = new Set(modules);
  const { byName } = pageAssets();
  // Adding to a set while iterating over it is fine: new entries are visited too.
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

/** Rewrites imports from file names to asset names, because all assets are in one folder. */
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

/** The modules of the voting package that the other modules use. */
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

/** The modules of a package. All assets share one folder, so their names start with the package's name. */
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
