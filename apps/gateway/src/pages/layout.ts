import { dataBlock, type Html, html } from './html.ts';
import { assetPath, importedBy } from './page-assets.ts';

// The frame of every page, and its content security policy: styles and scripts only from this origin, nothing inline.

export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every page. Referrer-Policy same-origin keeps Origin on our form posts, which the cookie check needs. */
export const PAGE_HEADERS = { 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'same-origin' } as const;

export const HTML_TYPE = 'text/html; charset=utf-8';

interface Page {
  baseUrl: string;
  /** The page's path, for its canonical URL. */
  path: string;
  title: string;
  description: string;
  main: Html;
  /** Names of the modules of browser/ that the page loads. */
  scripts?: readonly string[];
  /** Names of additional stylesheets of browser/. */
  styles?: readonly string[];
  /** Preview image of links to this page: 1200 by 630 pixels. */
  image?: { path: string; alt: string };
  /** For search engines; a hidden page leaves it out. */
  offersFreePolls?: boolean;
  /** Excluded from search engines: personal pages and single results. */
  hidden?: boolean;
  /** For a signed-in user: the menu then has a link to the dashboard. */
  signedIn?: boolean;
}

/** In display order. */
const NAVIGATION = [
  { path: '/?view=human', name: 'Home' },
  { path: '/playground', name: 'Playground' },
  { path: '/models', name: 'Models' },
  { path: '/pricing', name: 'Pricing' },
  { path: '/connect', name: 'Connect' },
  { path: '/api/docs', name: 'Docs' },
];

const FOOTER = [
  { path: '/', name: 'For agents' },
  { path: '/trust', name: 'How we know' },
  { path: '/llms.txt', name: 'llms.txt' },
  { path: '/api/openapi.json', name: 'OpenAPI' },
  { path: '/api/errors/catalog', name: 'Errors' },
  { path: '/api/health', name: 'Health' },
  { path: '/?view=human#terms', name: 'Data and terms' },
];

const IMAGE = { path: '/og.png', alt: 'One AI model that is wrong sounds just like one that is right. Ask several.' };

export function layout(page: Page): string {
  const { baseUrl, path, title, description, main, scripts = [], styles = [], image = IMAGE } = page;
  const { hidden = false, signedIn = false } = page;
  const modules = ['page', ...scripts];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
${hidden ? html`<meta name="robots" content="noindex">\n` : ''}<link rel="canonical" href="${baseUrl}${path}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="EloquentPoll">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${baseUrl}${path}">
${imageTags(baseUrl, image)}<meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#191c23" media="(prefers-color-scheme: dark)">
<link rel="icon" href="/logo.svg" type="image/svg+xml">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
<link rel="manifest" href="/site.webmanifest">
${['style', 'parts', ...styles].map((name) => html`<link rel="stylesheet" href="${assetPath(`${name}.css`)}">\n`)}${importedBy(
  modules,
).map((name) => html`<link rel="modulepreload" href="${assetPath(`${name}.js`)}">\n`)}${modules.map(
  (name) => html`<script type="module" src="${assetPath(`${name}.js`)}"></script>\n`,
)}<script src="${assetPath('web-mcp.js')}" defer></script>
${hidden ? '' : dataBlock(linkedData(page))}</head>
<body>
<a class="skip" href="#main">To the content</a>
<header class="site-header"><div class="frame">
<a class="brand" href="/?view=human"><img src="/logo.svg" alt="" width="28" height="28">EloquentPoll</a>
<nav class="site-nav" aria-label="Pages">
${NAVIGATION.map((to) => navLink(to, path))}</nav>
<nav class="site-account" aria-label="Account">${navLink({ path: '/dashboard', name: signedIn ? 'Dashboard' : 'Sign in' }, path)}</nav>
</div></header>
<main id="main" class="frame" tabindex="-1">
${main}
</main>
<footer class="site-footer"><div class="frame">
${FOOTER.map((to) => html`<a href="${to.path}">${to.name}</a>\n`)}</div></footer>
</body>
</html>
`.toString();
}

const FREE_POLLS = {
  '@type': 'Offer',
  price: '0',
  priceCurrency: 'USD',
  description: 'Quick polls without an account.',
};

/** Structured data for search engines. It contains only our own words, so pages of polls and accounts have none. */
function linkedData({ baseUrl, path, title, description, offersFreePolls = false }: Page): object {
  const service = {
    '@type': 'WebApplication',
    '@id': `${baseUrl}/#service`,
    name: 'EloquentPoll',
    url: baseUrl,
    applicationCategory: 'DeveloperApplication',
    operatingSystem: 'Any',
    image: `${baseUrl}/og.png`,
    ...(offersFreePolls && { offers: FREE_POLLS }),
  };
  const about = { '@id': service['@id'] };
  const page = {
    '@type': 'WebPage',
    '@id': `${baseUrl}${path}`,
    url: `${baseUrl}${path}`,
    name: title,
    description,
    about,
  };
  return { '@context': 'https://schema.org', '@graph': [service, page] };
}

/** The homepage for agents counts as the homepage too. */
const isHere = (to: string, path: string): boolean => to === path || (path === '/' && to === '/?view=human');

/** `page` if the link leads to this page, `true` if this page is below it. */
export function currentMark(to: string, path: string): Html {
  if (isHere(to, path)) return html` aria-current="page"`;
  return path.startsWith(`${to}/`) ? html` aria-current="true"` : html``;
}

const navLink = (to: { path: string; name: string }, path: string): Html =>
  html`<a href="${to.path}"${currentMark(to.path, path)}>${to.name}</a>
`;

const imageTags = (baseUrl: string, { path, alt }: NonNullable<Page['image']>): Html =>
  html`<meta property="og:image" content="${baseUrl}${path}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:card" content="summary_large_image">
`;
