/** The checks of a receipt, in this order. Their names are stable. */
export const PARTS = [
  'form',
  'canonical',
  'key',
  'signature',
  'panel',
  'tally',
  'odds',
  'decision',
  'price',
  'result',
  'inclusion',
] as const;
export type PartName = (typeof PARTS)[number];

/** `unchecked`: something needed is not available; `says` names it. */
export interface PartState {
  readonly state: 'holds' | 'fails' | 'unchecked';
  readonly says: string;
}

export interface CheckedPart extends PartState {
  readonly name: PartName;
}

export const holds = (says: string): PartState => ({ state: 'holds', says });
export const fails = (says: string): PartState => ({ state: 'fails', says });
export const unchecked = (says: string): PartState => ({ state: 'unchecked', says });
