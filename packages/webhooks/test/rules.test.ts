import t from 'tap';
import { receiverRules, systemResolver, urlProblem } from '../src/index.ts';
import { resolveReceiver } from '../src/resolve-receiver.ts';

const outside = receiverRules({ toLoopback: false });
const local = receiverRules({ toLoopback: true });

t.test('only public addresses may be connected to', (t) => {
  for (const address of ['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e'])
    t.ok(outside.allowsAddress(address), address);
  for (const address of [
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.0.9',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.7',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0',
    'fec0::1',
    'ff02::1',
    'not an address',
    '',
  ]) {
    t.notOk(outside.allowsAddress(address), address);
    t.equal(local.allowsAddress(address), /^(127\.|::1$)/.test(address), `${address} where this machine is allowed`);
  }
  t.end();
});

/** First and last address of each range that is refused, and its neighbours that are not. */
const RANGES: readonly [first: string, last: string, before: string | null, after: string | null][] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', null],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
];

t.test('each range is refused from its first address to its last, and no further', (t) => {
  for (const [first, last, before, after] of RANGES) {
    for (const address of [first, last]) t.notOk(outside.allowsAddress(address), address);
    for (const address of [before, after]) if (address) t.ok(outside.allowsAddress(address), address);
  }
  for (const address of ['127.0.0.0', '127.255.255.255', '::1', '8.8.8.8']) t.ok(local.allowsAddress(address), address);
  for (const address of ['126.255.255.255', '128.0.0.0']) t.ok(local.allowsAddress(address), `${address} is public`);
  t.notOk(local.allowsAddress('::2'));
  t.end();
});

const WRONG: readonly [string, RegExp][] = [
  ['', /absolute/],
  ['hooks', /absolute/],
  ['//host.example.com/x', /absolute/],
  ['ftp://host.example.com/', /absolute/],
  ['javascript:alert(1)', /absolute/],
  ['https:host.example.com', /absolute/],
  ['https://host.example.com/a b', /absolute/],
  ['https:\\\\host.example.com', /absolute/],
  ['http://host.example.com/', /https/],
  ['https://ada@host.example.com/', /user/],
  ['https://ada:pw@host.example.com/', /user/],
  ['https://good.example.com:pw@169.254.169.254/', /user/],
  ['https://host.example.com/#x', /fragment/],
  ['https://host.example.com:22/', /port/],
  ['https://host.example.com:6379/', /port/],
  ['https://host.example.com:80/', /port/],
  ['https://localhost/', /public/],
  ['https://LOCALHOST./', /public/],
  ['https://db.internal/', /public/],
  ['https://intranet/', /public/],
  ['https://printer/', /public/],
  ['https://printer.local/', /public/],
  ['https://redis.default.svc/', /public/],
  ['https://127.0.0.1/', /public/],
  ['https://127.1/', /public/],
  ['https://2130706433/', /public/],
  ['https://0x7f000001/', /public/],
  ['https://0177.0.0.1/', /public/],
  ['https://10.0.0.8:8443/', /public/],
  ['https://169.254.169.254/latest/meta-data/', /public/],
  ['https://[::1]/', /public/],
  ['https://[::ffff:10.0.0.1]/', /public/],
  ['https://[64:ff9b::a00:1]/', /public/],
  ['https://[fd00:ec2::254]/', /public/],
  ['https://①②⑦.⓪.⓪.①/', /public/],
];

t.test('an address is refused by what it says, before anything is resolved', (t) => {
  for (const [url, problem] of WRONG) t.match(urlProblem(url, outside) ?? 'taken', problem, url);
  for (const url of [
    'https://host.example.com',
    'https://host.example.com:8443/hooks?for=polls',
    'https://HOST.example.com/hooks',
    'https://93.184.216.34/hooks',
    'https://bücher.example.com/',
  ])
    t.equal(urlProblem(url, outside), null, url);
  t.end();
});

t.test('443 and 8443 are the ports, also where 443 is written out', (t) => {
  for (const port of ['', '443', '8443']) t.ok(outside.allowsPort(port), port);
  for (const port of ['80', '444', '8080', '8444']) t.notOk(outside.allowsPort(port), port);
  t.end();
});

t.test('where this machine is allowed, so are http and any port from 1024, and nothing else more', (t) => {
  for (const url of ['http://localhost:3000/', 'http://127.0.0.1:9999/x', 'https://[::1]:4000/', 'http://localhost/'])
    t.equal(urlProblem(url, local), null, url);
  t.equal(urlProblem('http://localhost:1024/', local), null);
  for (const port of [22, 1_023]) t.match(urlProblem(`http://127.0.0.1:${port}/`, local), /1024/);
  for (const [url, problem] of WRONG.filter(([url]) => !/localhost|127|0177|0x7f|2130|::1|①/i.test(url)))
    t.match(urlProblem(url, local) ?? 'taken', problem, url);
  t.end();
});

t.test('a name has the addresses of both families, of those that answer; none is an error', async (t) => {
  const answers = { v4: ['192.0.2.1'], v6: ['2001:db8::1'] };
  const known = (addresses: string[]) => async () =>
    addresses.length > 0 ? addresses : Promise.reject(new Error('ENODATA'));
  const resolve = (v4: string[], v6: string[]) =>
    systemResolver({ resolve4: known(v4), resolve6: known(v6) })('host.example.com');
  t.same(await resolve(answers.v4, answers.v6), ['192.0.2.1', '2001:db8::1']);
  t.same(await resolve(answers.v4, []), answers.v4);
  t.same(await resolve([], answers.v6), answers.v6);
  await t.rejects(resolve([], []), /no address/);
});

t.test(
  'what is connected to is each address of a name with its family, or the address in the URL itself',
  async (t) => {
    const found = ['93.184.216.34', '2606:4700:4700::1111'];
    const both = [
      { address: found[0], family: 4 },
      { address: found[1], family: 6 },
    ];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return found;
    };
    t.same(await resolveReceiver(new URL('https://host.example.com/x'), outside, resolve), both);
    t.same(asked.splice(0), ['host.example.com']);
    t.same(await resolveReceiver(new URL('https://93.184.216.34/'), outside, resolve), [both[0]]);
    t.same(await resolveReceiver(new URL('https://[2606:4700:4700::1111]/'), outside, resolve), [both[1]]);
    t.same(await resolveReceiver(new URL('http://localhost:3000/'), local, resolve), [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    t.same(asked, [], 'no name server is asked for these');
    t.same(await resolveReceiver(new URL('https://host.example.com/x'), local, resolve), both, 'as for any other name');
    await t.rejects(resolveReceiver(new URL('https://10.0.0.1/'), outside, resolve), /address_refused/);
    t.same(asked.splice(0), ['host.example.com']);
    t.same(await resolveReceiver(new URL('https://localhost/'), outside, resolve), both);
    t.same(asked, ['localhost'], 'this machine has no name of its own where it is not allowed');
    const none = () => Promise.reject(new Error('ENOTFOUND'));
    await t.rejects(resolveReceiver(new URL('https://host.example.com/'), outside, none), /name_not_resolved/);
  },
);
