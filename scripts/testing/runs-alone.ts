import { readFileSync } from 'node:fs';

// A test file that compares times has a line "// alone: WHY". It runs after all others have ended, because files that
// run beside it would distort only some of its times.

const TAG = /^\/\/ alone: \S/m;

export const runsAlone = (file: string): boolean => TAG.test(readFileSync(file, 'utf8'));
