import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { Facts } from './facts.ts';

// When to call an operation, for operations whose summary does not say enough.

export interface Guidance {
  use: string;
  not?: string;
  effects?: readonly string[];
  alternatives?: readonly string[];
}

const STORES_RESULT = 'stores a result that anyone who holds its id can read';
const CHARGES =
  'charges the balance for votes, and for calls that the question made fail beyond a daily allowance; at most max_cost_usd';
const POLLING = ['/api/poll', '/api/polls', '/api/poll/stream', '/api/quick-poll'];
const others = (path: string) => POLLING.filter((one) => one !== path);

/** By method and path, as the OpenAPI document writes them. */
export const GUIDANCE: Readonly<Record<string, Guidance>> = {
  'POST /api/poll': {
    use: 'You have an API key, want one answer with its confidence, and can wait for it in one request.',
    not: 'Your client gives up after a few seconds: start a session with /api/polls. You have no key: /api/quick-poll.',
    effects: [STORES_RESULT, CHARGES],
    alternatives: others('/api/poll'),
  },
  'POST /api/polls': {
    use: 'You want to start a poll now and fetch its result later, or run many side by side.',
    not: 'You wait for the answer anyway: /api/poll is one request instead of three.',
    effects: [STORES_RESULT, CHARGES],
    alternatives: others('/api/polls'),
  },
  'GET /api/polls': {
    use: 'You look for polls of yours: by time, status, metadata or key, those that run, or the close calls worth a look.',
    not: 'You have the id of one: ask its status or result.',
  },
  'GET /api/polls/status': {
    use: 'You run many polls side by side and want to know which have ended, in one request.',
    not: 'You wait for one: its own status with `Prefer: wait=30` answers when it ends.',
  },
  'GET /api/polls/{id}/status': {
    use: 'You started a session and want to know whether it ended. `Prefer: wait=30` holds the answer back until it did.',
  },
  'GET /api/polls/{id}/result': {
    use: 'A session is completed and you want its result.',
    not: 'It is still running: that is 202 without a result; ask for the status with `Prefer: wait`.',
  },
  'POST /api/polls/{id}/cancel': {
    use: 'A poll is no longer wanted: nothing more is asked, and what was answered is stored and charged.',
    not: 'You only stop waiting: hang up, and the poll goes on by itself (MCP since 2026-07-28: only with `idempotency_key`, or as a task).',
    effects: ['ends the poll'],
  },
  'DELETE /api/account': {
    use: 'Its owner leaves for good. Export first what is to be kept.',
    not: 'A key was stolen: revoke it, or all keys and logins.',
    effects: ['deletes the account and everything in it; transfers stay, with ids only'],
  },
  'GET /api/export': {
    use: 'You keep a copy of everything that the account has here, or leave.',
    not: 'You want the results of some polls: list them, or fetch the results of their batch.',
  },
  'DELETE /api/results/{resultId}': {
    use: 'A poll must not be kept: nothing of what was asked and answered is left, and its public addresses answer 404.',
    not: 'It only has to go some day: send `expires_in` with the poll.',
    effects: ['deletes the poll, its result, its votes and its feedback; what it cost stays on the books'],
  },
  'POST /api/batches': {
    use: 'You have hundreds or thousands of polls whose answers may be late: one request, cheaper, checked as a whole before anything runs.',
    not: 'A person waits for the answers: POST /api/polls runs each at once.',
    effects: [
      'reserves what the rows may cost, or max_cost_usd',
      'charges each row as it ends, at most like a poll by itself: the costs here are those of one row',
      STORES_RESULT,
    ],
    alternatives: ['/api/polls'],
  },
  'GET /api/batches': { use: 'You look for a batch that you handed over.' },
  'GET /api/batches/{batchId}': {
    use: 'You want to know how far a batch is and what it has cost. `Prefer: wait=30` holds the answer back until it has ended.',
  },
  'GET /api/batches/{batchId}/results': {
    use: 'You want the answers of a batch, also those that are there while others run.',
    not: 'You want to know whether it has ended: ask the batch itself.',
  },
  'GET /api/batches/{batchId}/report': {
    use: 'Rows of your batch say their right answer, and you choose a preset or a confidence threshold by them.',
    not: 'You want the answers themselves: /api/batches/{batchId}/results has them.',
  },
  'POST /api/batches/{batchId}/cancel': {
    use: 'The rest of a batch is no longer wanted: what was answered is stored and charged.',
    effects: ['ends the batch'],
  },
  'DELETE /api/batches/{batchId}': {
    use: 'The answers of a batch that has ended must not be kept, here or for anyone who has a link.',
    not: 'You only want it out of a list: its results go too. Fetch them first.',
    effects: ['deletes the batch with all its polls, results and public pages; this cannot be undone'],
  },
  'POST /api/poll/stream': {
    use: 'A person watches, and votes should show as they arrive.',
    not: 'Only the result matters: /api/poll is simpler.',
    effects: [STORES_RESULT, CHARGES, 'goes on when the caller hangs up'],
    alternatives: others('/api/poll/stream'),
  },
  'GET /api/poll/estimate': { use: 'You decide between presets, or whether a poll is worth its price.' },
  'POST /api/poll/dry-run': {
    use: 'You want to know whether a request is valid, and what it would cost, before it runs.',
    alternatives: ['/api/poll/estimate'],
  },
  'POST /api/quick-poll': {
    use: 'You want a second opinion in one line, free and without an account; or, with a key, in shorthand.',
    not: 'You need the confidence and the single votes in the answer: /api/poll.',
    effects: [STORES_RESULT, 'with an API key and a theme that is not free: charges the balance'],
    alternatives: others('/api/quick-poll'),
  },
  'GET /api/profiles': { use: 'You would rather name a bundle than choose preset, threshold and cost yourself.' },
  'GET /api/panels': {
    use: 'You want to name the models of a poll yourself and need their ids, or look for a panel you saved.',
  },
  'GET /api/panels/{name}': { use: 'You want to see which models a saved panel has.' },
  'PUT /api/panels/{name}': {
    use: 'You ask the same models again and again: save them once, and send `panel` instead of `models`.',
    effects: ['replaces the panel of that name'],
  },
  'DELETE /api/panels/{name}': { use: 'A saved panel is of no more use.', effects: ['removes the panel'] },
  'GET /api/webhook-endpoints': { use: 'You want to see where the events of the account are sent, and how that goes.' },
  'POST /api/webhook-endpoints': {
    use: 'A server of yours should hear of every poll or batch that ends, without asking.',
    not: 'It should hear of single ones: send `webhook_url` with them. You run no server: `Prefer: wait=30` on the status.',
    effects: ['sends the events of the account there from now on'],
  },
  'GET /api/webhook-endpoints/{endpointId}': {
    use: 'You want to know whether an endpoint works, and what waits for it.',
  },
  'PATCH /api/webhook-endpoints/{endpointId}': {
    use: 'The address or the events of an endpoint change, or it was disabled and works again.',
    effects: ['`disabled` ends what waits'],
  },
  'DELETE /api/webhook-endpoints/{endpointId}': {
    use: 'An endpoint is of no more use.',
    not: 'You want to keep its log: disable it.',
    effects: ['removes the endpoint, its log and what waits'],
  },
  'GET /api/webhook-endpoints/{endpointId}/secret': { use: 'You write the code that verifies messages.' },
  'POST /api/webhook-endpoints/{endpointId}/rotate-secret': {
    use: 'A secret leaked, or is old.',
    effects: ['messages are signed with a new secret, and with the one before until the overlap is over'],
  },
  'GET /api/webhook-endpoints/{endpointId}/deliveries': {
    use: 'You want to know what was sent to an endpoint, and what it answered.',
  },
  'POST /api/webhook-endpoints/{endpointId}/test': {
    use: 'You want to see whether an endpoint receives and verifies.',
    effects: ['sends an event of the type webhook.test'],
  },
  'POST /api/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/resend': {
    use: 'A delivery failed, or what it was for was lost.',
    effects: ['sends the same event again'],
  },
  'GET /api/results/recent': { use: 'A person is logged in and wants to see what was polled last.' },
  'GET /api/results/{resultId}': {
    use: 'You hold a result id and want the votes, or want to show the proof to another person.',
  },
  'GET /api/results/{resultId}/receipt': {
    use: 'You want to prove what a poll came to, or to check it without trusting this service.',
    not: 'You only want the result: /api/results/{resultId} is shorter.',
  },
  'GET /api/receipts/days': {
    use: 'You check that receipts were not changed after their day, or keep the seals yourself.',
  },
  'GET /': { use: 'You want an overview of the service, as a page or as markdown.' },
  'GET /.well-known/jwks.json': { use: 'You check the signature of a receipt.' },
  'GET /api/results': { use: 'A person is logged in and pages through the polls of the account.' },
  'GET /api/graph/mermaid/{pollId}': { use: 'A result is to be drawn in a document that renders Mermaid.' },
  'GET /api/graph/node-spec': { use: 'You build a poll into a graph or an agent framework as a node or tool.' },
  'POST /api/feedback': {
    use: 'You found out whether an outcome was right.',
    not: 'You only disagree: feedback is for what turned out.',
    effects: ['replaces earlier feedback of yours on the same poll'],
  },
  'GET /api/feedback/{pollId}': { use: 'You want to know whether others found an outcome right.' },
  'GET /api/intents': { use: 'You map what people say to operations and want to see the phrases that we know.' },
  'POST /api/intents/match': { use: 'You have a sentence of a person and want the operation that it asks for.' },
  'GET /api/keys': { use: 'You want to see which keys an account has.' },
  'POST /api/keys': { use: 'An agent or a deployment needs a key of its own.', effects: ['creates a key, shown once'] },
  'POST /api/keys/redeem': {
    use: "A program on a person's computer has the code that /dashboard/grant sent to its loopback address.",
    not: 'You have a key or a login: POST /api/keys.',
    effects: ['creates a key, shown once', 'uses up the code, also with a wrong verifier'],
  },
  'DELETE /api/keys': {
    use: 'A key or a login was stolen and you do not know which.',
    not: 'You know the key: DELETE /api/keys/{keyId}.',
    effects: ['every key and login of the account ends at once, your own included'],
  },
  'DELETE /api/keys/{keyId}': { use: 'A key leaked or is not needed.', effects: ['the key stops working at once'] },
  'PATCH /api/keys/{keyId}': {
    use: 'A key is to spend at most so much per day or month, to read only, to end at a time, or to have another name.',
    not: 'A new key can have all that from the start: POST /api/keys.',
    effects: ['changes what the key may do at once'],
  },
  'GET /api/auth/login': { use: 'A person logs in, in a browser.', effects: ['leads to the identity provider'] },
  'GET /api/auth/callback': { use: 'Never by yourself: the identity provider sends browsers here.' },
  'GET /api/auth/logout': { use: 'A person logs out, in a browser.', effects: ['ends the session'] },
  'GET /api/auth/me': { use: 'A page of ours wants to know who is logged in.' },
  'GET /api/balance': { use: 'A logged-in person wants to know what is left.', alternatives: ['/api/mcp'] },
  'GET /api/usage': {
    use: 'You want to know what was spent on which day, by which key or for which customer, and what stopping early saved.',
    not: 'You look for single polls: GET /api/polls.',
  },
  'GET /api/usage/balance': {
    use: 'A program with a key wants to know what it may still spend.',
    alternatives: ['/api/mcp'],
  },
  'PUT /api/usage/low-balance': {
    use: 'You want to hear when the balance falls below an amount.',
    effects: ['replaces the amount'],
  },
  'POST /api/checkout': {
    use: 'A logged-in person pays by card.',
    not: 'No person is there: /api/deposit.',
    effects: ['opens a page of the payment processor; nothing is charged before it is filled in'],
    alternatives: ['/api/deposit'],
  },
  'POST /api/webhooks/stripe': { use: 'Never by yourself: the payment processor reports payments here.' },
  'POST /api/deposit': {
    use: 'An agent pays by itself, in USDC. The first call without a payment answers 402 with the terms.',
    effects: ['credits the balance of the paying wallet', 'a new payer gets an account and an API key'],
    alternatives: ['/api/checkout'],
  },
  'GET /api/wallet/challenge': { use: 'You hold an Ethereum wallet and want to log in, or to change its keys.' },
  'POST /api/wallet/verify': {
    use: 'You signed a challenge and want a session.',
    effects: ['sets a session cookie', 'a new wallet gets an account and an API key'],
  },
  'POST /api/wallet/revoke-key': { use: 'One key of a wallet is to end.', effects: ['the key stops working at once'] },
  'POST /api/wallet/delete-account': {
    use: 'The account of a wallet is to be deleted, with all its polls and results.',
    effects: ['cannot be undone', 'keys and results are gone at once'],
  },
  'POST /api/wallet/rotate-key': {
    use: 'All keys of a wallet are to end, and a new one is needed.',
    effects: ['every key of the wallet stops working at once', 'creates a key, shown once'],
  },
  'POST /api/mcp': {
    use: 'Your host speaks the Model Context Protocol: polls, results and the balance as tools.',
    effects: ['poll_question stores a public result and charges the balance'],
    alternatives: ['/api/poll'],
  },
  'POST /api/a2a/tasks/send': {
    use: 'You speak Agent2Agent: send a task whose message has question and options as JSON, at once or as a stream.',
    effects: [STORES_RESULT, CHARGES],
    alternatives: ['/api/poll'],
  },
  'POST /v1/chat/completions': {
    use: 'Your code speaks the OpenAI API already: change base URL and model, and send the options as an enum.',
    not: 'You write the request yourself: /api/poll is simpler and has the single votes.',
    effects: [STORES_RESULT, 'with a model other than eloquentpoll/free: charges the balance'],
    alternatives: ['/api/poll', '/api/quick-poll'],
  },
  'GET /v1/models': { use: 'A client of the OpenAI API asks which models there are.' },
  'GET /v1/models/{model}': { use: 'A client of the OpenAI API checks the model that it was configured with.' },
  'GET /api/health': { use: 'You monitor the service.' },
  'GET /api/models': { use: 'You want to know which model variants there are and what they cost.' },
  'GET /api/surfaces': { use: 'You want to know in which ways this service can be found and used.' },
  'POST /api/tools/list_surfaces': {
    use: 'You look for ways to use the service that fit a category or a kind of user.',
  },
  'POST /api/tools/get_surface': { use: 'You know the pattern_id of a surface and want all of it.' },
  'GET /api/errors/catalog': { use: 'You handle errors by code and want to know what each asks you to do.' },
  'GET /api/examples': { use: 'You want to see which languages there are examples in.' },
  'GET /api/examples/{language}': { use: 'You want code that runs as it is.' },
  'GET /api/reputation': { use: 'You decide whether to rely on this service.' },
  'GET /api/calibration': {
    use: 'You decide how far to trust the confidence of a poll that stopped early, or check our figures.',
  },
  'GET /api/calibration.csv': { use: 'You want the figures of GET /api/calibration in a spreadsheet.' },
  'GET /api/reputation/models': { use: 'You want to know how single models did in recent polls.' },
};

/** Differences for installations without free polls. */
const WITHOUT_FREE_POLLS: Readonly<Record<string, Partial<Guidance>>> = {
  'POST /api/poll': { not: 'Your client gives up after a few seconds: start a session with /api/polls.' },
  'POST /api/quick-poll': {
    use: 'You have an API key and want a second opinion in one line, in shorthand.',
    effects: [STORES_RESULT, CHARGES],
  },
  'POST /v1/chat/completions': { effects: [STORES_RESULT, CHARGES] },
};

/** By method and path, as the OpenAPI document writes them. */
export function guidanceOf(name: string, facts: Pick<Facts, 'panels'>): Guidance | undefined {
  const guidance = GUIDANCE[name];
  return guidance && !runsFreePolls(facts) ? { ...guidance, ...WITHOUT_FREE_POLLS[name] } : guidance;
}
