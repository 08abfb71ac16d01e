import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { root } from '../launch/folders.mjs';

// Each process as a folder that needs nothing but Node: `main.js`, which is read at the start, chunks that are read when
// somebody needs them, and the files that the code reads as they are. Source maps lie beside them, so that a stack names
// our lines.

export const APPS = ['gateway', 'worker', 'simulator'] as const;
export type App = (typeof APPS)[number];

export interface Bundle {
  app: App;
  /** What Node is started with. */
  file: string;
  /** Of what is read at the start. */
  bytes: number;
}

/** Some packages are CommonJS inside and ask for `require` or their folder. */
export const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  "const __filename = __fileURLToPath(import.meta.url), __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join('\n');

/** Native helpers that their packages do without. */
export const OPTIONAL = ['pg-native', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'];

export async function bundleApp(app: App, into: string): Promise<Bundle> {
  const folder = join(into, app);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: join(root, 'apps', app, 'src/main.ts') },
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
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    external: OPTIONAL,
    plugins: [filesBeside(folder)],
    metafile: true,
    logLevel: 'warning',
  });
  return { app, file: join(folder, 'main.js'), bytes: atStart(metafile.outputs, folder) };
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
  const entry = Object.keys(outputs).find((path) => resolve(root, path) === join(folder, 'main.js'));
  if (entry) visit(entry);
  return [...read].reduce((sum, path) => sum + outputs[path]!.bytes, 0);
}

const NAMED_FILE = /import\.meta\.resolve\('([^']+)'\)|new URL\('(\.[^']+)', import\.meta\.url\)/g;

const beside = (path: string, name: string): string => fileURLToPath(new URL(name, pathToFileURL(path)));

/**
 * Our modules name the files that they read by `import.meta.resolve('package/file')` or `new URL('./file',
 * import.meta.url)`. Those are copied beside the bundle, and the names turned to the copies.
 */
function filesBeside(folder: string): Plugin {
  return {
    name: 'files-beside',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        if (!source.includes('import.meta')) return null;
        const require = createRequire(path);
        const contents = source.replace(NAMED_FILE, (_, module?: string, file?: string) =>
          module === undefined ? copied(beside(path, file!)) : `${copied(require.resolve(module))}.href`,
        );
        return { contents, loader: 'ts' };
      });
    },
  };

  function copied(path: string): string {
    const name = basename(path);
    cpSync(path, join(folder, 'files', name), { recursive: true });
    const slash = path.endsWith('/') ? '/' : '';
    return `new URL('./files/${name}${slash}', import.meta.url)`;
  }
}
