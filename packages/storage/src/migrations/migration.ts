/** One step of the schema. Once released its tables are never edited: a correction is the next number. */
export interface Migration {
  readonly name: string;
  /** What goes before it, one statement after the other and each by itself; a repeat finds done what was done. */
  prepare?(): readonly Preparation[];
  /** Functions are loaded from sql/ with their present text; all are loaded again after the last step. */
  sql(): string;
}

export interface Preparation {
  readonly sql: string;
  /** Readers and writers go on beside it, however long it takes. Others need a moment without them, and are tried again. */
  readonly isOnline?: true;
  /** A query of names, read when it is its turn: it is made for each of them, in place of %I. */
  readonly forEach?: string;
}
