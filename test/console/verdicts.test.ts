// The sentences of pages as tables: the verdict on a message, its story, the verdict on a period,
// why mail did not arrive, and the finding on a run.
import { describe, expect, it } from 'vitest';
import { stagesOf } from '../../daemon/console/pages/campaigns/run.ts';
import { findingOn } from '../../daemon/console/pages/campaigns/run-finding.ts';
import { causeLabel } from '../../daemon/console/pages/causes.ts';
import { storyOf } from '../../daemon/console/pages/messages/story.ts';
import { verdictOf } from '../../daemon/console/pages/messages/verdict.ts';
import { verdictOn } from '../../daemon/console/pages/overview/figures.ts';
import { missingAddresses, needOf } from '../../daemon/console/pages/overview/needs.ts';
import { countReasons } from '../../daemon/console/pages/overview/reasons.ts';
import { errorWords } from '../../src/outbound/explain/explain-words.ts';

const when = (at: string) => `[${at}]`;

const message = {
  direction: 'outbound' as const,
  tracking: { opens: true, clicks: false },
  from: { email: 'orders@acme.example', name: null },
};

interface Case {
  status?: string;
  errorCode?: string | null;
  waitReason?: string | null;
  nextAt?: string | null;
  outcome?: string;
  email?: string;
  next?: string | null;
  way?: object;
}

const way = {
  ...{ id: 'dlv_1', metadata: null, scheduling: null, deliveredAt: null, readAt: null },
  errorDetails: null,
};

function judge(...cases: Case[]) {
  const recipients = cases.map(({ outcome, way: _, ...one }, at) => ({
    ...{ deliveryId: `dlv_${at}`, email: 'anna@gmx.example', status: 'pending', errorCode: null },
    ...{ waitReason: null, nextAt: null, next: null },
    ...one,
    attempts: outcome === undefined ? [] : [{ outcome }],
  }));
  const deliveries = cases.map((one, at) => ({ ...way, ...one.way, id: `dlv_${at}` }));
  return verdictOf(message, { recipients } as never, deliveries as never, when);
}

describe('the verdict on a message', () => {
  it.each<[string, Case, string, string, string]>([
    ['waits for its turn', {}, 'info', 'It waits for its turn, and leaves soon.', ''],
    [
      'is put off',
      {
        ...{ status: 'processing', outcome: 'deferred', errorCode: 'mailbox-full' },
        ...{ waitReason: 'retry', nextAt: '13:56' },
        way: { scheduling: { expiresAt: 'Tue', hold: null } },
      },
      'warn',
      'It did not arrive yet: the mailbox at gmx.example is full. It is tried again until [Tue].',
      'The next try is [13:56].',
    ],
    [
      'waits for the quota',
      { waitReason: 'daily-quota', nextAt: '00:00' },
      'warn',
      'It waits: the daily limit of the plan is used up.',
      'It leaves by [00:00].',
    ],
    [
      'waits for its domain',
      { waitReason: 'domain-health' },
      'warn',
      'It waits: mail from acme.example is held back, as too much of it bounced or was reported.',
      'It leaves once the domain may send again.',
    ],
    [
      'is on hold',
      { way: { scheduling: { expiresAt: null, hold: {} } }, next: 'A person releases it.' },
      'warn',
      'It waits: it is on hold.',
      'A person releases it.',
    ],
    [
      'leaves later',
      { status: 'scheduled', nextAt: '09:00' },
      'none',
      'It leaves [09:00].',
      'It can be cancelled until then.',
    ],
    [
      'arrived',
      { status: 'delivered', way: { deliveredAt: '14:05' } },
      'good',
      'It arrived at gmx.example [14:05].',
      'No open was counted yet.',
    ],
    [
      'stayed here',
      { status: 'delivered', way: { metadata: { captured: { by: 'delivery.mode' } } } },
      'info',
      'It stayed on this machine: here mail is captured, and does not leave.',
      'The setting delivery.mode decides it.',
    ],
    [
      'was opened',
      { status: 'read', way: { readAt: '15:00' } },
      'good',
      'It arrived, and was opened [15:00].',
      '',
    ],
    [
      'bounced',
      { status: 'bounced', errorCode: 'invalid-recipient' },
      'bad',
      'It did not arrive: there is no such mailbox at gmx.example.',
      'Correct the address. Until then nothing more is sent to it.',
    ],
    [
      'was blocked by a bounce',
      {
        ...{ status: 'failed', errorCode: 'suppressed' },
        way: { errorDetails: { reason: 'bounce', blockedSince: '17 Nov' } },
      },
      'bad',
      'It was not sent: anna@gmx.example is blocked, since [17 Nov], because mail to it bounced.',
      'Nothing is sent to it until the block is lifted. Then send it again.',
    ],
    [
      'was blocked by the person',
      {
        status: 'failed',
        errorCode: 'suppressed',
        way: { errorDetails: { reason: 'unsubscribe' } },
      },
      'bad',
      'It was not sent: anna@gmx.example is blocked, because the person left.',
      'The recipient wants no more of this mail, and only the recipient can change that.',
    ],
    [
      'was cancelled',
      { status: 'failed', errorCode: 'cancelled' },
      'none',
      'It was cancelled before it left.',
      '',
    ],
    [
      'was reported',
      { status: 'complained' },
      'bad',
      'It arrived, and was reported as spam.',
      'The recipient wants no more of this mail, and only the recipient can change that.',
    ],
  ])('that %s', (_name, one, tone, sentence, next) => {
    expect(judge(one)).toEqual({ tone, sentence, next });
  });

  it('counts several recipients, and names the worst', () => {
    const bad = { status: 'bounced', errorCode: 'invalid-recipient', email: 'x@y.example' };
    expect(judge({ status: 'delivered' }, bad, {})).toEqual({
      tone: 'bad',
      sentence: 'It has 3 recipients: 1 arrived, 1 bounced, 1 waiting.',
      next: 'To x@y.example: It did not arrive: there is no such mailbox at y.example.',
    });
  });

  it('has words for every error code', () => {
    const unknown = causeLabel('unknown');
    for (const code of Object.keys(errorWords).filter((name) => name !== 'unknown')) {
      expect([code, causeLabel(code)]).not.toEqual([code, unknown]);
    }
  });
});

describe('the story of a message', () => {
  const step = (eventType: string, timestamp: string, metadata: object = {}) => ({
    ...{ id: 'evt', messageId: 'msg', status: 's', eventType, timestamp },
    metadata: { recipient: 'anna@gmx.example', ...metadata },
  });
  const told = (steps: object[], more: object = {}) =>
    storyOf(
      {
        message: {
          ...message,
          ...{ origin: { via: 'api', keyName: 'shop', keyId: null, user: null } },
          ...{ campaignRunId: null, resendOf: null, createdAt: '', recipients: [{}] },
        },
        ...{ steps, recipients: [], deliveries: [], ...more },
      } as never,
      when,
    ).map(({ tone, sentence, below }) => [tone, sentence, below]);

  it('joins tries that were put off, and ends with what is planned', () => {
    const full = { errorCode: 'mailbox-full', code: 452, reply: 'full' };
    const lines = told(
      [
        step('accepted', '1', { recipient: null }),
        step('processing', '1'),
        ...['2', '3', '4'].map((at) => step('deferred', at, full)),
      ],
      {
        recipients: [{ email: 'anna@gmx.example', nextAt: '5', waitReason: 'retry' }],
        deliveries: [{ metadata: null, scheduling: { expiresAt: '9' } }],
      },
    );
    expect(lines).toEqual([
      ['', 'It was handed in by API.', '[1], with “shop”'],
      ['warn', 'It was put off: the mailbox at gmx.example is full.', '[2]'],
      ['warn', '2 more tries, put off each time.', 'the last one [4]'],
      ['next', 'Next try', '[5]'],
      ['next', 'Given up, if it is still put off', '[9]'],
    ]);
  });

  it('says an arrival once', () => {
    expect(told([step('sent', '2'), step('delivered', '2'), step('opened', '3')])).toEqual([
      ['', 'It arrived at gmx.example.', '[2]'],
      ['', 'It was opened.', '[3]'],
    ]);
  });
});

const bucket = (start: string, attempted: number, bounced = 0) => ({
  ...{ start, messages: attempted, emails: attempted, attempted, sent: attempted - bounced },
  ...{ delivered: attempted - bounced, bounced, failed: 0, complained: 0, inbound: 0 },
});

describe('the verdict on a period', () => {
  const judged = {
    ...{ limit: 0.05, isPaused: false, isNew: false, words: '7 days' },
    nameOf: ({ start }: { start: string }) => start,
  };
  it.each([
    ['all arrived', [bucket('Mon', 100), bucket('Tue', 50, 1)], {}, 'Mail goes out well.'],
    [
      'a peak',
      [bucket('Mon', 400), bucket('Fri', 300, 16)],
      {},
      'Mail goes out well. Fri had a bounce peak.',
    ],
    [
      'bounces over the limit',
      [bucket('Mon', 100, 6)],
      {},
      'Too much mail bounces: sending may pause.',
    ],
    ['no mail', [bucket('Mon', 0)], {}, 'No mail left in the last 7 days.'],
    [
      'waiting mail',
      [{ ...bucket('Mon', 0), emails: 5 }],
      {},
      'All mail waits: none has left yet.',
    ],
    [
      'failures',
      [{ ...bucket('Mon', 100), failed: 20, delivered: 80 }],
      {},
      'Much mail does not arrive: 80 % did.',
    ],
    ['a pause', [bucket('Mon', 100)], { isPaused: true }, 'Sending is paused.'],
    ['the first hour', [bucket('Mon', 0)], { isNew: true }, 'No mail yet. Send the first one.'],
  ])('with %s', (_name, now, more, sentence) => {
    expect(verdictOn({ ...judged, now, ...more })).toBe(sentence);
  });

  const failed = (email: string, errorCode: string) => ({
    recipients: [{ id: 'rcp', email }],
    deliveries: [{ recipientId: 'rcp', status: 'bounced', errorCode }],
  });

  it('counts why mail did not arrive, and names a domain of many dead addresses', () => {
    const messages = [
      ...Array.from({ length: 5 }, () => failed('a@school.example', 'invalid-recipient')),
      failed('b@gmail.example', 'invalid-recipient'),
      failed('c@gmail.example', 'suppressed'),
      failed('d@gmail.example', 'cancelled'),
    ];
    const items = countReasons(messages as never);
    expect(items.map(({ label, count, domains }) => [label, count, domains[0]?.domain])).toEqual([
      ['No such mailbox', 6, 'school.example'],
      ['Blocked by us', 1, 'gmail.example'],
    ]);
    expect(missingAddresses({ items }).map(({ sentence }) => sentence)).toEqual([
      '5 addresses of school.example do not exist.',
    ]);
  });

  it.each([
    ['verified', null, null],
    ['pending', null, 'a.example cannot send yet.'],
    ['verified', '2026-01-05', 'Mail from a.example is held.'],
  ])('says what a domain needs that is %s, held %s', (status, heldAt, sentence) => {
    const records = [{ required: true, status: 'missing' }];
    const domain = { id: 'dom', domain: 'a.example', status, heldAt, holdReason: null };
    expect(needOf({ ...domain, dnsRecords: records } as never)?.sentence ?? null).toBe(sentence);
  });
});

describe('the finding on a run', () => {
  const bounces = (...found: [domain: string, code: string, count: number][]) =>
    found.flatMap(([domain, code, count]) =>
      Array.from({ length: count }, () => ({ domain, code })),
    );
  it.each([
    ['few', bounces(['a.example', 'unknown', 2]), 2, null],
    [
      'at one domain',
      bounces(['school.example', 'invalid-recipient', 16]),
      16,
      'All 16 bounces are at school.example.',
    ],
    [
      'most at one domain',
      bounces(['school.example', 'spam', 8], ['gmx.example', 'mailbox-full', 2]),
      10,
      '8 of the 10 bounces are at school.example.',
    ],
    [
      'of one cause',
      bounces(['a.example', 'spam', 3], ['b.example', 'spam', 3], ['c.example', 'spam', 3]),
      9,
      'All 9 bounces are of one kind: Taken for spam.',
    ],
    [
      'more than were looked at',
      bounces(['school.example', 'invalid-recipient', 25]),
      300,
      '25 of the first 25 bounces are at school.example.',
    ],
    [
      'without a pattern',
      bounces(['a.example', 'spam', 2], ['b.example', 'policy', 2], ['c.example', 'unknown', 2]),
      6,
      null,
    ],
  ])('with bounces: %s', (_name, found, total, sentence) => {
    expect(findingOn(found, total)?.sentence ?? null).toBe(sentence);
  });

  it('has the stages of a run beside the shares of the run before', () => {
    const stats = { sent: 84, delivered: 81, bounced: 9, opened: 27, clicked: 9, failed: 0 };
    const run = {
      stats,
      dispatchedCount: 93,
      skippedCount: 7,
      failedCount: 0,
      totalRecipients: 100,
    };
    const before = { stats: { sent: 10, delivered: 10, bounced: 0, opened: 5, clicked: 1 } };
    const stages = stagesOf(run as never, before as never);
    expect(
      stages.map(({ label, value, whole, before: old }) => [label, value, whole, old]),
    ).toEqual([
      ['Chosen', 100, 100, null],
      ['Sent', 90, 100, null],
      ['Delivered', 81, 90, 1],
      ['Opened', 27, 81, 0.5],
      ['Clicked', 9, 81, 0.1],
    ]);
    expect(stages.map(({ soft }) => soft)).toEqual([
      '7 left out',
      '3 waiting',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
