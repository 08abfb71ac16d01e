/** One step of the schema. Once released it is never edited: a correction is the next number. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
