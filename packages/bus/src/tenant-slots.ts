/** The slots of one consumer that are open to every tenant, and how many each tenant uses. */
export interface TenantSlots {
  take(tenant: string | undefined): Disposable;
  of(tenant: string): number;
  readonly areFull: boolean;
}

export function tenantSlots(size: number): TenantSlots {
  const taken = new Map<string | undefined, number>();
  let running = 0;
  return {
    take(tenant) {
      running += 1;
      taken.set(tenant, (taken.get(tenant) ?? 0) + 1);
      return {
        [Symbol.dispose]() {
          running -= 1;
          const left = taken.get(tenant)! - 1;
          if (left > 0) taken.set(tenant, left);
          else taken.delete(tenant);
        },
      };
    },
    of: (tenant) => taken.get(tenant) ?? 0,
    get areFull() {
      return running >= size;
    },
  };
}
