import { invalid } from '../../http/api-error.ts';

/** Takes any body, valid or not. */
export const wantsDryRun = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'dry_run' in body && body.dry_run === true;

/** Refused rather than ignored: a caller who asks for a dry run must never be billed. */
export function refuseDryRun(body: unknown): void {
  if (wantsDryRun(body)) throw invalid([NO_DRY_RUN]);
}

const NO_DRY_RUN = { pointer: '#/dry_run', detail: 'dry_run is not known here; POST /api/poll takes it' };
