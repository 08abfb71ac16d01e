import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { madeOnce } from '../../http/made-once.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { houseCard } from '../card/result-card.ts';
import { favicon, icon, MANIFEST } from '../icons.ts';
import { LOGO } from '../logo.ts';
import { pageAssets } from '../page-assets.ts';

// Scripts, stylesheets and pictures of the pages, hidden from OpenAPI.

const PICTURES: readonly { path: string; mediaType: string; make: () => Promise<Buffer> }[] = [
  { path: '/og.png', mediaType: 'image/png', make: houseCard },
  { path: '/favicon.ico', mediaType: 'image/x-icon', make: favicon },
  { path: '/apple-touch-icon.png', mediaType: 'image/png', make: () => icon(180) },
  { path: '/icon-192.png', mediaType: 'image/png', make: () => icon(192) },
  { path: '/icon-512.png', mediaType: 'image/png', make: () => icon(512) },
];

const TEXTS = [
  { path: '/logo.svg', mediaType: 'image/svg+xml', text: LOGO },
  { path: '/site.webmanifest', mediaType: 'application/manifest+json', text: MANIFEST },
];

/** Served as web-mcp.js where free polls are not offered. Not cached: another roster may offer them. */
const NO_TOOL = '// This service runs no free polls.\n';

const FOR_GOOD = 'public, max-age=31536000, immutable';
const HIDDEN = {
  config: { operation: 'read' as const },
  schema: { hide: true, security: access.none, response: errors() },
};
const ASSET = {
  ...HIDDEN,
  schema: {
    ...HIDDEN.schema,
    params: Type.Object({ version: Type.String(), name: Type.String() }),
    response: errors('not_found'),
  },
};

export function pageFileRoutes(app: FastifyInstance, facts: SiteFacts): void {
  for (const { path, mediaType, make } of PICTURES) {
    const picture = madeOnce(make);
    app.get(path, HIDDEN, async (_request, reply) => {
      const made = await picture();
      return reply.type(mediaType).header('cache-control', 'public, max-age=86400').send(made);
    });
  }
  for (const { path, mediaType, text } of TEXTS)
    app.get(path, HIDDEN, async (request, reply) =>
      sendPublicText(request, reply.type(mediaType).header('cache-control', 'public, max-age=86400'), text),
    );
  app.get<{ Params: { version: string; name: string } }>('/assets/:version/:name', ASSET, async (request, reply) => {
    const { version, name } = request.params;
    const assets = pageAssets();
    const asset = assets.byName.get(name);
    if (!asset) throw new ApiError('not_found');
    if (name === 'web-mcp.js' && !runsFreePolls(facts))
      return sendPublicText(request, reply.type(asset.mediaType).header('cache-control', 'no-store'), NO_TOOL);
    // During a rolling release, a page may request assets from a gateway of another version. It gets them uncached.
    reply.type(asset.mediaType).header('cache-control', version === assets.version ? FOR_GOOD : 'no-store');
    return sendPublicText(request, reply, asset.text);
  });
}
