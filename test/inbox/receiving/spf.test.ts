// SPF as RFC 7208 has it: a table of records, clients and verdicts against a zone held in memory.
// The numbers in the titles are its sections.
import { describe, expect, it } from 'vitest';
import { authenticate } from '../../../src/inbox/receiving/authenticate.ts';
import type { AuthResolver } from '../../../src/inbox/receiving/check-lookups.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { mail } from '../../mail/parse/fixture.ts';

type Records = Record<string, string[] | string[][] | { exchange: string; priority: number }[]>;
type Zone = Record<string, Records | string>;

interface Client {
  ip?: string;
  helo?: string;
  mailFrom?: string;
  /** Overrides the zone below; a text is the error code for queries of the name. */
  zone?: Zone;
}

const v4 = '192.0.2.1';
const v6 = '2001:db8::cb01';
const mx = (...hosts: string[]) => hosts.map((exchange, at) => ({ exchange, priority: at * 10 }));
const spf = (...terms: string[]): Records => ({ TXT: [[`v=spf1 ${terms.join(' ')}`]] });
const numbered = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n));

const zone: Zone = {
  'v4.test': { A: [v4] },
  'near.test': { A: ['192.0.2.200'], AAAA: ['2001:db8::9'] },
  'far.test': { A: ['198.51.100.1'], AAAA: ['2001:db8:ffff::1'] },
  'v6.test': { AAAA: [v6] },
  'text.test': { TXT: [['nothing of interest']] },
  'mail.test': { MX: mx('far.test', 'v4.test', 'v6.test') },
  'nullmx.test': { MX: mx('') },
  'localmx.test': { MX: mx('localhost', '192.0.2.1', 'v4.test') },
  'ten.test': { MX: mx(...Array(10).fill('far.test')) },
  'eleven.test': { MX: mx(...numbered(11, (n) => `h${n}.far.test`)) },
  ...Object.fromEntries(
    numbered(11, (n) => `h${n}.far.test`).map((h) => [h, { A: ['203.0.113.9'] }]),
  ),
  'pass.test': spf('+all'),
  'fail.test': spf('-all'),
  'soft.test': spf('~all'),
  'neutral.test': spf('?all'),
  'broken.test': spf('ip4:none', '+all'),
  'sick.test': 'ESERVFAIL',
  'silent.test': 'ETIMEOUT',
};

function resolverOf(extra: Zone): AuthResolver {
  const all = { ...zone, ...extra };
  const codeOf = (name: string, type: string): string | string[] | string[][] => {
    const found = all[name];
    if (typeof found === 'string') return found;
    if (found?.[type]) return found[type] as string[];
    const exists = found ?? Object.keys(all).some((known) => known.endsWith(`.${name}`));
    return exists ? 'ENODATA' : 'ENOTFOUND';
  };
  return async (name, type) => {
    const found = codeOf(name, type);
    if (typeof found !== 'string') return found;
    throw Object.assign(new Error(`${found} ${type} ${name}`), { code: found });
  };
}

/** Returns the verdict on a mail from x@sender.test with this SPF record. */
async function verdict(record: string | string[][], client: Client = {}): Promise<string> {
  const own = { A: [v4], AAAA: [v6], MX: mx('v4.test') };
  const { spfVerdict } = await authenticate(mail(['From: ada@author.example']), {
    ip: client.ip ?? v4,
    helo: client.helo ?? 'mx.sender.test',
    mailFrom: client.mailFrom ?? 'x@sender.test',
    mta: 'mx.receiver.example',
    resolver: resolverOf({
      'sender.test': { ...own, TXT: Array.isArray(record) ? record : [[record]] },
      ...client.zone,
    }),
    clock: systemClock,
    trustedSealers: new Set(),
  });
  return spfVerdict;
}

type Row = [record: string, expected: string, client?: Client];

describe('4.3 the checked domain', () => {
  it.each<[string, string, Client]>([
    ['a null sender: the HELO name', 'pass', { mailFrom: '', helo: 'pass.test' }],
    ['a HELO that is an address', 'none', { mailFrom: '', helo: '192.0.2.1' }],
    ['a HELO that is an address literal', 'none', { mailFrom: '', helo: '[192.0.2.1]' }],
    ['a HELO without a dot', 'none', { mailFrom: '', helo: 'localhost' }],
    ['a HELO other than a name', 'none', { mailFrom: '', helo: "JUMPIN' JUPITER" }],
    ['a label of 64 characters', 'none', { mailFrom: `x@${'a'.repeat(64)}.test` }],
    ['an empty label', 'none', { mailFrom: 'x@a..test' }],
    ['a name of one label', 'none', { mailFrom: 'x@test' }],
    ['a name that does not exist', 'none', { mailFrom: 'x@missing.test' }],
    ['a name without a record', 'none', { mailFrom: 'x@text.test' }],
    ['a name with a failing server', 'temperror', { mailFrom: 'x@sick.test' }],
    ['a name with a silent server', 'temperror', { mailFrom: 'x@silent.test' }],
  ])('%s: %s', async (_, expected, client) => {
    expect(await verdict('v=spf1 +all', client)).toBe(expected);
  });

  it('the local part of a null sender is postmaster', async () => {
    const record = spf('exists:%{l}.%{o}.seen.test', '-all');
    const client = { mailFrom: '', helo: 'helo.test' };
    const seen = { 'helo.test': record, 'postmaster.helo.test.seen.test': { A: ['127.0.0.2'] } };
    expect(await verdict('v=spf1 -all', { ...client, zone: seen })).toBe('pass');
  });
});

describe('4.5 the selection of a record', () => {
  it.each<[string, string[][], string]>([
    ['none that begins otherwise', [['v=spf10 -all'], ['v=spf1x'], ['x v=spf1 -all']], 'none'],
    ['none that begins with a space', [[' v=spf1 -all']], 'none'],
    ['the version in any case', [['V=sPf1 -all']], 'fail'],
    ['the version alone', [['v=spf1']], 'neutral'],
    ['one among others', [['site=7'], ['v=spf1 -all'], ['caf\u00e9']], 'fail'],
    ['not two', [['v=spf1 +all'], ['v=spf1 +all']], 'permerror'],
    ['its strings joined without a space', [['v=spf1 ip4:192.0.', '2.1 -all']], 'pass'],
    ['none with other than ASCII', [['v=spf1 a:caf\u00e9.test +all']], 'permerror'],
    ['spaces between and after terms', [['v=spf1    -all   ']], 'fail'],
  ])('%s', async (_, records, expected) => {
    expect(await verdict(records)).toBe(expected);
  });
});

describe('4.6 the syntax: permerror for an error anywhere, also behind a match', () => {
  it.each([
    'ip4:192.0.2.1 nonsense',
    'ip4:192.0.2.1 unknown:x',
    '-all.',
    '.all',
    '+all ip4',
    'ip4',
    'ip4:',
    'ip4:192.0.2',
    'ip4:192.0.2.1/33',
    'ip4:192.0.2.1/024',
    'ip4:192.0.2.1//32',
    'ip4:192.0.2.01',
    'ip4:2001:db8::1',
    'ip6',
    'ip6:',
    'ip6:192.0.2.1',
    'ip6:2001:db8::1/129',
    'ip6:2001:db8::1//64',
    'ip6:2001:db8::g',
    'all/8',
    'all:x.test',
    'include',
    'include:',
    'include:x',
    'include:v4.test/24',
    'exists',
    'exists:',
    'exists:v4.test/24',
    'a:',
    'a/',
    'a:/24',
    'a/33',
    'a//129',
    'a/24/64',
    'a:v4.test/033',
    'a:123',
    'a:x.1',
    'a:x.test:80',
    'mx:',
    'mx/33',
    'mx//129',
    'mx:v4.test/abc',
    'ptr:',
    'ptr/24',
    'ptr:v4.test/24',
    'redirect=',
    'redirect=x',
    'redirect=v4.test redirect=v4.test',
    'exp=',
    'exp=x',
    'exp=v4.test exp=v4.test',
    '=x',
    '1name=x',
    'name=%',
    'name=%{x}',
    'a:%{d0}.test',
    'a:%(d).test',
    'a:%{d.test',
    'a:%',
    'a:%{c}.test',
    'a:%{r}.test',
    'a:%{t}.test',
    'a:%{x}.test',
  ])('%s', async (terms) => {
    expect(await verdict(`v=spf1 ip4:192.0.2.1 ${terms}`)).toBe('permerror');
  });

  it.each(['name=', 'name=%{i}', 'a.b-c_d=x', 'NAME=a=b', 'exp=v4.test', 'redirect=v4.test'])(
    'allows a modifier anywhere: %s',
    async (modifier) => {
      expect(await verdict(`v=spf1 ${modifier} ip4:192.0.2.1 -all`)).toBe('pass');
    },
  );
});

describe('4.6.4 the limits of look-ups', () => {
  const hosts = (count: number) => numbered(count, () => 'a:far.test').join(' ');
  const missing = (count: number) => numbered(count, (n) => `a:no${n}.test`).join(' ');
  const chain = (last: string): Zone => ({
    'c.test': spf(hosts(4), 'include:d.test'),
    'd.test': spf(hosts(4), last),
  });
  it.each<Row>([
    [`${hosts(10)} +all`, 'pass'],
    [`${hosts(11)} +all`, 'permerror'],
    ['include:c.test +all', 'pass', { zone: chain('-all') }],
    ['include:c.test a:far.test +all', 'permerror', { zone: chain('-all') }],
    ['include:sender.test +all', 'permerror'],
    ['redirect=sender.test', 'permerror'],
    [`${missing(2)} +all`, 'pass'],
    [`${missing(3)} +all`, 'permerror'],
    ['a:text.test mx:text.test exists:text.test +all', 'permerror'],
    ['mx:ten.test +all', 'pass'],
    ['mx:eleven.test +all', 'permerror'],
    ['ip4:192.0.2.0/24 ip6:2001:db8::/32 all', 'pass'],
    [`ip4:192.0.2.1 ${hosts(11)} -all`, 'pass'],
  ])('%s: %s', async (terms, expected, client) => {
    expect(await verdict(`v=spf1 ${terms}`, client)).toBe(expected);
  });

  it('do not count a host with addresses of the other family as void', async () => {
    const terms = 'a:v4.test a:w.v4.test a:x.v4.test +all';
    const others = { 'w.v4.test': { A: [v4] }, 'x.v4.test': { A: [v4] } };
    expect(await verdict(`v=spf1 ${terms}`, { ip: v6, zone: others })).toBe('pass');
  });

  it('skip the names of a PTR after the tenth', async () => {
    const names = numbered(10, (n) => `p${n}.far.test`);
    const zoneOf = (ptr: string[]): Zone => ({ '1.2.0.192.in-addr.arpa': { PTR: ptr } });
    const asked = (ptr: string[]) => verdict('v=spf1 ptr:v4.test -all', { zone: zoneOf(ptr) });
    expect(await asked([...names.slice(1), 'v4.test'])).toBe('pass');
    expect(await asked([...names, 'v4.test'])).toBe('fail');
  });
});

describe('5 mechanisms', () => {
  const mapped = '::ffff:192.0.2.1';
  it.each<Row>([
    ['a -all', 'pass'],
    ['A -all', 'pass'],
    ['a -all', 'pass', { ip: v6 }],
    ['a -all', 'pass', { ip: mapped }],
    ['a -all', 'fail', { ip: '192.0.2.9' }],
    ['a/24 -all', 'pass', { ip: '192.0.2.9' }],
    ['a/24 -all', 'fail', { ip: '2001:db8::1' }],
    ['a//64 -all', 'pass', { ip: '2001:db8::1' }],
    ['a//64 -all', 'fail', { ip: '192.0.2.9' }],
    ['a/24//64 -all', 'pass', { ip: '2001:db8::1' }],
    ['a:near.test -all', 'fail'],
    ['a:near.test/24 -all', 'pass'],
    ['a:near.test//64 -all', 'pass', { ip: v6 }],
    ['a:near.test/24//64 -all', 'pass'],
    ['a:far.test/0 -all', 'pass'],
    ['a:far.test//0 -all', 'pass', { ip: v6 }],
    ['a:v6.test/0 -all', 'fail'],
    ['a:V4.TEST. -all', 'pass'],
    ['mx -all', 'pass'],
    ['mx/24 -all', 'pass', { ip: '192.0.2.9' }],
    ['mx:mail.test -all', 'pass'],
    ['mx:mail.test//64 -all', 'pass', { ip: '2001:db8::1' }],
    ['mx:v4.test -all', 'fail'],
    ['mx:nullmx.test -all', 'fail'],
    ['mx:localmx.test -all', 'pass'],
    ['ip4:192.0.2.0/24 -all', 'pass'],
    ['ip4:192.0.2.1 -all', 'pass', { ip: mapped }],
    ['ip4:0.0.0.0/0 -all', 'fail', { ip: v6 }],
    ['ip6:2001:db8::/32 -all', 'pass', { ip: v6 }],
    ['ip6:::/0 -all', 'fail'],
    ['ip6:::ffff:192.0.2.1 -all', 'fail', { ip: mapped }],
    ['ip6:2001:DB8:0:0::CB01 -all', 'pass', { ip: v6 }],
    ['exists:v4.test -all', 'pass'],
    ['exists:v4.test -all', 'pass', { ip: v6 }],
    ['exists:v6.test -all', 'fail', { ip: v6 }],
    ['all', 'pass'],
    ['?all', 'neutral'],
    ['~ALL', 'softfail'],
    ['-a +all', 'fail'],
    ['~a:v4.test -all', 'softfail'],
    ['ip4:198.51.100.1', 'neutral'],
  ])('%s: %s', async (terms, expected, client) => {
    expect(await verdict(`v=spf1 ${terms}`, client)).toBe(expected);
  });

  const reverse = (...names: string[]): Client => ({
    zone: { '1.2.0.192.in-addr.arpa': { PTR: names }, 'a.sender.test': { A: [v4] } },
  });
  it.each<Row>([
    ['ptr', 'pass', reverse('a.sender.test')],
    ['ptr', 'pass', reverse('sender.test')],
    ['ptr', 'fail', reverse('v4.test')],
    ['ptr', 'fail', reverse('lie.sender.test')],
    ['ptr', 'fail', { zone: { '1.2.0.192.in-addr.arpa': 'ETIMEOUT' } }],
    ['ptr', 'fail', { zone: { '1.2.0.192.in-addr.arpa': 'ESERVFAIL' } }],
    ['ptr:v4.test', 'pass', reverse('v4.test')],
    ['ptr:4.test', 'fail', reverse('v4.test')],
    ['ptr:x.test', 'fail'],
  ])('%s: %s', async (term, expected, client) => {
    expect(await verdict(`v=spf1 ${term} -all`, client)).toBe(expected);
  });

  it.each<Row>([
    ['include:pass.test -all', 'pass'],
    ['-include:pass.test +all', 'fail'],
    ['include:fail.test ?all', 'neutral'],
    ['include:soft.test ?all', 'neutral'],
    ['include:neutral.test -all', 'fail'],
    ['include:text.test +all', 'permerror'],
    ['include:missing.test +all', 'permerror'],
    ['include:broken.test +all', 'permerror'],
    ['include:sick.test +all', 'temperror'],
    ['include:silent.test +all', 'temperror'],
    ['ip4:192.0.2.1 include:silent.test -all', 'pass'],
    ['a:sick.test +all', 'temperror'],
    ['mx:sick.test +all', 'temperror'],
    ['exists:silent.test +all', 'temperror'],
  ])('%s: %s', async (terms, expected, client) => {
    expect(await verdict(`v=spf1 ${terms}`, client)).toBe(expected);
  });
});

describe('6.1 redirect', () => {
  it.each<Row>([
    ['redirect=pass.test', 'pass'],
    ['redirect=fail.test', 'fail'],
    ['ip4:192.0.2.1 redirect=fail.test', 'pass'],
    ['redirect=fail.test ip4:198.51.100.1', 'fail'],
    ['?all redirect=fail.test', 'neutral'],
    ['redirect=text.test', 'permerror'],
    ['redirect=missing.test', 'permerror'],
    ['redirect=sick.test', 'temperror'],
    ['redirect=d.test', 'pass', { zone: { 'd.test': { ...spf('a:%{d}', '-all'), A: [v4] } } }],
  ])('%s: %s', async (terms, expected, client) => {
    expect(await verdict(`v=spf1 ${terms}`, client)).toBe(expected);
  });
});

describe('6.2 the explanation of a failure', () => {
  it.each<[string, Records | string]>([
    ['the name is missing', {}],
    ['the server fails', 'ESERVFAIL'],
    ['the server is silent', 'ETIMEOUT'],
    ['the text has a syntax error', { TXT: [['%{x} %']] }],
    ['two records exist', { TXT: [['one'], ['two']] }],
    ['the text is not ASCII', { TXT: [['caf\u00e9']] }],
    ['the text is valid', { TXT: [['%{i} is not one of %{d}: %{r} %{t}']] }],
  ])('leaves the verdict at fail when %s', async (_, why) => {
    expect(await verdict('v=spf1 exp=why.test -all', { zone: { 'why.test': why } })).toBe('fail');
  });

  it.each(['exp=%{p}.%{h}.test', 'exp=%{s}.why.test', 'exp=%{l}%_.why.test'])(
    'leaves the verdict at fail when it expands %s',
    async (exp) => {
      const client = { helo: "JUMPIN' JUPITER", zone: { '1.2.0.192.in-addr.arpa': 'ETIMEOUT' } };
      expect(await verdict(`v=spf1 ${exp} -all`, client)).toBe('fail');
    },
  );

  it('is not looked up, because no sender reads it', async () => {
    const asked: string[] = [];
    const inner = resolverOf({ 'sender.test': spf('exp=why.test', '-all') });
    await authenticate(mail(['From: ada@author.example']), {
      ip: v4,
      helo: 'mx.sender.test',
      mailFrom: 'x@sender.test',
      mta: 'mx.receiver.example',
      resolver: (name, type) => {
        asked.push(name);
        return inner(name, type);
      },
      clock: systemClock,
      trustedSealers: new Set(),
    });
    expect(asked).toContain('sender.test');
    expect(asked).not.toContain('why.test');
  });
});

describe('7 macros', () => {
  const strange = ["JUMPIN' JUPITER", '[192.0.2.1]', '192.0.2.1', 'OEMCOMPUTER', '', 'a..test'];
  it.each(strange)('match nothing with h when the HELO is %j', async (helo) => {
    expect(await verdict('v=spf1 a:%{h} -all', { helo })).toBe('fail');
    expect(await verdict('v=spf1 mx:%{H} -all', { helo })).toBe('fail');
    expect(await verdict('v=spf1 exists:%{h} -all', { helo })).toBe('fail');
    expect(await verdict('v=spf1 ptr:%{h} -all', { helo })).toBe('fail');
    expect(await verdict('v=spf1 include:%{h} -all', { helo })).toBe('permerror');
    expect(await verdict('v=spf1 redirect=%{h}', { helo })).toBe('permerror');
  });

  it('expand h to a HELO that is a name', async () => {
    expect(await verdict('v=spf1 a:%{h} -all', { helo: 'v4.test' })).toBe('pass');
    expect(await verdict('v=spf1 include:%{h} -all', { helo: 'pass.test' })).toBe('pass');
  });

  const long = `${numbered(24, () => 'longlabel').join('.')}.test`;
  it.each([
    ['%{s}', 'strong-bad@email.example.com'],
    ['%{o}', 'email.example.com'],
    ['%{d}', 'email.example.com'],
    ['%{d4}', 'email.example.com'],
    ['%{d2}', 'example.com'],
    ['%{d1}', 'com'],
    ['%{dr}', 'com.example.email'],
    ['%{d2r}', 'example.email'],
    ['%{l}', 'strong-bad'],
    ['%{l-}', 'strong.bad'],
    ['%{lr}', 'strong-bad'],
    ['%{lr-}', 'bad.strong'],
    ['%{l1r-}', 'strong'],
    ['%{LR-}', 'bad.strong'],
    ['%{S}', 'strong-bad%40email.example.com'],
    ['%{i}', '192.0.2.3'],
    ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
    ['%{lr-}.lp._spf.%{d2}', 'bad.strong.lp._spf.example.com'],
    ['%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}', '3.2.0.192.in-addr.strong.lp._spf.example.com'],
    ['%{d2}.trusted-domains', 'example.com.trusted-domains'],
    ['a%%b', 'a%b'],
    ['a%-b', 'a%20b'],
    ['a%_b', 'a b'],
    ['%{p}', 'unknown'],
    ['%{h2}', 'example.net'],
  ])('expand %s to %s', async (macro, name) => {
    const client = { ip: '192.0.2.3', mailFrom: 'strong-bad@email.example.com' };
    const records = {
      'email.example.com': spf(`exists:${macro}.seen.test`, '-all'),
      [`${name}.seen.test`]: { A: ['127.0.0.2'] },
    };
    const helo = 'mx.example.net';
    expect(await verdict('', { ...client, helo, zone: records })).toBe('pass');
  });

  it('expand an IPv6 address to its nibbles', async () => {
    const nibbles = '1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2';
    const seen = { [`${nibbles}.ip6.seen.test`]: { A: ['127.0.0.2'] } };
    expect(await verdict('v=spf1 exists:%{ir}.%{v}.seen.test -all', { ip: v6, zone: seen })).toBe(
      'pass',
    );
  });

  it('cut labels on the left of a name of over 253 characters', async () => {
    const whole = `${long}.seen.test`;
    expect(whole.length).toBe(254);
    const kept = whole.slice('longlabel.'.length);
    const seen = { [kept]: { A: ['127.0.0.2'] }, [long]: spf('exists:%{d}.seen.test', '-all') };
    expect(await verdict('', { mailFrom: `x@${long}`, zone: seen })).toBe('pass');
  });

  it('match nothing with a label of more than 63 characters', async () => {
    const mailFrom = `${'l'.repeat(64)}@sender.test`;
    expect(await verdict('v=spf1 exists:%{l}.seen.test -all', { mailFrom })).toBe('fail');
  });
});
