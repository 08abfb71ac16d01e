import { Failure } from '@eloquentpoll/launch/failure';
import { loadPanels, type Panels } from '@eloquentpoll/models/panels';
import type { StartSettings } from './settings.ts';

// Which models answer: real ones when the settings name a provider, simulated ones otherwise.

export interface ModelPlan {
  /** For MODELS_FILE of gateway and worker. */
  file: string;
  /** Null: the simulator's address, once it runs here. */
  baseUrl: string | null;
  simulate: boolean;
  summary: string;
  /** Something the person should know though it stops nothing. */
  notice: string | null;
}

export function planModels(settings: StartSettings, env: NodeJS.ProcessEnv): ModelPlan {
  const { modelsFile, modelsBaseUrl } = settings;
  const set = (name: string) => Boolean(env[name]?.trim());
  const file = modelsFile ?? (modelsBaseUrl || set('OPENROUTER_API_KEY') ? 'openrouter' : 'simulator');
  const panels = load(file, modelsFile ? 'MODELS_FILE' : 'MODELS_BASE_URL', modelsBaseUrl);
  const simulate = file === 'simulator' && !modelsBaseUrl;
  const keys = panels.providers().flatMap((provider) => provider.apiKeyEnv ?? []);
  const missing = keys.find((name) => !set(name));
  if (missing && !modelsBaseUrl)
    throw new Failure(
      `MODELS_FILE ${file} needs ${missing}, which is not set: set it, or leave MODELS_FILE out to run simulated models.`,
    );
  const unused = set('OPENAI_API_KEY') && !keys.includes('OPENAI_API_KEY') && !modelsFile;
  return {
    file,
    baseUrl: modelsBaseUrl,
    simulate,
    summary: simulate
      ? 'simulated'
      : `${panels.models().length} from ${modelsBaseUrl ? new URL(modelsBaseUrl).host : file}`,
    notice: unused
      ? 'OPENAI_API_KEY is not used: the built-in panel asks OpenRouter. Name a roster file in MODELS_FILE whose provider uses it.'
      : null,
  };
}

function load(file: string, variable: string, baseUrl: string | null): Panels {
  try {
    return loadPanels({ file, ...(baseUrl && { baseUrl }) });
  } catch (error) {
    throw new Failure(`${variable}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
