/**
 * Takes `/api/health/` as `/api/health`. Not where the path continues with an id: `DELETE /api/keys/` is a request whose id
 * was empty, and must not become `DELETE /api/keys`, which revokes every key.
 */
export class TrailingSlash {
  readonly #parents = new Set<string>();

  /** To be called with the pattern of every route. */
  learn(pattern: string): void {
    const [, parent] = /^(.*)\/(?::[^/]+|\*)$/.exec(pattern) ?? [];
    if (parent !== undefined) this.#parents.add(parent);
  }

  /** The address that the router is asked for. An escaped path is left as it is, because parents are compared literally. */
  rewrite(url: string): string {
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    if (!/[^/]\/$/.test(path) || path.includes('%')) return url;
    const shorter = path.slice(0, -1);
    return this.#parents.has(shorter) ? url : shorter + url.slice(path.length);
  }
}
