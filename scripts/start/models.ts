import { Failure } from '@eloquentpoll/launch/failure';
import { loadPanels, type Panels, settingsOf } from '@eloquentpoll/models/panels';
import type { StartSettings } from './settings.ts';

// Which models answer: real ones when the settings name a provider, simulated ones otherwise.

export interface ModelPlan {
  /** The value of MODELS_FILE for gateway and worker. */
  file: string;
  /** Null: the address of the simulator, which is known only after it has started. */
  baseUrl: string | null;
  simulate: boolean;
  summary: string;
  /** A message for the user that does not stop the start. */
  notice: string | null;
}

export function planModels(settings: StartSettings, env: NodeJS.ProcessEnv): ModelPlan {
  const { modelsFile, modelsBaseUrl } = settings;
  const set = (name: string) => Boolean(env[name]?.trim());
  const file = modelsFile ?? (modelsBaseUrl || set('OPENROUTER_API_KEY') ? 'openrouter' : 'simulator');
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
    notice: simulate && !modelsFile ? noticeOf(set) : null,
  };
}

/** Vendors whose models can form a panel together, by the setting with their key. */
const VENDORS: Record<string, string> = {
  OPENAI_API_KEY: 'openai',
  ANTHROPIC_API_KEY: 'anthropic',
  GEMINI_API_KEY: 'gemini',
  MISTRAL_API_KEY: 'mistral',
  DEEPSEEK_API_KEY: 'deepseek',
  XAI_API_KEY: 'xai',
};

/**
 * Suggests how to ask models of vendors whose keys are set. Not done by default: such keys are often set for other
 * tools, and asking costs money.
 */
function noticeOf(set: (name: string) => boolean): string | null {
  const keys = Object.keys(VENDORS).filter(set);
  if (keys.length === 0) return null;
  const unused = `${new Intl.ListFormat('en').format(keys)} ${keys.length === 1 ? 'is' : 'are'} not used`;
  if (keys.length === 1)
    return `${unused}: a panel needs models of two vendors. Set a second key, or name a roster file in MODELS_FILE.`;
  const vendors = keys.map((key) => VENDORS[key]).join(',');
  return `${unused}. To ask models of these vendors, which they bill: MODELS_FILE=${vendors} npm start`;
}

function load(file: string, variable: string, baseUrl: string | null): Panels {
  try {
    return loadPanels({ file, ...(baseUrl && { baseUrl }) });
  } catch (error) {
    throw new Failure(`${variable}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
