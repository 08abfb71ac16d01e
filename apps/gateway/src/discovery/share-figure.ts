/** A share rounded for publication. Only what is all is 1: one failure of 30,000 does not round away. */
export function shareFigure(share: number, places = 4): number {
  const unit = 10 ** places;
  return share < 1 ? Math.min(unit - 1, Math.round(share * unit)) / unit : 1;
}
