import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { badge, code, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { curlCommand, type Located } from './curl-command.ts';
import { type ApiComponents, type ApiOperation, type ApiSchema, shapeName } from './openapi-shapes.ts';
import { fieldTable, joined, proseOf, typeOf } from './schema-table.ts';

/** One operation: what it is for, a working command, its parameters and its answers. */
export function operationSection(facts: SiteFacts, located: Located, components: ApiComponents = {}): Html {
  const { method, path, operation } = located;
  const { operationId, summary, description = '' } = operation;
  const usage = operation['x-agent-hints']?.usage;
  const command = curlCommand(facts, located);
  return html`<section class="operation" id="${operationId}">
<h3><a class="anchor" href="#${operationId}">${summary}</a></h3>
<p class="row"><code class="method">${method} ${path}</code>${badge(whoMayCall(operation))}</p>
${description === '' ? '' : html`<p>${proseOf(description)}</p>`}
${usage === undefined || usage.when_to_use[0] === `${summary}.` ? '' : html`<p><strong>When:</strong> ${proseOf(usage.when_to_use.join(' '))}${usage.when_not_to_use.length === 0 ? '' : html` <strong>Otherwise:</strong> ${proseOf(usage.when_not_to_use.join(' '))}`}</p>`}
${command === null ? '' : code(command, `Sample: ${summary}`)}
${parameters(operation)}
${bodies(operation)}
${answers(operation, components)}
</section>
`;
}

function whoMayCall({ security = [] }: ApiOperation): string {
  const by = [...new Set(security.flatMap((one) => Object.keys(one)))];
  if (by.length === 0) return 'no credentials';
  const names = by.map((name) => (name === 'apiKey' ? 'API key' : 'login')).join(' or ');
  return security.some((one) => Object.keys(one).length === 0) ? `${names}, optional` : names;
}

function parameters({ parameters: all = [], operationId }: ApiOperation): Html {
  // Parameters common to all operations are listed once, at the beginning of the page.
  const given = all.filter(({ name }) => name !== undefined);
  if (given.length === 0) return html``;
  const rows = given.map(
    ({ name, in: place, required, description = '', schema = {} }) =>
      html`<tr><th scope="row" class="text"><code>${name}</code>${required ? html` <span class="badge">required</span>` : ''}</th><td>${place}</td><td class="text">${typeOf(schema)}</td><td class="text">${proseOf(description)}</td></tr>
`,
  );
  const head = html`<tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr>`;
  return table(`Parameters of ${operationId}`, head, rows);
}

/** Schemas of the contract are listed once, at the end of the page. */
function bodies({ requestBody, operationId }: ApiOperation): Html {
  const [schema] = Object.values(requestBody?.content ?? {}).flatMap((content) => content.schema ?? []);
  if (!schema) return html``;
  const shapes = schema.anyOf ?? schema.oneOf ?? [schema];
  if (shapes.every((shape) => shapeName(shape) !== null))
    return html`<p>Body: ${joined(shapes.map(typeOf), ' or ')}</p>`;
  return html`${shapes.filter(isObject).map((shape) => fieldTable(`Body of ${operationId}`, shape))}`;
}

const isObject = ({ properties }: ApiSchema): boolean => properties !== undefined;

function answers({ responses, operationId }: ApiOperation, components: ApiComponents): Html {
  const all = Object.entries(responses).map(([status, answer]) => {
    const shared = components.responses?.[shapeName(answer) ?? ''];
    return { status, description: '', content: {}, ...shared, ...answer };
  });
  const codes = all.flatMap(({ status, description }) => (isError(status) ? [errorCodes(status, description)] : []));
  const rows = all.map(({ status, description, content }) => {
    if (isError(status) && ERROR_CODE.test(description)) return html``;
    const [first] = Object.values(content).flatMap(({ schema }) => schema ?? []);
    return html`<tr><th scope="row"><code>${status}</code></th><td class="text">${proseOf(description)}</td><td class="text">${first ? typeOf(first) : ''}</td></tr>
`;
  });
  return html`<details><summary>Answers (${Object.keys(responses).join(', ')})</summary>
${table(`Answers of ${operationId}`, html`<tr><th scope="col">Status</th><th scope="col">Meaning</th><th scope="col">Body</th></tr>`, rows)}
<ul class="error-codes">${codes}</ul></details>`;
}

const isError = (status: string): boolean => status >= '400';

const ERROR_CODE = /`([a-z_]+)`/;

/** The error codes of one status; their meaning and remedy are on pages of their own. */
function errorCodes(status: string, description: string): Html {
  const codes = [...description.matchAll(new RegExp(ERROR_CODE, 'g'))].map(([, code]) => code!);
  const links = codes.map((code) => html`<a href="/errors/${code}">${code}</a>`);
  return links.length === 0 ? html`` : html`<li><code>${status}</code> ${joined(links, ', ')}</li>`;
}
