import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from '@eloquentpoll/launch/folders';
import type { AppName } from '@eloquentpoll/services/app-program';
import { build, type Plugin } from 'esbuild';
import { nodeModulesByName } from './node-modules-by-name.ts';
import { oneByteText, requireOneByteText } from './one-byte-text.ts';

// Bundles each process into a folder that needs only Node: `main.js` and `app.js` for the start, chunks loaded on first
// use, the files that the code reads, and Node's compile cache, which a Node of the same version can reuse. Source maps
// make stack traces point to our source lines.

export const APPS: readonly AppName[] = ['gateway', 'worker', 'simulator'];

export interface Bundle {
  app: AppName;
  /** The file that Node is started with. */
  file: string;
  /** Size of the code that is loaded at startup. */
  bytes: number;
}

/** Some packages contain CommonJS code that needs `require` or `__dirname`. */
export const BANNER = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  'const { filename: __filename, dirname: __dirname } = import.meta;',
].join('\n');

const MAIN = `const { enableCompileCache } = process.getBuiltinModule('node:module');
enableCompileCache({ directory: import.meta.dirname + '/compiled', portable: true });
await import('./app.js');
`;

/** Fills the compile cache: without settings, a process loads all of its code, reports what is missing, and ends. */
function compile(file: string): void {
  spawnSync(process.execPath, [file], { env: {}, stdio: 'ignore', timeout: 30_000 });
}

/** Optional native helpers; the packages work without them. */
export const OPTIONAL = ['pg-native', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'];

export async function bundleApp(app: AppName, into: string): Promise<Bundle> {
  const folder = join(into, app);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { app: join(root, 'apps', app, 'src/main.ts') },
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    // Licence texts contain names of people, so they are in separate files.
    legalComments: 'external',
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    external: OPTIONAL,
    plugins: [filesBeside(folder), nodeModulesByName()],
    metafile: true,
    logLevel: 'warning',
  });
  for (const path of Object.keys(metafile.outputs)) if (path.endsWith('.js')) requireOneByteText(resolve(root, path));
  const file = join(folder, 'main.js');
  writeFileSync(file, MAIN);
  // Otherwise Node would parse each file twice to detect its module type.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  if (app !== 'simulator') compile(file);
  return { app, file, bytes: atStart(metafile.outputs, folder) };
}

interface Output {
  bytes: number;
  imports: { path: string; kind: string }[];
}

function atStart(outputs: Record<string, Output>, folder: string): number {
  const read = new Set<string>();
  const visit = (path: string): void => {
    if (read.has(path) || !outputs[path]) return;
    read.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind !== 'dynamic-import') visit(next);
  };
  const entry = Object.keys(outputs).find((path) => resolve(root, path) === join(folder, 'app.js'));
  if (entry) visit(entry);
  return [...read].reduce((sum, path) => sum + outputs[path]!.bytes, 0);
}

const NAMED_FILE = /import\.meta\.resolve\('([^']+)'\)|new URL\('(\.[^']+)', import\.meta\.url\)/g;

/** Types are stripped from browser modules here, not at startup: the tool for it is larger than the gateway. */
const STRIPS = "import { stripTypeScriptTypes } from 'node:module';";

function stripTypes(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')))
    writeFileSync(join(folder, name), stripTypeScriptTypes(readFileSync(join(folder, name), 'utf8')));
}

const beside = (path: string, name: string): string => fileURLToPath(new URL(name, pathToFileURL(path)));

/**
 * Our modules refer to the files that they read by `import.meta.resolve('package/file')` or `new URL('./file',
 * import.meta.url)`. This copies those files beside the bundle and rewrites the references.
 */
export function filesBeside(folder: string): Plugin {
  return {
    name: 'files-beside',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = oneByteText(await readFile(path, 'utf8'));
        const require = createRequire(path);
        const contents = source.replace(NAMED_FILE, (_, module?: string, file?: string) =>
          module === undefined ? copied(beside(path, file!)) : `${copied(require.resolve(module))}.href`,
        );
        return {
          contents: contents.replace(STRIPS, 'const stripTypeScriptTypes = (text: string): string => text;'),
          loader: 'ts',
        };
      });
    },
  };

  function copied(path: string): string {
    // Several packages have a `src` folder, so the name includes the folder above it.
    const name = basename(path) === 'src' ? `${basename(dirname(path))}-src` : basename(path);
    const copy = join(folder, 'files', name);
    cpSync(path, copy, { recursive: true });
    if (statSync(copy).isDirectory()) stripTypes(copy);
    const slash = path.endsWith('/') ? '/' : '';
    return `new URL('./files/${name}${slash}', import.meta.url)`;
  }
}
