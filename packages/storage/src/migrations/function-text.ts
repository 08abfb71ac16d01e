import { readFileSync } from 'node:fs';

/** The present text of a function of the database, from sql/. */
export const functionText = (name: string): string =>
  readFileSync(new URL(`${name}.sql`, new URL('../../sql/', import.meta.url)), 'utf8');
