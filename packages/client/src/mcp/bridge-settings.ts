import { BASE_URL } from '../eloquentpoll.ts';

// Reads which service the bridge calls, and with which key.

export interface BridgeSettings {
  address: URL;
  key: string;
}

const NO_ADDRESS = 'EP_URL must be an address such as https://polls.example.com, without a password.';

/** Or what is wrong, as a sentence without their secrets. */
export function readBridgeSettings({ EP_URL, EP_KEY }: NodeJS.ProcessEnv): BridgeSettings | string {
  const key = (EP_KEY ?? '').trim();
  const address = addressOf(EP_URL || BASE_URL);
  return faultOfKey(key) ?? (address === null ? NO_ADDRESS : { address, key });
}

/** Of a service that may be below a path. Null if nothing can be sent there: `fetch` refuses passwords and shows them. */
function addressOf(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, origin, pathname } = new URL(text);
  const isUsable = /^https?:$/.test(protocol) && username === '' && password === '';
  return isUsable ? new URL(`${(origin + pathname).replace(/\/+$/, '')}/api/mcp`) : null;
}

/** The error of `fetch` for a key that no header can hold shows the whole key. */
function faultOfKey(key: string): string | null {
  if (key === '') return 'EP_KEY is not set; it holds an API key, which begins with ep_k_.';
  return /^[\x21-\x7e]+$/.test(key) ? null : 'EP_KEY contains characters that API keys never have.';
}
