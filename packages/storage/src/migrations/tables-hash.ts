import { createHash } from 'node:crypto';
import { migrations } from './index.ts';
import type { Migration } from './migration.ts';

/** Of a step without comments and functions: those are loaded with their present text, and a later step may change them. */
export function tablesHash(step: Migration): string {
  const tables = [...(step.prepare?.() ?? []).map(({ sql }) => sql), step.sql()]
    .join('')
    .replaceAll(/create or replace function[^$]*\$\$[\s\S]*?\$\$[^;]*;/g, '')
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(tables).digest('hex');
}

/** In their order. What a release contains is kept in released.json, and does not change any more. */
export const stepHashes = (): Record<string, string> =>
  Object.fromEntries(migrations.map((step) => [step.name, tablesHash(step)]));
