import { describe, expect, it } from 'vitest';
import { type ExpectedRecord, recordsOf } from '../../../src/identity/domains/dns-records.ts';
import type { SpfConfig } from '../../../src/identity/domains/expected-spf.ts';
import type { DomainKeyRow, DomainRow } from '../../../src/identity/domains/queries.ts';

const domain: DomainRow = {
  id: 'dom_1',
  organization_id: 'org_1',
  domain: 'acme.example',
  status: 'pending',
  return_path: 'bounce.acme.example',
  is_local: 0,
  receives_mail: 1,
  catch_all_mailbox_id: null,
  record_checks: null,
  verified_at: null,
  last_checked_at: null,
  next_check_at: null,
  failing_since: null,
  created_at: 0,
  updated_at: 0,
};

const delivery: SpfConfig = {
  mode: 'direct',
  hostname: 'mail.host.example',
  relay: { host: null, spf: null },
  routes: [],
};

const key: DomainKeyRow = {
  id: 'dkim_1',
  domain_id: 'dom_1',
  selector: 'svc1rsa',
  algorithm: 'rsa-sha256',
  generation: 1,
  public_key: 'abc',
  private_key: 'secret',
  is_active: 1,
  is_published: 0,
  created_at: 0,
  retired_at: null,
};

function record(purpose: ExpectedRecord['purpose'], type: ExpectedRecord['type']): ExpectedRecord {
  const found = recordsOf(domain, [key], delivery, 0).find(
    (expected) => expected.purpose === purpose && expected.type === type,
  );
  if (!found) throw new Error(`no ${purpose} record`);
  return found;
}

const cases: [
  ExpectedRecord['purpose'],
  ExpectedRecord['type'],
  string[],
  string,
  string | RegExp,
][] = [
  ['dkim', 'TXT', [], 'missing', ''],
  ['dkim', 'TXT', ['v=DKIM1; k=rsa; p=abc'], 'valid', ''],
  ['dkim', 'TXT', ['v=DKIM1; k=rsa; p=old', 'v=DKIM1; k=rsa; p=abc'], 'valid', ''],
  ['dkim', 'TXT', ['v=DKIM1; k=rsa; p=old'], 'invalid', 'the record publishes another key'],
  ['return-path', 'MX', ['10 mail.host.example'], 'valid', ''],
  ['return-path', 'MX', ['20 other.example', '5 MAIL.host.example.'], 'valid', ''],
  ['return-path', 'MX', ['10 other.example'], 'invalid', /other hosts than mail.host.example/],
  ['return-path', 'MX', [], 'missing', ''],
  ['mx', 'MX', ['10 notmail.host.example'], 'invalid', /other hosts/],
  ['spf', 'TXT', ['v=spf1 a:mail.host.example ~all'], 'valid', ''],
  ['spf', 'TXT', ['V=SPF1 +A:Mail.Host.example -all'], 'valid', ''],
  ['spf', 'TXT', ['google-site-verification=1'], 'missing', ''],
  ['spf', 'TXT', ['v=spf10 a:mail.host.example'], 'missing', ''],
  ['spf', 'TXT', ['v=spf1 -a:mail.host.example all'], 'invalid', /does not name/],
  ['spf', 'TXT', ['v=spf1 include:other.example -all'], 'invalid', /does not name/],
  ['spf', 'TXT', ['v=spf1 a:mail.host.example ~all', 'v=spf1 -all'], 'invalid', /more than one/],
  ['return-path', 'TXT', ['v=spf1 a:mail.host.example -all'], 'valid', ''],
  ['dmarc', 'TXT', ['v=DMARC1; p=reject; rua=mailto:a@b.example'], 'valid', ''],
  ['dmarc', 'TXT', ['v=DMARC1;p=none'], 'valid', ''],
  ['dmarc', 'TXT', ['v=DMARC1; sp=none'], 'invalid', /no p= tag/],
  ['dmarc', 'TXT', ['v=DMARC1; p=none', 'v=DMARC1; p=none'], 'invalid', /more than one/],
  ['dmarc', 'TXT', ['something else'], 'missing', ''],
];

describe('a published record', () => {
  it.each(cases)('of %s %s with %j is %s', (purpose, type, values, status, error) => {
    const check = record(purpose, type).judge(values);
    expect(check.status).toBe(status);
    if (error === '') expect(check.error).toBeNull();
    else expect(check.error).toMatch(error);
  });

  it('of SPF is found among other texts of the domain', () => {
    const texts = ['google-site-verification=1', 'v=spf1 a:mail.host.example ~all', 'MS=ms1'];
    expect(record('spf', 'TXT').judge(texts).found).toEqual(['v=spf1 a:mail.host.example ~all']);
  });
});

describe('the advice for a record', () => {
  const advised = (
    purpose: ExpectedRecord['purpose'],
    type: ExpectedRecord['type'],
    values: string[],
  ) => {
    const expected = record(purpose, type);
    const { found, status } = expected.judge(values);
    return expected.advise(found, status);
  };

  it.each([
    [
      'v=spf1 include:_spf.google.com ~all',
      'v=spf1 include:_spf.google.com a:mail.host.example ~all',
    ],
    ['v=spf1 ip4:192.0.2.1 -all', 'v=spf1 ip4:192.0.2.1 a:mail.host.example -all'],
    ['v=spf1 redirect=_spf.b.example', 'v=spf1 a:mail.host.example redirect=_spf.b.example'],
    ['v=spf1 mx', 'v=spf1 mx a:mail.host.example ~all'],
    ['v=spf1 -a:mail.host.example all', 'v=spf1 -a:mail.host.example a:mail.host.example all'],
  ])('merges SPF into %s', (there, merged) => {
    const { value, advice } = advised('spf', 'TXT', ['MS=ms1', there]);
    expect(value).toBe(merged);
    expect(advice).toContain('keeps all of it and adds a:mail.host.example');
    expect(record('spf', 'TXT').judge([value]).status).toBe('valid');
  });

  it('merges two SPF records into one', () => {
    const two = ['v=spf1 a:mail.host.example ~all', 'v=spf1 mx -all'];
    expect(advised('spf', 'TXT', two)).toEqual({
      value: 'v=spf1 a:mail.host.example mx ~all',
      advice: 'one record to replace the 2 present ones',
    });
  });

  it.each([
    ['spf', 'TXT', 'v=spf1 mx a:mail.host.example -all'],
    ['dmarc', 'TXT', 'v=DMARC1; p=reject; rua=mailto:dmarc@bounce.acme.example;'],
    ['mx', 'MX', '10 mail.host.example'],
  ] as const)('of %s that works keeps it unchanged', (purpose, type, text) => {
    expect(advised(purpose, type, [text])).toEqual({ value: text, advice: null });
  });

  it.each([
    ['v=DMARC1; p=reject', 'v=DMARC1; p=reject; rua=mailto:dmarc@bounce.acme.example', 'is enough'],
    [
      'v=DMARC1;p=quarantine; rua=mailto:a@b.example; pct=50;',
      'v=DMARC1; p=quarantine; rua=mailto:a@b.example,mailto:dmarc@bounce.acme.example; pct=50',
      'is enough',
    ],
    [
      'v=DMARC1; p=maybe; adkim=s',
      'v=DMARC1; p=none; adkim=s; rua=mailto:dmarc@bounce.acme.example',
      'replaces',
    ],
  ])('adds the address of reports to DMARC and keeps its policy: %s', (there, merged, word) => {
    const { value, advice } = advised('dmarc', 'TXT', [there]);
    expect(value).toBe(merged);
    expect(advice).toContain(word);
    expect(record('dmarc', 'TXT').judge([value]).status).toBe('valid');
  });

  it('of MX names the records that it would replace', () => {
    const there = ['5 aspmx.l.example', '10 alt.example'];
    expect(advised('mx', 'MX', there)).toEqual({
      value: '10 mail.host.example',
      advice:
        'replaces 5 aspmx.l.example, 10 alt.example: all mail to addresses of acme.example comes here from then on',
    });
  });
});

describe('the records of a domain', () => {
  it('have no MX for a domain without mailboxes here', () => {
    const without = recordsOf({ ...domain, receives_mail: 0 }, [key], delivery, 0);
    expect(without.map(({ type, name }) => `${type} ${name}`)).not.toContain('MX acme.example');
    expect(without.map(({ purpose }) => purpose)).not.toContain('mx');
  });

  it('are empty for a local domain', () => {
    expect(recordsOf({ ...domain, is_local: 1 }, [key], delivery, 0)).toEqual([]);
  });

  it('have a distinct name and type each', () => {
    const names = recordsOf(domain, [key], delivery, 0).map(({ type, name }) => `${type} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
