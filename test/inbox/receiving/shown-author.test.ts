// DMARC checks the author that a reader is shown, however From is written.
import { describe, expect, it } from 'vitest';
import { dmarcCheck } from '../../../src/inbox/receiving/dmarc-check.ts';
import { parseAddressList } from '../../../src/mail/mime/headers/header-addresses.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const resolver = async () => [];

async function domainsOf(from: string): Promise<string[]> {
  const { author } = dmarcCheck(Buffer.from(`From: ${from}\r\n\r\n`), resolver, virtualClock());
  const { headerFrom } = await author;
  return [...new Set(headerFrom.map((email) => email.slice(email.lastIndexOf('@') + 1)))].sort();
}

describe('the author that DMARC checks', () => {
  it.each([
    ['joe@example.com', ['example.com']],
    ['Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>', ['silly.test']],
    ['joe . doe @ example . com', ['example.com']],
    ['Acme, Inc. <joe@example.com>', ['example.com']],
    ['Support: Acme <joe@example.com>', ['example.com']],
    ['Joe (sales <joe@example.com>', ['example.com']],
    ['"Joe Doe <joe@example.com>', ['example.com']],
    ['"ceo@bank.example" <joe@example.com>', ['example.com']],
    ['ceo@bank.example <joe@example.com>', ['example.com']],
    ['Joe Doe', []],
  ])('of %s is the shown one', async (from, domains) => {
    const read = await domainsOf(from);
    for (const domain of domains) expect(read).toContain(domain);
    if (domains.length === 0) expect(read).toEqual([]);
  });

  it('is the shown one of two behind an open quote', async () => {
    const [shown] = parseAddressList('"Ann <ann@bank.example> <joe@example.com>').addresses;
    const read = await domainsOf('"Ann <ann@bank.example> <joe@example.com>');
    expect(shown?.email).toBe('ann@bank.example');
    expect(read).toContain('bank.example');
  });
});
