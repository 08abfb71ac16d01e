/** What these attacks read of the OpenAPI document. */
export interface Description {
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}
