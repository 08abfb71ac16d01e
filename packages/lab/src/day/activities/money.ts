import { base64, sign, v1 } from '@eloquentpoll/testkit/fakes/payer';
import { Type } from '@sinclair/typebox';
import { Wallet } from 'ethers';
import type { SendCall } from '../call.ts';
import { type DayUser, inMicroUsd } from '../day-user.ts';
import { type Activity, anyPerson, type DayWorld } from '../world.ts';

// How people sign up and pay: USDC by a signed payment, a card on the processor's page, logins by wallet and by the
// identity provider. All of it is play money of the simulator.

type Paying = Pick<DayWorld, 'call' | 'diary' | 'receiver'>;
type AnyWallet = NonNullable<DayUser['wallet']>;

const FIRST_USD = 900;

const FirstDeposit = Type.Object({ api_key: Type.String(), user_id: Type.String() });
const Me = Type.Object({ userId: Type.String() });
const NewKey = Type.Object({ key: Type.String() });
const Secret = Type.Object({ secret: Type.String() });
const Challenge = Type.Object({ message: Type.String() });
const Checkout = Type.Object({ url: Type.String() });
const Terms = Type.Object({
  accepts: Type.Array(
    Type.Object({
      payTo: Type.String(),
      asset: Type.String(),
      extra: Type.Object({ name: Type.String(), version: Type.String() }),
    }),
    { minItems: 1 },
  ),
});

/** Opens an account by a first deposit. */
export async function signUpByWallet(world: Paying, name: string, usd = FIRST_USD): Promise<DayUser | null> {
  const wallet = Wallet.createRandom();
  const paid = await deposit(world.call, wallet, usd);
  if (!paid.isExpected) return null;
  const { api_key: key, user_id: accountId } = paid.read(FirstDeposit);
  const cookie = await logInByWallet(world.call, wallet);
  if (cookie === null) return null;
  const blank = { chargedU: 0, results: [], deletions: new Map() };
  return withWebhookSecret(world, { name, accountId, key, cookie, wallet, creditedU: inMicroUsd(usd), ...blank });
}

/** Opens an account by the identity provider, and pays by card. */
export async function signUpByLogin(world: Paying, name: string): Promise<DayUser | null> {
  const cookie = await logInByProvider(world.call, `${name}@example.com`);
  if (cookie === null) return null;
  const headers = { cookie };
  const me = await world.call({ way: 'login', path: '/api/auth/me', headers });
  const key = await world.call({ way: 'key', path: '/api/keys', body: { label: name }, headers, expect: [201] });
  if (!me.isExpected || !key.isExpected) return null;
  const blank = { name, accountId: me.read(Me).userId, key: key.read(NewKey).key, cookie, wallet: null };
  const person = await withWebhookSecret(world, {
    ...blank,
    creditedU: 0,
    chargedU: 0,
    results: [],
    deletions: new Map(),
  });
  await payByCard(world, person, FIRST_USD);
  return person;
}

/** Webhooks of the account can be judged from now on. */
async function withWebhookSecret(world: Paying, person: DayUser): Promise<DayUser> {
  const secret = await world.call({ way: 'webhook secret', path: '/api/webhook-endpoints/account/secret', by: person });
  if (secret.isExpected) world.receiver.learnSecret(person.accountId, secret.read(Secret).secret);
  return person;
}

async function deposit(call: SendCall, wallet: AnyWallet, usd: number) {
  const way = 'deposit of USDC';
  const body = { amount_usd: usd };
  const terms = await call({ way, path: '/api/deposit', body, expect: [402] });
  if (!terms.isExpected) return terms;
  const { payTo, asset, extra } = terms.read(Terms).accepts[0]!;
  const domain = { name: extra.name, version: extra.version, verifyingContract: asset };
  const headers = { 'x-payment': base64(v1(await sign(wallet, usd, { change: { to: payTo }, domain }))) };
  return call({ way, path: '/api/deposit', body, headers });
}

async function logInByWallet(call: SendCall, wallet: AnyWallet): Promise<string | null> {
  const way = 'login by wallet';
  const challenge = await call({ way, path: `/api/wallet/challenge?address=${wallet.address}` });
  if (!challenge.isExpected) return null;
  const { message } = challenge.read(Challenge);
  const body = { message, signature: await wallet.signMessage(message) };
  const verified = await call({ way, path: '/api/wallet/verify', body });
  return verified.isExpected ? cookieOf(verified.headers, 'ep_session') : null;
}

/** Follows the redirects as a browser does, with one cookie jar for each of the two sites. */
async function logInByProvider(call: SendCall, email: string): Promise<string | null> {
  const way = 'login by the identity provider';
  const jar = new Map<string, string>();
  let next = '/api/auth/login';
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 12; step++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = form === null ? {} : { body: form, type: 'application/x-www-form-urlencoded' };
    const answer = await call({
      way,
      path: next,
      headers: { cookie },
      isManual: true,
      expect: [200, 302, 303],
      ...sent,
    });
    if (!answer.isExpected) return null;
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      jar.set(name!, value!);
    }
    if (jar.get('ep_session')) return `ep_session=${jar.get('ep_session')}`;
    const location = answer.headers.get('location');
    form = location === null ? formIn(answer.text, email) : null;
    next = location === null ? next : new URL(location, next.startsWith('http') ? next : undefined).href;
  }
  return null;
}

const formIn = (page: string, email: string): URLSearchParams =>
  new URLSearchParams(page.includes('name="email"') ? { email } : { answer: 'yes' });

function cookieOf(headers: Headers, name: string): string | null {
  const line = headers.getSetCookie().find((one) => one.startsWith(`${name}=`));
  return line?.split(';')[0] ?? null;
}

async function payByCard(world: Paying, person: DayUser, usd: number): Promise<void> {
  const way = 'card checkout';
  const opened = await world.call({
    way,
    path: '/api/checkout',
    body: { amount_cents: usd * 100 },
    by: person,
    with: 'cookie',
  });
  if (!opened.isExpected) return;
  const form = new URLSearchParams({ answer: 'pay' });
  const paid = await world.call({
    ...{ way, path: opened.read(Checkout).url, body: form, type: 'application/x-www-form-urlencoded' },
    ...{ isManual: true, expect: [303] },
  });
  if (!paid.isExpected) return;
  const back = await world.call({ way, path: '/dashboard?checkout=success', by: person, with: 'cookie' });
  if (back.isExpected) person.creditedU += inMicroUsd(usd);
}

export const topUp: Activity = async (world) => {
  const [by, usd] = [anyPerson(world), world.chance.whole(1, 20)];
  if (by.wallet === null) return payByCard(world, by, usd);
  const { isExpected } = await deposit(world.call, by.wallet, usd);
  if (isExpected) by.creditedU += inMicroUsd(usd);
};

/** Signs up, asks for more than the balance allows, and deletes the account. */
export const signUpAndDelete: Activity = async (world) => {
  const visitor = await signUpByWallet(world, `visitor ${world.chance.whole(1, 1e9)}`, 1);
  if (!visitor) return;
  const way = 'account deletion';
  const question = { question: 'Which of these is right in case #1, with too little money?', options: ['A', 'B'] };
  const costly = {
    ...question,
    question: `${question.question} ${'x'.repeat(60_000)}`,
    preset: 'strong',
    max_cost_usd: 25,
  };
  await world.call({ way: 'insufficient balance', path: '/api/poll', body: costly, by: visitor, expect: [402] });
  const path = `/api/account?confirm=${visitor.accountId}&give_up_balance=true`;
  const deleted = await world.call({ way, method: 'DELETE', path, by: visitor, with: 'cookie' });
  if (deleted.isExpected) await world.call({ way, path: '/api/usage', by: visitor, expect: [401] });
};
