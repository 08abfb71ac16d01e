import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { ApiError } from '../../src/http/api-error.ts';
import { centsOf, unitsOf } from '../../src/payments/usdc/amount.ts';
import { decimalUsd } from '../../src/polls/order/decimal-usd.ts';

// Conversion between decimal amounts and the ledger's micro-USD: exact or refused, never
// rounded.

t.test('an amount in dollars and cents becomes micro-USD exactly', async (t) => {
  fc.assert(
    fc.property(fc.nat(1_000_000_00), (cents) => unitsOf(cents / 100) === BigInt(cents) * 10_000n),
    { numRuns: 2_000 },
  );
  for (const [usd, units] of [
    [0, 0n],
    [0.01, 10_000n],
    [0.1, 100_000n],
    [0.29, 290_000n],
    [1, 1_000_000n],
    [1.1, 1_100_000n],
    [1.15, 1_150_000n],
    [10, 10_000_000n],
    [1_000.01, 1_000_010_000n],
    [999_999.99, 999_999_990_000n],
  ] as const)
    t.equal(unitsOf(usd), units, String(usd));
});

t.test('an amount that is not whole cents is refused and the field named', async (t) => {
  for (const usd of [1.005, 0.001, 0.1 + 0.2, 1e-7, 1e21, -1, -0.01, Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => unitsOf(usd), ApiError, String(usd));
  t.throws(() => unitsOf(1.005), {
    code: 'validation_error',
    circumstances: {
      issues: [{ pointer: '#/amount_usd', detail: 'amount_usd must have at most two decimals' }],
    },
  });
});

t.test('centsOf rounds down', async (t) => {
  t.equal(centsOf(0n), 0);
  t.equal(centsOf(9_999n), 0);
  t.equal(centsOf(10_000n), 1);
  t.equal(centsOf(19_999n), 1);
  t.equal(centsOf(1_000_000n), 100);
});

t.test('decimalUsd prints micro-USD exactly, with at least two decimals', async (t) => {
  for (const [microUsd, text] of [
    [0n, '0.00'],
    [1n, '0.000001'],
    [10n, '0.00001'],
    [100n, '0.0001'],
    [1_000n, '0.001'],
    [10_000n, '0.01'],
    [120_000n, '0.12'],
    [1_000_000n, '1.00'],
    [1_000_001n, '1.000001'],
    [-1n, '-0.000001'],
    [-1_500_000n, '-1.50'],
  ] as const)
    t.equal(decimalUsd(microUsd), text);
});
