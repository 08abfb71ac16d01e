/** One step of the schema. Once released its tables are never edited: a correction is the next number. */
export interface Migration {
  readonly name: string;
  /** Functions are loaded from sql/ with their present text; a step that changes one loads it again. */
  sql(): string;
}
