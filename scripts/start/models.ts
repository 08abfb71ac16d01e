import { Failure } from '@eloquentpoll/launch/failure';
import { loadPanels, type Panels, settingsOf } from '@eloquentpoll/models/panels';
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
  const { file, alone } = modelsFile ? { file: modelsFile, alone: null } : rosterByKeys(set, Boolean(modelsBaseUrl));
  const panels = load(file, modelsFile ? 'MODELS_FILE' : 'MODELS_BASE_URL', modelsBaseUrl);
  const simulate = file === 'simulator' && !modelsBaseUrl;
  const missing = panels
    .providers()
    .flatMap(settingsOf)
    .find((name) => !set(name));
  if (missing && !modelsBaseUrl)
    throw new Failure(
      `MODELS_FILE ${file} needs ${missing}, which is not set: set it, or leave MODELS_FILE out to run simulated models.`,
    );
  return {
    file,
    baseUrl: modelsBaseUrl,
    simulate,
    summary: simulate
      ? 'simulated'
      : `${panels.models().length} from ${modelsBaseUrl ? new URL(modelsBaseUrl).host : file}`,
    notice:
      alone &&
      `${alone} is not used: a panel needs models of two vendors. Set a second key, or name a roster file in MODELS_FILE.`,
  };
}

/** Vendors whose models can sit in one panel, by the setting of their key. */
const VENDORS: Record<string, string> = {
  OPENAI_API_KEY: 'openai',
  ANTHROPIC_API_KEY: 'anthropic',
  GEMINI_API_KEY: 'gemini',
  MISTRAL_API_KEY: 'mistral',
  DEEPSEEK_API_KEY: 'deepseek',
  XAI_API_KEY: 'xai',
};

/** OpenRouter's panel where there is its key, else one of all vendors whose keys there are, if two at least. */
function rosterByKeys(set: (name: string) => boolean, elsewhere: boolean): { file: string; alone: string | null } {
  if (elsewhere || set('OPENROUTER_API_KEY')) return { file: 'openrouter', alone: null };
  const keys = Object.keys(VENDORS).filter(set);
  if (keys.length > 1) return { file: keys.map((key) => VENDORS[key]).join(','), alone: null };
  return { file: 'simulator', alone: keys[0] ?? null };
}

function load(file: string, variable: string, baseUrl: string | null): Panels {
  try {
    return loadPanels({ file, ...(baseUrl && { baseUrl }) });
  } catch (error) {
    throw new Failure(`${variable}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
