interface Page {
  lines: readonly { pollId: string }[];
  goOn: string | null;
}

/** Cursors of the next and the previous page. Lines are in display order; the cursor back leads to the page before. */
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
