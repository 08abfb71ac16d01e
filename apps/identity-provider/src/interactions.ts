import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { consentPage, loginPage, loginPagePolicy } from './pages.ts';
import { emailOf, personOf, subjectOf } from './people.ts';

// Login and consent. A cookie binds the interaction to the browser that started it.

const MAX_BYTES = 4_096;

export async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const client = await provider.Client.find(String(params.client_id));
  const name = client?.clientName ?? String(params.client_id);
  const target = new URL(String(params.redirect_uri));
  const show = (page: string) => {
    response.setHeader('content-security-policy', loginPagePolicy(originOf(target)));
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(page);
  };
  const finish = (result: Parameters<Provider['interactionFinished']>[2]) =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: prompt.name === 'consent' });

  const form = request.method === 'POST' ? await readForm(request) : null;
  if (form?.get('answer') === 'no') return finish({ error: 'access_denied', error_description: 'refused by the user' });

  if (prompt.name === 'login') {
    const text = form?.get('email') ?? '';
    const email = emailOf(text);
    if (email === null) return show(loginPage(name, form && { email: text }));
    return finish({ login: { accountId: subjectOf(email), remember: false } });
  }

  const accountId = session?.accountId ?? '';
  if (!form) return show(consentPage(name, target.host || target.protocol, personOf(accountId)?.email ?? ''));
  const grant =
    (grantId ? await provider.Grant.find(grantId) : undefined) ??
    new provider.Grant({ accountId, clientId: String(params.client_id) });
  const { missingOIDCScope, missingResourceScopes } = prompt.details as Missing;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  return finish({ consent: { grantId: await grant.save() } });
}

interface Missing {
  missingOIDCScope?: string[];
  missingResourceScopes?: Record<string, string[]>;
}

/** The origin as needed in a content security policy. Native clients have schemes of their own. */
const originOf = ({ protocol, origin }: URL): string => (origin === 'null' ? protocol : origin);

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BYTES) throw new Error('the form is too large');
  }
  return new URLSearchParams(text);
}
