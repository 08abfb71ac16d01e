import type { Environment } from './environment.ts';
import { ConfigError } from './settings.ts';

// What the operator says to whoever reads our documents: what they may be used for, and whom to write to.

export interface DocumentSettings {
  /** The Content-Signal of every answer, and of robots.txt. */
  contentSignal: string;
  /** Whom readers can write to. */
  contactEmail: string;
}

/** Found by search engines and read by assistants; not training material. */
const CONTENT_SIGNAL = 'search=yes, ai-input=yes, ai-train=no';

export function documentSettings(env: Environment, baseUrl: string): DocumentSettings {
  return {
    contentSignal: contentSignal(env),
    contactEmail: contactEmail(env) ?? `support@${new URL(baseUrl).hostname}`,
  };
}

const SIGNALS = ['search', 'ai-input', 'ai-train'];

function contentSignal({ CONTENT_SIGNAL: text }: Environment): string {
  if (text === undefined) return CONTENT_SIGNAL;
  const parts = text.split(',').map((part) => /^\s*([a-z-]+)\s*=\s*(yes|no)\s*$/.exec(part) ?? []);
  const names = parts.map(([, name = '']) => name);
  if (new Set(names).size !== names.length || !names.every((name) => SIGNALS.includes(name))) {
    throw new ConfigError('CONTENT_SIGNAL', `must say yes or no to some of ${SIGNALS.join(', ')}: ${CONTENT_SIGNAL}`);
  }
  return parts.map(([, name, value]) => `${name}=${value}`).join(', ');
}

function contactEmail({ CONTACT_EMAIL: text }: Environment): string | undefined {
  if (text !== undefined && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(text)) {
    throw new ConfigError('CONTACT_EMAIL', 'must be an e-mail address');
  }
  return text;
}
