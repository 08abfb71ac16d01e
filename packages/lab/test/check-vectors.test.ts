import t from 'tap';
import { checkVectors, vectorsPass } from '../src/replay/check-vectors.ts';

const LEADING = {
  votes: [0, 2],
  remaining: 2,
  leader: 1,
  locked: false,
  confidence: '15/16',
  confidence_failure_rate_0_1: 0.949375,
};
const TIED = {
  votes: [1, 1],
  remaining: 3,
  leader: null,
  locked: false,
  confidence: null,
  confidence_failure_rate_0_1: null,
};
const LOCKED = {
  votes: [3, 0],
  remaining: 2,
  leader: 0,
  locked: true,
  confidence: '1',
  confidence_failure_rate_0_1: 1,
};

const check = (...vectors: readonly unknown[]) => checkVectors(JSON.stringify({ rule: 'text', vectors }), 'v.json');

t.test('vectors that agree', async (t) => {
  const figures = check(LEADING, TIED, LOCKED);
  t.match(figures, { vectors: 3, exact: 2, withFailures: 2, missing: 0, contradicted: 0 });
  t.ok(figures.maxError < 1e-15);
  t.equal(vectorsPass(figures), true);
});

t.test('a figure that differs by more than 1e-12 fails', async (t) => {
  t.equal(vectorsPass(check({ ...LEADING, confidence: '937500000002/1000000000000' })), false);
  t.equal(vectorsPass(check({ ...LEADING, confidence: '9375000000001/10000000000000' })), true);
  t.equal(vectorsPass(check({ ...LEADING, confidence_failure_rate_0_1: 0.94937500001 })), false);
});

t.test('another leader or lock is a contradiction', async (t) => {
  t.match(check({ ...TIED, leader: 0, confidence: '1/2' }), { contradicted: 1 });
  t.match(check({ ...LEADING, leader: null, confidence: null }), { contradicted: 1 });
  t.match(check({ ...LEADING, leader: 0 }), { contradicted: 1 });
  t.equal(vectorsPass(check(LEADING, { ...LOCKED, locked: false })), false);
});

t.test('a missing figure is counted as missing', async (t) => {
  t.match(check(LEADING, { ...LEADING, confidence_failure_rate_0_1: null }), { exact: 2, withFailures: 1, missing: 1 });
  t.match(check({ ...LEADING, confidence: null }), { exact: 0, withFailures: 1, missing: 1 });
  t.equal(vectorsPass(check(TIED)), false, 'nothing compared is nothing proved');
});

t.test('another format is refused with its place', async (t) => {
  t.throws(() => checkVectors('{', 'v.json'), /^v\.json: /);
  t.throws(() => checkVectors('[]', 'v.json'), /v\.json: expected an object with a list "vectors"/);
  t.throws(() => check(LEADING, { ...LEADING, votes: [1.5] }), /vector 2/);
  for (const field of Object.keys(LEADING)) t.throws(() => check({ ...LEADING, [field]: 'x' }), /vector 1/, field);
  t.throws(() => check(null), /vector 1/);
});
