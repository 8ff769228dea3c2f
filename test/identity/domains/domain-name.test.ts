import { describe, expect, it } from 'vitest';
import { organizationalDomain, readDomainName } from '../../../src/identity/domains/schema.ts';

describe('a typed domain name', () => {
  it.each([
    ['example.com', 'example.com'],
    ['Mail.Example.COM', 'mail.example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['例え.jp', 'xn--r8jz45g.jp'],
    ['sandbox.test', 'sandbox.test'],
    ['example.co.uk', 'example.co.uk'],
    ['somebody.github.io', 'somebody.github.io'],
    ['corp.internal', 'corp.internal'],
  ])('%s is stored as %s', (text, domain) => {
    expect(readDomainName(text)).toEqual({ domain });
  });

  it.each([
    '',
    '.',
    'localhost',
    'com',
    'example..com',
    '-example.com',
    'exa mple.com',
    'example.com\r\nx',
    'a@example.com',
    'example.com/path',
    'https://example.com',
    '127.0.0.1',
    '[127.0.0.1]',
    '*.example.com',
    '_dmarc.example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(120)}com`,
    'x'.repeat(10_000),
  ])('%j is rejected', (text) => {
    expect(readDomainName(text)).toEqual({ problem: expect.any(String) });
  });

  it.each(['co.uk', 'github.io', 'kawasaki.jp', 'city.kobe.jp'])(
    '%s is rejected only as a public suffix',
    (text) => {
      const isSuffix = text === 'co.uk' || text === 'github.io';
      expect('problem' in readDomainName(text)).toBe(isSuffix);
    },
  );

  it('has its organizational domain', () => {
    expect(organizationalDomain('a.b.example.co.uk')).toBe('example.co.uk');
    expect(organizationalDomain('_dmarc.mail.example.com')).toBe('example.com');
    expect(organizationalDomain('co.uk')).toBeNull();
  });
});
