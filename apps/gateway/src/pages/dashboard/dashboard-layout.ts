import { type Html, html } from '../html.ts';
import { currentMark, layout } from '../layout.ts';

/** Pages of the signed-in account, in display order. Pages below one of them mark its tab as current. */
const TABS = [
  { path: '/dashboard', name: 'Overview' },
  { path: '/dashboard/polls', name: 'Polls' },
  { path: '/dashboard/batches', name: 'Batches' },
  { path: '/dashboard/usage', name: 'Usage' },
  { path: '/dashboard/keys', name: 'API keys' },
  { path: '/dashboard/webhooks', name: 'Webhooks' },
];

interface DashboardPage {
  baseUrl: string;
  path: string;
  heading: string;
  main: Html;
  /** Shown beside the heading. */
  aside?: Html;
  scripts?: readonly string[];
  styles?: readonly string[];
}

/** The frame of every dashboard page: tabs, heading, content. */
export const dashboardLayout = ({
  baseUrl,
  path,
  heading,
  main,
  aside = html``,
  scripts = [],
  styles = [],
}: DashboardPage): string =>
  layout({
    baseUrl,
    path,
    title: path === '/dashboard' ? 'Dashboard · EloquentPoll' : `${heading} · Dashboard · EloquentPoll`,
    description: 'Balance, polls, API keys and payments of your account.',
    scripts,
    styles: ['dashboard', ...styles],
    hidden: true,
    signedIn: true,
    main: html`<nav class="dashboard-tabs" aria-label="Dashboard">
${TABS.map((tab) => html`<a href="${tab.path}"${tab.path === '/dashboard' && path !== tab.path ? '' : currentMark(tab.path, path)}>${tab.name}</a>\n`)}<a class="sign-out wide-only" href="/api/auth/logout">Sign out</a>
</nav>
<div class="row spread dashboard-head"><h1>${heading}</h1>${aside}</div>
${main}`,
  });
