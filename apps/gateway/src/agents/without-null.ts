/** Many clients send null for members that they leave out; no member of a poll may be null. */
export const withoutNull = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
