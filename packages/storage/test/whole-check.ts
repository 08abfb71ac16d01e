import { checkWholeLedger, type LedgerViolation, type Queries } from '../src/index.ts';

export async function wholeCheck(queries: Queries): Promise<LedgerViolation[]> {
  const steps = checkWholeLedger(queries);
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value;
  }
}
