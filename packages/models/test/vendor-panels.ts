import { type FakeVendor, fakeVendor } from '@eloquentpoll/testkit/fakes/model-vendor';
import type { Test } from 'tap';
import { type Asker, openAsker, type Rejection } from '../src/ask.ts';
import { loadPanels, type Model, type Panels, type Provider } from '../src/panels.ts';

// A roster whose providers are asked at fakes of their vendors.

export interface VendorPanels {
  panels: Panels;
  fakes: Map<string, FakeVendor>;
  asker: Asker;
  rejected: Rejection[];
}

/** Every setting a provider may need; keys are those of the fakes. */
export async function vendorPanels(
  t: Test,
  file: string,
  change: (model: Model) => Partial<Model> = () => ({}),
  wrongKey?: string,
): Promise<VendorPanels> {
  const loaded = loadPanels({ file });
  const models = new Map(loaded.models().map((model) => [model.id, { ...model, ...change(model) }]));
  const fakes = new Map<string, FakeVendor>();
  const providers = new Map<string, Provider>();
  const keys = new Map<string, string>();
  for (const provider of loaded.providers()) {
    const names = [...models.values()].filter((model) => model.provider === provider.name).map(({ name }) => name);
    const fake = await fakeVendor(t, provider.dialect, names);
    const apiKeyEnv = provider.apiKeyEnv ?? `KEY_OF_${provider.name.replaceAll('-', '_').toUpperCase()}`;
    fakes.set(provider.name, fake);
    keys.set(apiKeyEnv, fake.key);
    providers.set(provider.name, { ...provider, baseUrl: fake.url, apiKeyEnv });
  }
  const panels: Panels = {
    ...loaded,
    model: (id) => models.get(id),
    models: () => [...models.values()],
    provider: (name) => providers.get(name)!,
    providers: () => [...providers.values()],
  };
  const rejected: Rejection[] = [];
  const asker = openAsker({
    panels,
    setting: (name) => wrongKey ?? keys.get(name),
    random: () => 0.01,
    onRejected: (rejection) => rejected.push(rejection),
  });
  t.teardown(() => asker[Symbol.asyncDispose]());
  return { panels, fakes, asker, rejected };
}
