// Mails that count as automatic replies, with the reason.
import { describe, expect, it } from 'vitest';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { fixture, fixtureNames, mail, sane } from './fixture.ts';

async function reasonOf(lines: string[], envelopeFrom?: string | null) {
  const options = envelopeFrom === undefined ? {} : { envelopeFrom };
  const parsed = await parseMime(mail(sane(...lines)), options);
  expect(parsed.isAutoReply).toBe(parsed.autoReplyReason !== null);
  return parsed.autoReplyReason;
}

describe('the reason of an automatic reply', () => {
  const reasons: Record<string, string> = {
    'out-of-office-exchange': 'out-of-office',
    'vacation-gmail': 'out-of-office',
    'ticket-confirmation': 'auto-response',
    'read-receipt-outlook': 'read-receipt',
    'bounce-postfix': 'delivery-status',
    'bounce-qmail': 'delivery-status',
  };
  it.each(fixtureNames)('is right for %s', async (name) => {
    const parsed = await parseMime(fixture(name));
    expect(parsed.autoReplyReason).toBe(reasons[name] ?? null);
    expect(parsed.isAutoReply).toBe(name in reasons);
  });
});

describe('one sure sign of an automatic reply', () => {
  it.each([
    [['Auto-Submitted: auto-replied'], 'auto-response'],
    [['Auto-Submitted: auto-generated; owner-email="x"'], 'auto-response'],
    [['Auto-Submitted: auto-replied (vacation)'], 'out-of-office'],
    [['X-Autoreply: yes'], 'auto-response'],
    [['X-Autoreply: yes', 'Subject: Out of Office: Plan'], 'out-of-office'],
    [['X-Autorespond: Plan'], 'auto-response'],
    [['Precedence: auto_reply'], 'auto-response'],
    [['X-Failed-Recipients: nobody@example.org'], 'delivery-status'],
  ])('is enough: %j', async (lines, reason) => {
    expect(await reasonOf(lines)).toBe(reason);
  });
});

describe('a weak sign of an automatic reply', () => {
  it.each([
    [['Precedence: bulk']],
    [['X-Auto-Response-Suppress: All']],
    [['Subject: Out of office next week?']],
    [['Auto-Submitted: no']],
    [['X-Autoreply: no']],
    [['Precedence: list', 'X-Auto-Response-Suppress: All', 'List-Id: <x.example>']],
  ])('is not enough alone: %j', async (lines) => {
    expect(await reasonOf(lines, 'bob@example.net')).toBeNull();
  });

  it.each([
    [['Precedence: bulk', 'X-Auto-Response-Suppress: OOF'], 'bob@example.net', 'auto-response'],
    [['Subject: Abwesenheitsnotiz: Plan'], '', 'out-of-office'],
    [['Subject: Re: Absence du bureau'], null, 'out-of-office'],
    [['Subject: 自動返信: Plan', 'Precedence: junk'], 'bob@example.net', 'out-of-office'],
  ])('is enough with a second one: %j from %j', async (lines, envelopeFrom, reason) => {
    expect(await reasonOf(lines, envelopeFrom)).toBe(reason);
  });
});

describe('a bounce without a report', () => {
  it.each([
    'Unzustellbar: Plan',
    'Échec de la remise : Plan',
    'No se puede entregar: Plan',
    '配信不能: Plan',
    'Warning: message 1abc delayed 24 hours',
  ])('is recognized by %j', async (subject) => {
    expect(await reasonOf([`Subject: ${subject}`], '')).toBe('delivery-status');
  });

  it.each([
    ['Out of Office: Delivery problem', 'out-of-office'],
    ['Re: Delivery problem', null],
  ])('is not recognized in an answer: %j', async (subject, reason) => {
    expect(await reasonOf([`Subject: ${subject}`], '')).toBe(reason);
  });

  it('needs the words and the null return path', async () => {
    expect(await reasonOf(['Subject: Undelivered mail'], '')).toBe('delivery-status');
    expect(await reasonOf(['Subject: Undelivered mail'], 'bob@example.net')).toBeNull();
    expect(await reasonOf(['Subject: Hello'], '')).toBeNull();
  });
});
