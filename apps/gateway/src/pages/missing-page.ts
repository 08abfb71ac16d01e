import type { FastifyReply } from 'fastify';
import { html } from './html.ts';
import { HTML_TYPE, layout, PAGE_HEADERS } from './layout.ts';

interface Missing {
  heading: string;
  says: string;
}

/** The 404 page. */
const missingPage = (baseUrl: string, path: string, { heading, says }: Missing): string =>
  layout({
    baseUrl,
    path,
    title: `${heading} · EloquentPoll`,
    description: says,
    hidden: true,
    main: html`<h1>${heading}</h1>
<p class="lead">${says}</p>
<p class="row"><a class="button" href="/playground">Try it</a><a class="button secondary" href="/?view=human">About EloquentPoll</a></p>`,
  });

export const noResultPage = (baseUrl: string): string =>
  missingPage(baseUrl, '/result', {
    heading: 'No such result',
    says: 'The link may have been cut off, or the poll is still running.',
  });

/** Sends the 404 page to a browser. */
export const sendMissingPage = (reply: FastifyReply, baseUrl: string): FastifyReply =>
  reply
    .code(404)
    .type(HTML_TYPE)
    .headers(PAGE_HEADERS)
    .send(missingPage(baseUrl, '/', { heading: 'No such page', says: 'There is nothing at this address.' }));
