import { SCOPES } from '../../http/access.ts';
import { markdownList, markdownTable } from '../../http/markdown.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';

/** auth.md: how an agent gets a key, on its own or with the help of a person. */
export function authGuide(facts: Facts): string {
  const { baseUrl, config } = facts;
  const ways = [
    ...(runsFreePolls(facts) ? [['none', 'anyone', '`POST /api/quick-poll` is free and needs no account']] : []),
    ['wallet', 'an agent with an Ethereum key', 'a signature makes the account and returns its first API key'],
    ...(config.deposits
      ? [['deposit', 'an agent with USDC', 'a payment makes the account, fills it and returns its first API key']]
      : []),
    ...(config.identityProvider
      ? [['sign-in', 'a person', 'signs in at the dashboard and gives the agent a key, or lets it ask for one']]
      : []),
  ];
  return `# auth.md: how agents register with EloquentPoll

You are an agent that wants to call ${baseUrl}. No form and no e-mail is needed. Credentials are API keys (\`ep_k_...\`),
sent as \`Authorization: Bearer <key>\`; they are shown once, and do not expire unless \`expires_at\` was asked for. With a key you ask and
read everything of the account; paying by card, \`GET /api/balance\`, the lists of results and deleting the account take a login.

${markdownTable(['Way', 'For', 'What happens'], ways)}

## Register with a wallet (anonymous)

1. \`GET ${baseUrl}/api/wallet/challenge?address=0x...\` answers a Sign-In with Ethereum message; it is valid for 5 minutes.
2. Sign the message and send \`{"message", "signature"}\` to \`POST ${baseUrl}/api/wallet/verify\`.
3. The answer has \`user_id\`, and \`api_key\` the first time. A new account has no money: paid polls answer 402 until it has.
${
  config.deposits
    ? `
## Register with a payment (x402)

1. \`POST ${baseUrl}/api/deposit\` with \`{"amount_usd": 5}\` answers 402 with the terms, for x402 versions 1 and 2.
2. Send it again with the signed payment in \`X-Payment\` or \`PAYMENT-SIGNATURE\`.
3. The answer has \`user_id\`, and \`api_key\` for a new payer.
`
    : ''
}${
  config.identityProvider
    ? `
## Through a person

A person signs in at ${baseUrl}/dashboard and makes a key there. Access tokens of the identity provider are taken as bearers
too, with the scopes ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}; its metadata is at ${baseUrl}/.well-known/openid-configuration.
`
    : ''
}
## Use, replace, revoke

${markdownList([
  `More keys: \`POST ${baseUrl}/api/keys\`; all keys: \`GET ${baseUrl}/api/keys\`.`,
  `Revoke one: \`DELETE ${baseUrl}/api/keys/{keyId}\`, or with the wallet alone \`POST ${baseUrl}/api/wallet/revoke-key\`.`,
  `A key that leaked: \`POST ${baseUrl}/api/wallet/rotate-key\` revokes all keys of the wallet and returns a new one.`,
])}

Metadata for programs: ${baseUrl}/.well-known/oauth-protected-resource. Errors and their ways out: ${baseUrl}/api/errors/catalog.
`;
}
