import { hash } from 'node:crypto';

// Reproducible randomness: every draw depends only on its key, so the same seed gives the same numbers in any order,
// process and load.

export type Draw = () => number;

/** An endless sequence of numbers in (0, 1) for this key. */
export function draws(...key: readonly (string | number)[]): Draw {
  const text = JSON.stringify(key);
  let block = hash('sha256', text, 'buffer');
  let offset = 0;
  let round = 0;
  return () => {
    if (offset + 6 > block.length) {
      round += 1;
      block = hash('sha256', `${round}${text}`, 'buffer');
      offset = 0;
    }
    const whole = block.readUIntBE(offset, 6);
    offset += 6;
    return (whole + 0.5) / 2 ** 48;
  };
}

export const gumbel = (draw: Draw): number => -Math.log(-Math.log(draw()));

export const normal = (draw: Draw): number => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());

/** The logarithm of a gamma variate (Marsaglia and Tsang), which stays finite for shapes close to zero. */
export function logGamma(shape: number, draw: Draw): number {
  if (shape < 1) return logGamma(shape + 1, draw) + Math.log(draw()) / shape;
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(draw);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(draw()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return Math.log(d * v);
  }
}
