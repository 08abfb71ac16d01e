import t from 'tap';
import { FAULTS } from '../src/faults/fault-kinds.ts';
import type { ProofRow } from '../src/proof/proof-row.ts';
import { PROOF_ROWS } from '../src/proof/rows.ts';
import { readSources } from '../src/proof/sources.ts';

const countsOf = ({ rate, none = [], beside = [], needs = [] }: ProofRow): string[] => [
  ...(rate ? [rate.of, ...rate.failures] : []),
  ...[...none, ...beside],
  ...needs.flatMap(({ what, of = [what] }) => of),
];

t.test('a count that a row names is one that its runs have: of another name there would be 0 for ever', async (t) => {
  const { runs } = await readSources();
  for (const row of PROOF_ROWS) {
    const own = runs.filter(({ experiment }) => experiment === row.id || row.experiments?.includes(experiment));
    const counting = own.filter(({ counts }) => Object.keys(counts).length > 0);
    const known = new Set(counting.flatMap(({ counts, faults }) => Object.keys({ ...counts, ...faults, ...FAULTS })));
    if (counting.length > 0) for (const name of countsOf(row)) t.ok(known.has(name), `${row.id}: ${name}`);
  }
});
