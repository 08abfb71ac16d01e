// The texts of files that a release changes.

const PENDING = '## Pending\n';

/** Moves the pending changes under the version and date, and removes the introduction of the Pending section. */
export function datedChangelog(text: string, version: string, day: string): string {
  if (text.includes(`\n## ${version} - `)) throw new Error(`${version} was released: raise the version first`);
  const [before, after] = text.split(PENDING);
  if (before === undefined || after === undefined) throw new Error('CHANGELOG.md has no section Pending');
  const changes = after.slice(Math.max(0, after.indexOf('\n- '))).trimStart();
  return `${before}${PENDING}\n## ${version} - ${day}\n\n${changes}`;
}

export function withRelease(kept: string, version: string, steps: Readonly<Record<string, string>>): string {
  const released = JSON.parse(kept) as Record<string, unknown>;
  if (version in released) throw new Error(`${version} was released: raise the version first`);
  return `${JSON.stringify({ ...released, [version]: steps }, null, 2)}\n`;
}
