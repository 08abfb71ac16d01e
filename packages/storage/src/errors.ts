import pg from 'pg';

// What can go wrong with Postgres, as a closed set. No message contains SQL, values or host names, so these errors can
// be logged; the driver's error is kept as `cause`.

/** Postgres cannot serve now: away, restarting, read-only, out of connections or space. Try again later (503). */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  /** False if there was no connection to send anything over. */
  readonly wasSent: boolean;

  constructor(message: string, { wasSent = true, ...options }: ErrorOptions & { wasSent?: boolean } = {}) {
    super(message, options);
    this.wasSent = wasSent;
  }
}

/** Contention: a lock or statement took too long, or retries ran out. Try again soon (503). */
export class StorageBusy extends Error {
  override readonly name = 'StorageBusy';
}

/** The database refused a value: a constraint, an encoding, a ledger rule. A bug in the caller (500). */
export class StorageRefused extends Error {
  override readonly name = 'StorageRefused';
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(code: string, constraint: string | undefined, options: ErrorOptions) {
    super(`the database refused the statement (${constraint ?? code})`, options);
    this.code = code;
    this.constraint = constraint;
  }
}

/** The account is moving to another cell or lives there already (`movedTo`). Try again soon, or there (503). */
export class AccountMoving extends Error {
  override readonly name = 'AccountMoving';
  readonly movedTo: string | null;

  constructor(movedTo: string | null, options?: ErrorOptions) {
    super('the account is being moved to another cell, or was', options);
    this.movedTo = movedTo;
  }
}

export type StorageError = StorageUnavailable | StorageBusy | StorageRefused | AccountMoving;

export const isStorageError = (error: unknown): error is StorageError =>
  error instanceof StorageUnavailable ||
  error instanceof StorageBusy ||
  error instanceof StorageRefused ||
  error instanceof AccountMoving;

const BUSY = new Set(['40001', '40P01', '55P03', '57014']);
// Class 08 connection, 53 resources, 57P shutdown and recovery, 58 system; 25006 read-only; 25P03 and 25P04 a
// transaction that was ended for being slow, which also ends its connection; 3D000 no such database.
const UNAVAILABLE = /^(08...|53...|57P..|58...|25006|25P0[34]|28...|3D000|XX...)$/;

/** Raised by refuse_moved and refuse_while_moving. */
const MOVING = 'EP007';

export function toStorageError(error: unknown): StorageError {
  if (isStorageError(error)) return error;
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '00000';
    if (BUSY.has(code)) return new StorageBusy(`the database is busy (${code})`, { cause: error });
    if (UNAVAILABLE.test(code))
      return new StorageUnavailable(`the database is unavailable (${code})`, { cause: error });
    if (code === MOVING) return new AccountMoving(error.detail || null, { cause: error });
    return new StorageRefused(code, error.constraint, { cause: error });
  }
  // All other errors of the driver are about the connection: refused, reset, timed out, ended.
  return new StorageUnavailable('the database cannot be reached', { cause: error });
}

/**
 * Whether the work may have been done anyway: its answer was lost, or it is unknown whether it reached the database.
 */
export const mayBeDone = (error: unknown): boolean => error instanceof StorageUnavailable && error.wasSent;

/** Of two failures of the same work, returns the one after which the work may have been done. */
export const lessKnown = (earlier: unknown, later: unknown): unknown =>
  mayBeDone(earlier) && !mayBeDone(later) && isStorageError(later) ? earlier : later;

/** There was no connection. */
export function notConnected(error: unknown): StorageError {
  const known = toStorageError(error);
  if (!(known instanceof StorageUnavailable)) return known;
  return new StorageUnavailable(known.message, { cause: known.cause ?? error, wasSent: false });
}

/** Retrying the whole transaction can succeed: a serialization failure or a deadlock that Postgres broke. */
export function isConflict(error: unknown): boolean {
  return error instanceof StorageBusy && error.cause instanceof pg.DatabaseError && /^40/.test(error.cause.code ?? '');
}

/** The statement was ended because it took longer than it may. */
export const tookTooLong = (error: unknown): boolean =>
  error instanceof StorageBusy && error.cause instanceof pg.DatabaseError && error.cause.code === '57014';
