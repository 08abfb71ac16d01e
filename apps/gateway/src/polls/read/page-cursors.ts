interface Page {
  lines: readonly { pollId: string }[];
  goOn: string | null;
}

/** The pages beside one, for lines in the order in which they are shown. Back leads to where one came from. */
export function cursorsOf(
  { lines, goOn }: Page,
  after?: string,
  before?: string,
): { after: string | null; before: string | null } {
  const first = lines[0]?.pollId;
  const last = lines.at(-1)?.pollId;
  if (before !== undefined) return { after: last ?? before, before: goOn };
  return { after: goOn, before: after === undefined ? null : (first ?? after) };
}
