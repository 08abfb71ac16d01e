import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// An exported name has one meaning: two files must not export the same name.

const SOURCES = ['apps/*/src/**/*.ts', 'packages/*/src/**/*.ts', 'scripts/**/*.ts'];
/** The client is published alone and declares the contract's types itself; tests export nothing for others. */
const LEFT_OUT = ['packages/client/src/**', '**/test/**', '**/*.test.ts', '**/node_modules/**'];
/**
 * In formatted code, declarations start at the beginning of a line. A type and a value with one name in one file are
 * fine.
 */
const EXPORT =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:class|function\*?|interface|type|const|let|enum) ([A-Za-z_$][\w$]*)/gm;

/**
 * Names that each app or command has once, and names that both `voting`, which imports nothing, and the contract
 * define.
 */
export const ONE_EACH: Readonly<Record<string, string>> = {
  App: 'the HTTP server of an app, with its type provider',
  Arguments: 'the command line of a command',
  Chances: 'the same odds as `voting` gives them and as they are sent',
  Config: 'the settings of an app',
  Context: 'what the composition root of an app opens',
  Ops: 'the operators’ port of an app',
  ResultStatus: '`voting` imports nothing; `pollResponse` does not compile when the two differ',
  TerminationReason: '`voting` imports nothing; `pollResponse` does not compile when the two differ',
  USAGE: 'the help of a command',
  Verdict: 'the same verdict as `voting` gives it and as it is sent',
  openContext: 'the composition root of an app',
  openOps: 'the operators’ port of an app',
  readArguments: 'the command line of a command',
  readConfig: 'the settings of an app',
};

/** One sentence per name with two meanings, and per exception that is no longer needed. */
export function ambiguousNames(root: string, allowed: Readonly<Record<string, string>> = ONE_EACH): string[] {
  const files = new Map<string, Set<string>>();
  for (const file of globSync(SOURCES, { cwd: root, exclude: LEFT_OUT }))
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(EXPORT))
      files.set(name, (files.get(name) ?? new Set()).add(file));
  const repeated = new Map([...files].filter(([, places]) => places.size > 1));
  return [
    ...[...repeated]
      .filter(([name]) => !Object.hasOwn(allowed, name))
      .map(([name, places]) => `${name} is exported by ${[...places].sort().join(' and ')}`),
    ...Object.keys(allowed)
      .filter((name) => !repeated.has(name))
      .map((name) => `${name} is exported once: it needs no exception in exported-names.ts`),
  ];
}
