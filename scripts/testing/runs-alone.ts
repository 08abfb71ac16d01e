import { readFileSync } from 'node:fs';

// A test file that compares times has a line that says so, "// alone: WHY". It runs by itself when all others have ended: what
// they take from the machine would be a part of one time and not of the other.

const TAG = /^\/\/ alone: \S/m;

export const runsAlone = (file: string): boolean => TAG.test(readFileSync(file, 'utf8'));
