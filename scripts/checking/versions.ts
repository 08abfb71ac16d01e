import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';

// Packages, OpenAPI, AsyncAPI and images have the same version, and CHANGELOG.md says what changed in it.

const PENDING = 'Pending';
const RELEASED = /^(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/;

const Versioned = Type.Object({ version: Type.Optional(Type.String()) });
const Described = Type.Object({ info: Type.Optional(Versioned) });

export function versionProblems(root: string): string[] {
  const read = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
  const { version = '' } = readJson(Versioned, read('package.json'));
  const others = [
    ...globSync(
      ['apps/*/package.json', 'packages/*/package.json', 'scripts/package.json', 'scripts/launch/package.json'],
      { cwd: root },
    ).map((file) => [file, readJson(Versioned, read(file)).version] as const),
    ...['docs/api/openapi.json', 'docs/api/asyncapi.json'].map(
      (file) => [file, readJson(Described, read(file) || '{}').info?.version] as const,
    ),
    ...matches('Dockerfile', read('Dockerfile'), /org\.opencontainers\.image\.version="?([^"\s]+)/g),
    ...matches('docker-compose.yml', read('docker-compose.yml'), /image: eloquentpoll\/\w+:?(\S*)/g),
    ...matches('infra/k8s/example', read('infra/k8s/example/kustomization.yaml'), /newTag: ([^\s}]+)/g),
  ];
  return [
    ...others
      .filter(([, found]) => found !== version)
      .map(([file, found]) => `${file} has version ${found || 'none'}, package.json has ${version}`),
    ...changelogProblems(read('CHANGELOG.md'), version),
  ];
}

function matches(file: string, text: string, pattern: RegExp): (readonly [string, string | undefined])[] {
  const found = [...text.matchAll(pattern)].map((match) => [file, match[1]] as const);
  return found.length > 0 ? found : [[file, undefined]];
}

/** A `## Pending` section comes first, then one per release; the changes of an unreleased version are in Pending. */
export function changelogProblems(text: string, version: string): string[] {
  const [first, ...released] = text.split(/^## /m).slice(1);
  const [heading, ...entries] = first?.split('\n') ?? [];
  if (heading?.trim() !== PENDING) return [`CHANGELOG.md must begin with a section "## ${PENDING}"`];
  const titles = released.map((section) => section.split('\n')[0] ?? '');
  const malformed = titles.filter((title) => !RELEASED.test(title));
  if (malformed.length > 0) return malformed.map((title) => `CHANGELOG.md: "${title}" must be "1.2.3 - 2026-01-31"`);
  const isReleased = titles.some((title) => RELEASED.exec(title)?.[1] === version);
  const isEmpty = !entries.some((line) => line.startsWith('- '));
  return isEmpty && !isReleased ? [`CHANGELOG.md: ${version} is not released, and ${PENDING} lists no change`] : [];
}
