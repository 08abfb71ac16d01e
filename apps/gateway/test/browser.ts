import type { App } from '../src/app.ts';

// A browser as far as logins need one: it keeps cookies by host and path, and follows redirects when told to. What lies
// under the gateway's address is asked of the app itself, everything else over the loopback.

export interface Page {
  url: string;
  status: number;
  location: string | null;
  body: string;
  /** Lines of Set-Cookie. */
  setCookies: string[];
  headers: Record<string, string>;
}

interface Kept {
  host: string;
  path: string;
  name: string;
  value: string;
}

export interface Browser {
  /** One request; a redirect is not followed. */
  step(url: string, headers?: Record<string, string>): Promise<Page>;
  /** Follows redirects to their end, or up to the first address that `until` names. */
  open(url: string, until?: (url: string) => boolean): Promise<Page>;
  cookie(name: string): string | undefined;
  /** Somebody else's cookie, or one that was kept too long. */
  plant(cookie: Omit<Kept, 'host'>): void;
}

export function browser(app: App, baseUrl: string): Browser {
  let jar: Kept[] = [];

  function keep(url: URL, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const path = attributes.find((text) => /^path=/i.test(text))?.slice(5) ?? '/';
    const gone = attributes.some((text) => /^expires=/i.test(text) && Date.parse(text.slice(8)) < Date.now());
    jar = jar.filter((known) => !(known.host === url.host && known.name === name && known.path === path));
    if (!gone) jar.push({ host: url.host, path, name, value: pair.slice(pair.indexOf('=') + 1) });
  }

  const cookiesFor = (url: URL): string =>
    jar
      .filter(({ host, path }) => host === url.host && url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  async function ask(url: URL, headers: Record<string, string>): Promise<Omit<Page, 'url'>> {
    if (url.origin === baseUrl) {
      const answer = await app.inject({ url: url.pathname + url.search, headers });
      const { location, 'set-cookie': setCookie = [], ...rest } = answer.headers;
      return {
        status: answer.statusCode,
        location: location ?? null,
        body: answer.body,
        setCookies: [setCookie].flat(),
        headers: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)])),
      };
    }
    const answer = await fetch(url, { redirect: 'manual', headers });
    return {
      status: answer.status,
      location: answer.headers.get('location'),
      body: await answer.text(),
      setCookies: answer.headers.getSetCookie(),
      headers: Object.fromEntries(answer.headers),
    };
  }

  async function step(address: string, headers: Record<string, string> = {}): Promise<Page> {
    const url = new URL(address, baseUrl);
    const cookie = cookiesFor(url);
    const answer = await ask(url, { ...(cookie && { cookie }), ...headers });
    for (const line of answer.setCookies) keep(url, line);
    return { url: url.href, ...answer };
  }

  async function open(address: string, until: (url: string) => boolean = () => false): Promise<Page> {
    const page = await step(address);
    if (page.location === null) return page;
    const next = new URL(page.location, page.url).href;
    return until(next) ? { ...page, url: next } : open(next, until);
  }

  return {
    step,
    open,
    cookie: (name) => jar.find((known) => known.name === name && known.host === new URL(baseUrl).host)?.value,
    plant: (cookie) => void jar.push({ host: new URL(baseUrl).host, ...cookie }),
  };
}
