import { randomBytes } from 'node:crypto';

export function secret(): string {
  return randomBytes(32).toString('hex');
}
