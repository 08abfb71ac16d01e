const [MIN_PER_S, MAX_PER_S] = [0.5, 400];
/** Of the difference, at each step; with more of it the rate swings. */
const GAIN = 0.35;
/** What users began is felt for seconds after, so that one step may not leap. */
const [MAX_DOWN, MAX_UP] = [0.75, 1.25];
/** Of the machine: then more users take nothing more of it, and only wait longer. */
const FULL = 0.95;

/** How many things per second users begin, so that the machine is as busy as it should be. */
export class ArrivalRate {
  perSecond: number;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** After an interval in which we took this share of the machine, and everything on it that one. */
  adjust(busy: number, wanted: number, machine = busy): void {
    const maxUp = machine >= FULL ? 1 : MAX_UP;
    const factor = Math.min(maxUp, Math.max(MAX_DOWN, 1 + (GAIN * (wanted - busy)) / wanted));
    this.perSecond = Math.min(MAX_PER_S, Math.max(MIN_PER_S, this.perSecond * factor));
  }
}
