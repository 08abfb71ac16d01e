/** What a link does to the bytes that pass, in both directions. A field that is absent changes nothing. */
export interface LinkConditions {
  /** Each piece arrives this much later, and up to `jitterMs` more; pieces never overtake. */
  latencyMs?: number;
  jitterMs?: number;
  bytesPerSecond?: number;
  /** Pieces are cut into slices of this size, so that the receiver needs several reads. */
  sliceBytes?: number;
  /** Connections stay open and new ones are accepted, but no bytes pass. What was sent meanwhile arrives afterwards. */
  blackhole?: boolean;
  /** New connections are reset: all if true, or only those from this address. */
  refuse?: boolean | string;
}

export const UNDISTURBED: LinkConditions = {};
