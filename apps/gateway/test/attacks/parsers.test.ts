import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { loadPanels } from '@eloquentpoll/models/panels';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { readGrantRequest } from '../../src/accounts/keys/key-grant.ts';
import { sealer } from '../../src/accounts/login/login-cookie.ts';
import { readAddress } from '../../src/accounts/wallets/address.ts';
import { signerOf } from '../../src/accounts/wallets/signer.ts';
import { readCall, refuseUnknownVersion } from '../../src/agents/a2a/read-call.ts';
import { readName } from '../../src/agents/a2a/task-ids.ts';
import { pollOfMessage } from '../../src/agents/a2a/task-input.ts';
import { readMessages } from '../../src/agents/chat/messages.ts';
import { readChatRequest } from '../../src/agents/chat/read-request.ts';
import { readSchema } from '../../src/agents/chat/schema-choice.ts';
import { rankIntents } from '../../src/agents/intents/match-intents.ts';
import { rpcIdOf } from '../../src/agents/json-rpc.ts';
import { acceptsAnything } from '../../src/agents/mcp/serve.ts';
import { operationOf } from '../../src/agents/mcp/tools.ts';
import { acceptsCsv } from '../../src/batches/routes/batch-results.ts';
import { bearerOf } from '../../src/http/access.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { codingFor } from '../../src/http/compressed.ts';
import { keyOf } from '../../src/http/hooks/idempotency-key.ts';
import { requestId, traceparentOf } from '../../src/http/hooks/request-ids.ts';
import { prefersMarkdown } from '../../src/http/prefers-markdown.ts';
import { namesTag } from '../../src/http/send-tagged.ts';
import { prefersEventStream, requireEventStream } from '../../src/http/sse/open-event-stream.ts';
import { preferredWait } from '../../src/http/validation/preferred-wait.ts';
import { readPollsFilter } from '../../src/pages/dashboard/polls-filter.ts';
import { readPayment } from '../../src/payments/usdc/read-payment.ts';
import { readAnyOrder } from '../../src/polls/order/any-order.ts';
import { fullScale, times } from './full-scale.ts';

// slow: 6 s

// Everything here takes text from strangers and is pure. Whatever it is given it answers or refuses in our words, and
// it takes no longer than the text is long.

const { open } = sealer(['a secret of at least 32 characters long']);

const accepting = (accept: string) => ({ headers: { accept } }) as Parameters<typeof requireEventStream>[0];

const TEXTS: Record<string, (text: string) => unknown> = {
  'poll shorthand': parseShorthand,
  // The route takes no more.
  'text of an intent': (text) => rankIntents(text.slice(0, 2_000)),
  'payment header': readPayment,
  'payment header in base64': (text) => readPayment(Buffer.from(text).toString('base64')),
  'session cookie': open,
  'signature of a wallet': (text) => signerOf('a message', text),
  'address of a wallet': readAddress,
  'idempotency key': keyOf,
  bearer: bearerOf,
  'request id': (text) => requestId({ headers: { 'x-request-id': text } }),
  trace: traceparentOf,
  'preferred wait': (text) => preferredWait(text, 30),
  'accepted types': prefersMarkdown,
  'accepted codings': (text) => codingFor(text, 5_000),
  'accepted stream': (text) => requireEventStream(accepting(text)),
  'preferred stream': (text) => prefersEventStream(accepting(text)),
  'accepted table': (text) => acceptsCsv(accepting(text)),
  'accepted by a client of MCP': acceptsAnything,
  'known tags': (text) => namesTag(text, '"x"'),
  'version of A2A': refuseUnknownVersion,
  'label of the history': (label) => readPollsFilter({ label }),
  'request for a grant': (text) => readGrantRequest(() => text),
  'task id': (text) => readName(text, 'id'),
};

const panels = loadPanels({ file: 'simulator' });

const BODIES: Record<string, (body: unknown) => unknown> = {
  'order of a poll': (body) => readAnyOrder(body, 'anonymous'),
  'order of an account': (body) => readAnyOrder(body, 'known'),
  'message of A2A': readCall,
  'id of a message': rpcIdOf,
  'input of a task': (body) => pollOfMessage(Object(body) as Record<string, unknown>),
  'chat request': (body) => readChatRequest({ panels }, body, 'known'),
  'messages of a chat': (messages) => readMessages(messages),
  'schema of a chat': readSchema,
  'operation of MCP': (body) => operationOf({ body } as Parameters<typeof operationOf>[0]),
};

/** Pieces that mean something to one parser or another. */
const piece = fc.constantFrom(
  '[',
  ']',
  ',',
  '"',
  '\\',
  '{',
  '}',
  'wait=',
  ';',
  ' ',
  '\n',
  '0x',
  '.',
  ':',
  '=',
  'Bearer ',
  'eyJ',
  '?',
  'A',
  '\0',
  '\ud800',
  '😀',
  '\u202e',
  'q=0',
  '/',
  '*',
  '-',
  '1',
  'e',
  'null',
  '__proto__',
);
const text = fc.oneof(
  fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json().map((json) => json),
);
const member = fc.constantFrom(
  'question',
  'options',
  'q',
  'o',
  'poll',
  'theme',
  'preset',
  'jsonrpc',
  'method',
  'params',
  'id',
  'message',
  'parts',
  'text',
  'data',
  'kind',
  'name',
  'arguments',
  '__proto__',
  'dry_run',
  'profile',
  'messages',
  'role',
  'content',
  'enum',
  '$ref',
  'anyOf',
  'properties',
);
const { body } = fc.letrec<{ body: unknown }>((tie) => ({
  body: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(
      '2.0',
      'tools/call',
      'tasks/send',
      'SendMessage',
      'free',
      'poll_question',
      ['A', 'B'],
      null,
      1,
      true,
      'Which of these is best?',
    ),
    text,
    fc.array(tie('body'), { maxLength: 3 }),
    fc.dictionary(member, tie('body'), { maxKeys: 5 }),
  ),
}));

async function refusesInOurWords(parse: (given: never) => unknown, given: unknown): Promise<void> {
  try {
    await parse(given as never);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

const numRuns = times(100, 20_000);

for (const [name, parse] of Object.entries(TEXTS)) {
  t.test(`${name}: any text`, async (t) => {
    await fc.assert(
      fc.asyncProperty(text, (given) => refusesInOurWords(parse, given)),
      { numRuns },
    );
    t.pass('no text makes it throw anything but a refusal');
  });
}

for (const [name, parse] of Object.entries(BODIES)) {
  t.test(`${name}: any JSON`, async (t) => {
    await fc.assert(
      fc.asyncProperty(body, (given) => refusesInOurWords(parse, given)),
      { numRuns },
    );
    t.pass('no JSON makes it throw anything but a refusal');
  });
}

// What makes an expression go back and try again.
const LONG = [
  '[',
  '],',
  '"',
  '\\',
  ' ',
  '((',
  'a,',
  '[a',
  'wait=',
  ',;',
  '0',
  '\t\n',
  'A?',
  'vs ',
  '. ',
  '-',
  '😀',
  '[[]',
  '","',
].map((unit) => unit.repeat(Math.floor(times(1_024, 65_536) / unit.length)));

t.test('a long text is read to its end, 64 KB of it at full scale', async (t) => {
  for (const [name, parse] of Object.entries(TEXTS)) {
    for (const long of LONG) {
      for (const given of [long, `Which is best? [${long}`, `x${long}]!`]) {
        const began = performance.now();
        await refusesInOurWords(parse, given);
        const tookMs = performance.now() - began;
        // A clock judges only where the machine is ours alone; without it a parser that hangs still hangs this test.
        if (fullScale && tookMs > 250)
          t.fail(`${name}: ${Math.round(tookMs)} ms for ${JSON.stringify(given.slice(0, 20))}`);
      }
    }
  }
  t.pass('no long text makes it throw anything but a refusal');
});

/** What a header or parameter begins with before it goes on with blanks. */
const BEGINNINGS = [
  '',
  'a',
  '0',
  '"',
  'W/"',
  'wait',
  'wait=',
  'wait="',
  'wait=1',
  'wait="1"',
  'wait=1;',
  'Bearer',
  'gzip;',
  'text/markdown;',
  'text/event-stream',
  'text/csv',
  '*/*;',
  '*/*;q=0',
  'key',
  'key=',
  '1.',
  '0x',
];
/** A parser that tries each length of one run with each of another takes minutes. */
const RUN = 600_000;

t.test('a long run of blanks or digits before something that does not belong there is read at once', async (t) => {
  for (const beginning of BEGINNINGS) {
    for (const filling of [' ', '0']) {
      for (const end of ['x', '\n']) {
        const given = beginning + filling.repeat(RUN) + end;
        for (const parse of Object.values(TEXTS)) await refusesInOurWords(parse, given);
      }
    }
  }
  t.pass('no such text makes it hang, or throw anything but a refusal');
});
