import type { Registry } from '@eloquentpoll/models/registry';
import type { PollsContext } from '../polls/context.ts';

/** What is needed to describe the service. */
export interface DiscoveryContext extends PollsContext {
  /** Lists model variants; null if no registry is configured. */
  readonly registry: Registry | null;
}

export async function openDiscoveryContext(
  base: PollsContext,
  owned: AsyncDisposableStack,
  overrides: Partial<DiscoveryContext>,
): Promise<DiscoveryContext> {
  return { ...base, registry: overrides.registry ?? (await openModelRegistry(base.config.models.registryUrl, owned)) };
}

async function openModelRegistry(url: string | undefined, owned: AsyncDisposableStack): Promise<Registry | null> {
  if (url === undefined) return null;
  // Imported on demand, because it loads an HTTP client that nothing else in this process needs.
  const { openRegistry } = await import('@eloquentpoll/models/registry');
  return owned.use(openRegistry(url));
}
