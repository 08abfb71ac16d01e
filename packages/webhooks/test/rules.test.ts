import t from 'tap';
import { receiverRules, urlProblem } from '../src/index.ts';

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

t.test('where this machine is allowed, so are http and any port from 1024, and nothing else more', (t) => {
  for (const url of ['http://localhost:3000/', 'http://127.0.0.1:9999/x', 'https://[::1]:4000/', 'http://localhost/'])
    t.equal(urlProblem(url, local), null, url);
  t.match(urlProblem('http://127.0.0.1:22/', local), /1024/);
  for (const [url, problem] of WRONG.filter(([url]) => !/localhost|127|0177|0x7f|2130|::1|①/i.test(url)))
    t.match(urlProblem(url, local) ?? 'taken', problem, url);
  t.end();
});
