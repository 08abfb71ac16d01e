import type { ProofRow, ProofSection } from './proof-row.ts';
import { CALIBRATION } from './rows/calibration.ts';
import { CALLERS } from './rows/callers.ts';
import { DAY } from './rows/day.ts';
import { FAULT_ROWS } from './rows/faults.ts';
import { MONEY } from './rows/money.ts';
import { SPEED } from './rows/speed.ts';
import { TESTS } from './rows/tests.ts';

/** In the order of the page. */
export const SECTIONS: readonly ProofSection[] = [
  { title: 'Nothing is lost', rows: FAULT_ROWS },
  { title: 'Money', rows: MONEY },
  { title: 'Callers, good and bad', rows: CALLERS },
  { title: 'A normal day', rows: DAY },
  { title: 'Simulations and tests', rows: TESTS },
  { title: 'Calibration and models', rows: CALIBRATION, notes: 'early-stopping.md' },
  { title: 'Speed', rows: SPEED, notes: 'speed.md' },
];

export const PROOF_ROWS: readonly ProofRow[] = SECTIONS.flatMap(({ rows }) => rows);
