import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SiteFacts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { html } from './html.ts';
import { HTML_TYPE, layout, PAGE_HEADERS } from './layout.ts';
import { type LikelyPage, likelyPage } from './likely-page.ts';

interface Missing {
  heading: string;
  says: string;
  /** The page that the address probably meant. */
  meant?: LikelyPage | undefined;
}

/** The 404 page. */
const missingPage = (facts: SiteFacts, path: string, { heading, says, meant }: Missing): string =>
  layout({
    baseUrl: facts.baseUrl,
    path,
    title: `${heading} · EloquentPoll`,
    description: says,
    hidden: true,
    main: html`<h1>${heading}</h1>
<p class="lead">${says}</p>
${meant ? html`<p>Did you mean <a href="${meant.path}">${meant.name}</a>?</p>` : ''}
<p class="row">${runsFreePolls(facts) ? html`<a class="button" href="/playground">Try it</a>` : ''}<a class="button secondary" href="/?view=human">About EloquentPoll</a></p>`,
  });

/** For a poll that was canceled before a worker started it. */
export const canceledPage = (facts: SiteFacts): string =>
  missingPage(facts, '/result', {
    heading: 'Poll canceled',
    says: 'It was canceled before any model had voted, so it has no result.',
  });

export const noResultPage = (facts: SiteFacts): string =>
  missingPage(facts, '/result', {
    heading: 'No such result',
    says: 'The link may have been cut off, the poll may still be running, or it was deleted.',
  });

/** For a browser that opens the login page of a command line without the parameters that the command line adds. */
export const noGrantPage = (facts: SiteFacts): string =>
  missingPage(facts, '/dashboard/grant', {
    heading: 'Start in the terminal',
    says: 'This page gives a command line its key. Run eloquentpoll login there, and it opens by itself.',
  });

/** Sends the 404 page to a browser. */
export const sendMissingPage = ({ url }: FastifyRequest, reply: FastifyReply, facts: SiteFacts): FastifyReply =>
  reply
    .code(404)
    .type(HTML_TYPE)
    .headers(PAGE_HEADERS)
    .send(
      missingPage(facts, '/404', {
        heading: 'No such page',
        says: 'There is nothing at this address.',
        meant: likelyPage(url),
      }),
    );
