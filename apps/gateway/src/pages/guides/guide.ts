import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { code } from '../components.ts';
import { ownKey } from '../connect/own-key.ts';
import { type Html, html } from '../html.ts';
import { layout } from '../layout.ts';

// A guide is one screen: its purpose, a sample that runs, and what to know. The markdown version is made from the page.

export interface Guide {
  name: string;
  title: string;
  description: string;
  content(baseUrl: string): Html;
}

/** Commands for a POSIX shell; the tests run them unchanged. */
export const shell = (commands: string, label: string): Html => code(commands, `Shell: ${label}`);

export const guidePage = (facts: SiteFacts, { name, title, description, content }: Guide): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: `/guides/${name}`,
    title: `${title} · EloquentPoll`,
    description,
    offersFreePolls: runsFreePolls(facts),
    styles: ['catalog'],
    scripts: ['own-key'],
    main: html`<p class="eyebrow"><a href="/connect#guides">Guides</a></p>
<h1>${title}</h1>
<p class="lead">${description}</p>
<div class="prose">
${content(facts.baseUrl)}
${ownKey()}
</div>`,
  });
