/** What a link does to the bytes that pass, in both directions. Absent is calm. */
export interface LinkConditions {
  /** Each piece arrives this much later, and up to `jitterMs` more; pieces never overtake. */
  latencyMs?: number;
  jitterMs?: number;
  bytesPerSecond?: number;
  /** Pieces are cut into slices of this size, so that nothing arrives in one read. */
  sliceBytes?: number;
  /** Connections stand and new ones are taken, and nothing passes. What was sent meanwhile arrives afterwards. */
  blackhole?: boolean;
  /** New connections are reset; of an address, only those from it. */
  refuse?: boolean | string;
}

export const CALM: LinkConditions = {};
