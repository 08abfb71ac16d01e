import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { type Html, html } from '../html.ts';
import { layout } from '../layout.ts';
import type { Located } from './curl-command.ts';
import type { ApiDocument } from './openapi-shapes.ts';
import { operationSection } from './operation-section.ts';
import { fieldTable, proseOf } from './schema-table.ts';

// GET /api/docs: the API reference for people, generated from the OpenAPI document. It needs no script.

/** Copies of one text under the paths where tools look for it. */
const COPIES = 'Files';

export function referencePage(facts: SiteFacts, document: ApiDocument): string {
  const operations = operationsOf(document);
  const groups = (document.tags ?? [])
    .filter(({ name }) => name !== COPIES)
    .map((tag) => ({ ...tag, operations: operations.filter(({ operation }) => operation.tags?.[0] === tag.name) }));
  const copies = operations.filter(({ operation }) => operation.tags?.[0] === COPIES);
  return layout({
    baseUrl: facts.baseUrl,
    path: '/api/docs',
    title: 'API reference · EloquentPoll',
    description: 'Every operation of the EloquentPoll API with a sample that works, its fields and its answers.',
    offersFreePolls: runsFreePolls(facts),
    styles: ['reference'],
    main: html`<h1>API reference</h1>
<p class="lead">Every operation, with a command to paste. <a href="/api/docs/try">Try it in the browser</a>, or read it by program:
<a href="/api/openapi.json">OpenAPI 3.1</a>, <a href="/asyncapi.json">AsyncAPI for streams</a>, <a href="/llms.txt">llms.txt</a>.</p>
${beginning(facts)}
<nav class="contents" aria-label="Operations">
${groups.map(
  ({ name, operations: of }) => html`<div><h2>${name}</h2><ul>
${of.map(({ method, path, operation: { operationId, summary } }) => html`<li><a href="#${operationId}">${summary}</a> <code>${method} ${path}</code></li>\n`)}</ul></div>
`,
)}</nav>
${groups.map(
  ({ name, description = '', operations: of }) => html`<h2 id="${name.toLowerCase()}">${name}</h2>
<p>${proseOf(description)}</p>
${of.map((located) => operationSection(facts, located, document.components))}`,
)}
<h2 id="shapes">Shapes</h2>
<p>Bodies of requests and answers. Fields that are not named here may be added; ignore what you do not know.</p>
${Object.entries(document.components?.schemas ?? {}).map(
  ([
    name,
    schema,
  ]) => html`<details class="shape" id="shape-${name}"><summary><code>${name}</code> ${proseOf(schema.description ?? '')}</summary>
${fieldTable(`Fields of ${name}`, schema)}</details>
`,
)}
<h2 id="files">Files for coding agents</h2>
<details><summary>One text under ${copies.length} paths, where each tool looks for it</summary>
<ul>${copies.map(({ path }) => html`<li><a href="${path}">${path}</a></li>\n`)}</ul></details>`,
  });
}

const operationsOf = ({ paths }: ApiDocument): Located[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const beginning = (facts: SiteFacts): Html => html`<section class="prose" id="errors"><h2>How it works</h2>
<p>The base address is <code>${facts.baseUrl}</code>. Bodies are JSON in UTF-8. A key goes into <code>Authorization: Bearer</code>; create one on the
<a href="/dashboard">dashboard</a>.${runsFreePolls(facts) ? ' Free quick polls need none.' : ''}</p>
<p>Errors have a text, a stable <code>code</code> and what to do next; <code>Accept: application/problem+json</code> or <code>X-Machine-Client: true</code> adds more. All codes:
<a href="/api/errors/catalog">the catalog</a>. A retry of the same operation with the same <code>Idempotency-Key</code> makes no second poll and costs nothing.</p>
</section>`;
