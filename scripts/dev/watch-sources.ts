import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';

// Reports when a source file changes that a program depends on: in its own folder, or in a package that it imports.

/** Editors write a file in several steps, and a checkout changes many files, so wait until changes stop. */
const QUIET_MS = 80;
const SOURCE = /\.(ts|mjs|js|json|css|html|sql|svg)$/;
const NOT_SOURCE = /(^|[\\/])(\.|node_modules|test|dist)|~$/;

export interface Sources extends Disposable {
  /** Resolves with the path of the first file that changes after the call. */
  nextChange(script: string): Promise<string>;
}

export function watchSources(root: string): Sources {
  const watchers = new Map<string, FSWatcher>();
  const waiting = new Set<{ folders: string[]; resolve(file: string): void }>();

  function notify(folder: string, file: string): void {
    for (const one of waiting) {
      if (!one.folders.includes(folder)) continue;
      waiting.delete(one);
      one.resolve(join(folder, file));
    }
  }

  return {
    nextChange(script) {
      const folders = sourceFolders(root, script);
      for (const folder of folders)
        if (!watchers.has(folder))
          watchers.set(
            folder,
            watchFolder(join(root, folder), (file) => notify(folder, file)),
          );
      return new Promise((resolve) => waiting.add({ folders, resolve }));
    },
    [Symbol.dispose]() {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function watchFolder(folder: string, changed: (file: string) => void): FSWatcher {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, (_event, file) => {
    if (!file || !SOURCE.test(file) || NOT_SOURCE.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(changed, QUIET_MS, file);
  });
  // The watched folder was removed; changes in other folders still count.
  watcher.on('error', () => {});
  return watcher;
}

const Manifest = Type.Object({ dependencies: Type.Optional(Type.Record(Type.String(), Type.String())) });

/** The package of a script and all workspace packages that it needs, according to package.json. */
export function sourceFolders(root: string, script: string): string[] {
  const [area = '', name = ''] = script.split('/');
  if (area !== 'apps' && area !== 'packages') return [dirname(script)];
  const found = new Set<string>();
  const add = (folder: string) => {
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies = {} } = readJson(Manifest, readFileSync(join(root, folder, 'package.json'), 'utf8'));
    for (const needed of Object.keys(dependencies))
      if (needed.startsWith('@eloquentpoll/')) add(`packages/${needed.slice('@eloquentpoll/'.length)}`);
  };
  add(`${area}/${name}`);
  return [...found].filter((folder) => existsSync(join(root, folder)));
}
