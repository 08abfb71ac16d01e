import { Failure } from '@eloquentpoll/launch/failure';

/** Explains in one sentence, from its last lines, why a server did not start. */
export function serverFailure(name: string, folder: string, { lastLines }: { lastLines: readonly string[] }): Failure {
  const text = lastLines.join('\n');
  const lines = [...lastLines];
  if (/No space left on device|Disk quota exceeded|ENOSPC/i.test(text))
    return new Failure(
      `${name} has no space left on the disk of ${folder}: free some and run it again; nothing was lost.`,
      lines,
    );
  if (/Read-only file system|EROFS/i.test(text))
    return new Failure(
      `${name} cannot write ${folder}, which is on a read-only disk: make it writable and run it again.`,
      lines,
    );
  if (/Permission denied|EACCES|not permitted|invalid permissions|wrong ownership/i.test(text))
    return new Failure(
      `${name} may not use ${folder}: give the folder to the user who starts it and run it again.`,
      lines,
    );
  if (/already exists.*postmaster\.pid|postmaster\.pid.*already exists/i.test(text))
    return new Failure(`Another Postgres may be working in ${folder}: stop it and run it again.`, lines);
  return new Failure(`${name} did not start; its last lines are above.`, lines);
}
