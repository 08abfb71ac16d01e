/**
 * Treats `/api/health/` like `/api/health`, except where the path could continue with an id: `DELETE /api/keys/` has an
 * empty id and must not become `DELETE /api/keys`, which revokes every key.
 */
export class TrailingSlash {
  readonly #parents = new Set<string>();

  /** Call it with the pattern of every route. */
  learn(pattern: string): void {
    const [, parent] = /^(.*)\/(?::[^/]+|\*)$/.exec(pattern) ?? [];
    if (parent !== undefined) this.#parents.add(parent);
  }

  /** The address for the router. An escaped path stays as it is, because parents are compared literally. */
  rewrite(url: string): string {
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    if (!/[^/]\/$/.test(path) || path.includes('%')) return url;
    const shorter = path.slice(0, -1);
    return this.#parents.has(shorter) ? url : shorter + url.slice(path.length);
  }
}
