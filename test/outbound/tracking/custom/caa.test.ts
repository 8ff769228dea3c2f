// CAA (RFC 8659, 8657): the records that apply to a name, and the rights that they give an
// authority.
import { afterEach, describe, expect, it } from 'vitest';
import {
  caaProblem,
  relevantCaa,
} from '../../../../src/outbound/tracking/custom/certificates/caa.ts';
import type { CaaRecord } from '../../../../src/platform/net/dns.ts';
import { createDns } from '../../../../src/platform/net/dns.ts';
import { seededRandom } from '../../../../src/platform/runtime/random.ts';
import { type DnsServer, startDnsServer, type ZoneRecords } from '../../../support/dns-server.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const accountUrl = 'https://ca.test/account/1';
const issuer = { identities: ['ca.test'], challenge: 'http-01' as const, accountUrl };

function record(tag: string, value: string, isCritical = false): CaaRecord {
  return { tag, value, isCritical };
}

describe('CAA records', () => {
  it.each([
    ['none at all', [], null],
    ['that authority', [record('issue', 'ca.test')], null],
    ['that authority, in another case', [record('issue', 'CA.Test.')], null],
    ['that authority among others', [record('issue', 'x.test'), record('issue', 'ca.test')], null],
    ['another authority', [record('issue', 'x.test')], /lets "x\.test" issue/],
    ['no authority', [record('issue', ';')], /lets ";" issue/],
    ['no authority, as an empty value', [record('issue', '')], /lets "" issue/],
    ['wildcards elsewhere only', [record('issuewild', 'x.test')], null],
    ['a reporting address only', [record('iodef', 'mailto:a@b.example')], null],
    ['an unknown tag', [record('future', 'x')], null],
    ['an unknown tag that is critical', [record('future', 'x', true)], /critical .* future/],
    ['a known tag that is critical', [record('issue', 'ca.test', true)], null],
    ['our account', [record('issue', `ca.test; accounturi=${accountUrl}`)], null],
    ['another account', [record('issue', 'ca.test; accounturi=https://ca.test/2')], /accounturi/],
    ['our challenge', [record('issue', 'ca.test; validationmethods=dns-01,http-01')], null],
    ['another challenge', [record('issue', 'ca.test;validationmethods=dns-01')], /by http-01/],
  ])('that name %s are judged', (_what, records, words) => {
    const problem = caaProblem(records, issuer);
    if (words === null) expect(problem).toBeNull();
    else expect(problem).toMatch(words);
  });

  it('of an authority without a published name forbid it only with an empty value', () => {
    const nameless = { ...issuer, identities: [] };
    expect(caaProblem([record('issue', 'x.test')], nameless)).toBeNull();
    expect(caaProblem([record('issue', ';')], nameless)).toMatch(/";"/);
  });
});

describe('the CAA tree walk', () => {
  let server: DnsServer;
  afterEach(() => server.close());

  async function walk(zones: Record<string, ZoneRecords>, name = 'links.acme.example') {
    server = await startDnsServer(zones);
    const dns = createDns({
      servers: [server.address],
      clock: virtualClock(),
      random: seededRandom(1),
    });
    const found = await relevantCaa(dns, name);
    dns.close();
    return found;
  }
  const issue = (value: string) => [{ tag: 'issue', value }];

  it('stops at the first name with records, after queries up to the top', async () => {
    const { name, records } = await walk({
      'links.acme.example': { A: ['192.0.2.1'] },
      'acme.example': { CAA: issue('own.test') },
      example: { CAA: issue('top.test') },
    });
    expect(name).toBe('acme.example');
    expect(records).toEqual([{ isCritical: false, tag: 'issue', value: 'own.test' }]);
    expect(server.queries.map((query) => query.name)).toEqual([
      'links.acme.example',
      'acme.example',
    ]);
  });

  it('follows the alias of a name', async () => {
    const { records } = await walk({
      'links.acme.example': { CNAME: ['mail.host.example'] },
      'mail.host.example': { CAA: [{ flags: 128, tag: 'Issue', value: 'host.test' }] },
      'acme.example': { CAA: issue('own.test') },
    });
    expect(records).toEqual([{ isCritical: true, tag: 'issue', value: 'host.test' }]);
  });

  it('ends below the root without records', async () => {
    const { records } = await walk({ 'links.acme.example': { A: ['192.0.2.1'] } });
    expect(records).toEqual([]);
    expect(server.queries.map((query) => query.name).at(-1)).toBe('example');
  });

  it('fails where one of the queries fails', async () => {
    server = await startDnsServer({});
    server.fault('acme.example', 'servfail');
    const { address } = server;
    const dns = createDns({ servers: [address], clock: virtualClock(), random: seededRandom(1) });
    await expect(relevantCaa(dns, 'links.acme.example')).rejects.toThrow(/CAA acme\.example/);
    dns.close();
  });
});
