import fc, { type Arbitrary } from 'fast-check';

/** `weight` times the usual value for each other one. */
export const mostly = <T>(weight: number, usual: Arbitrary<T>, other: Arbitrary<T>): Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
