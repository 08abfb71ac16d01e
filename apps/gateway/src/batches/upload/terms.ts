import { BatchTerms, isJsonObject } from '@eloquentpoll/contracts';
import { invalid } from '../../http/api-error.ts';
import { uncleanIn } from '../../http/validation/text-rules.ts';
import { compile, issuesOf, refusal } from '../../http/validation/validator.ts';
import type { PollsContext } from '../../polls/context.ts';
import { webhookIssues } from '../../polls/order/session-order.ts';
import { unsupportedIssues } from '../../polls/order/unsupported-fields.ts';

type Parts = Pick<PollsContext, 'webhooks'>;

/** `terms`: the members of a JSON body other than `requests`. */
export function termsOfBody(context: Parts, terms: unknown): BatchTerms {
  if (!isJsonObject(terms)) throw invalid([{ pointer: '#', detail: 'the body must be an object with requests' }]);
  refuseUnclean(terms);
  const issues = issuesOf(BatchTerms, terms);
  if (issues.length > 0) throw refusal(issues);
  return known(context, terms);
}

const checkTexts = compile({ schema: BatchTerms, httpPart: 'querystring' });

/** Reads a query or a form, in which numbers are text and metadata is `metadata[k]`. */
export function termsOfTexts(context: Parts, texts: Record<string, unknown>): BatchTerms {
  refuseUnclean(texts);
  const terms: Record<string, unknown> = {};
  const metadata: [string, unknown][] = [];
  for (const [name, value] of Object.entries(texts)) {
    const [, key] = /^metadata\[(.*)\]$/s.exec(name) ?? [];
    if (key !== undefined) metadata.push([key, value]);
    // Forms send `on` for a ticked box.
    else terms[name] = value === 'on' ? 'true' : value;
  }
  if (metadata.length > 0) terms.metadata = Object.fromEntries(metadata);
  const checked = checkTexts(terms);
  if ('error' in checked) throw checked.error;
  return known(context, terms);
}

function refuseUnclean(value: unknown): void {
  const issue = uncleanIn(value);
  if (issue) throw invalid([issue]);
}

/** Drops unknown fields, but refuses those that a caller would rely on. */
function known(context: Parts, terms: Record<string, unknown>): BatchTerms {
  const issues = context.webhooks ? webhookIssues(context, terms.webhook_url) : unsupportedIssues(terms);
  if (issues.length > 0) throw refusal(issues);
  return Object.fromEntries(Object.entries(terms).filter(([name]) => name in BatchTerms.properties)) as BatchTerms;
}
