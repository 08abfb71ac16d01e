/** JSON as RFC 8785 writes it. For what JSON can hold: no undefined member, no number that is not finite. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`${value} is no JSON number`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  // By UTF-16 code units, which is how strings compare here.
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name as keyof typeof value])}`).join()}}`;
}
