const [MIN_PER_S, MAX_PER_S] = [0.5, 400];
/** Share of the difference to correct at each step; with a larger one the rate oscillates. */
const GAIN = 0.35;
/** Activities take effect over several seconds, so a single step must be small. */
const [MAX_DOWN, MAX_UP] = [0.75, 1.25];
/** Share of the machine above which more users only wait longer. */
const FULL = 0.95;

/** Controls how many activities per second users begin, so that the machine is as busy as required. */
export class ArrivalRate {
  perSecond: number;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Call after each interval. `busy` is our share of the machine's CPU, `machine` that of all processes. */
  adjust(busy: number, wanted: number, machine = busy): void {
    const maxUp = machine >= FULL ? 1 : MAX_UP;
    const factor = Math.min(maxUp, Math.max(MAX_DOWN, 1 + (GAIN * (wanted - busy)) / wanted));
    this.perSecond = Math.min(MAX_PER_S, Math.max(MIN_PER_S, this.perSecond * factor));
  }
}
