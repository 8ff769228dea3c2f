// Pages of people as tables: the story of a contact, conditions of a group as rows, the check of a
// campaign, and its headline.
import { describe, expect, it } from 'vitest';
import { checksOf, isRefused, linksOf } from '../../daemon/console/pages/campaigns/editor-check.ts';
import { bodyOf, formOf } from '../../daemon/console/pages/campaigns/editor-fields.ts';
import { headline, instantOf } from '../../daemon/console/pages/campaigns/editor-send.ts';
import { timelineOf } from '../../daemon/console/pages/people/contact-timeline.ts';
import {
  formOfRows,
  queryOf,
  rowsIn,
  rowsOf,
} from '../../daemon/console/pages/people/group-conditions.ts';

describe('the story of a contact', () => {
  it('has mails, opens, conversations, blocks and the beginning, the newest first', () => {
    const mail = (id: string, createdAt: string, delivery: object) => ({
      ...{ id, subject: 'Hi', createdAt, deliveries: [{ status: 'delivered', ...delivery }] },
    });
    const moments = timelineOf({
      contact: { createdAt: '1', profile: { source: 'the shop' } },
      sent: [
        mail('msg_1', '2', { readAt: '4' }),
        mail('msg_2', '6', { status: 'bounced', errorCode: 'invalid-recipient', readAt: null }),
      ],
      received: [mail('msg_3', '5', {})],
      conversations: [{ id: 'conv_1', title: 'Lamp', createdAt: '3' }],
      blocks: [
        {
          id: 'blk_1',
          reason: 'bounce',
          createdAt: '7',
          unsubscribeGroupId: null,
          messageId: 'msg_2',
        },
        {
          id: 'blk_2',
          reason: 'unsubscribe',
          createdAt: '8',
          unsubscribeGroupId: 'usg_1',
          messageId: null,
        },
      ],
      lists: new Map([['usg_1', 'Letter']]),
    } as never);
    expect(moments.map(({ at, sentence, path }) => [at, sentence, path])).toEqual([
      ['8', 'Left “Letter”.', null],
      ['7', 'Blocked: Mail bounced.', '/messages/msg_2'],
      ['6', 'Mail “Hi” was sent, and did not arrive: No such mailbox.', '/messages/msg_2'],
      ['5', 'Wrote “Hi”.', '/messages/msg_3'],
      ['4', 'Opened “Hi”.', '/messages/msg_1'],
      ['3', 'The conversation “Lamp” began.', '/conversations/conv_1'],
      ['2', 'Mail “Hi” was sent.', '/messages/msg_1'],
      ['1', 'Came to the contacts from the shop.', null],
    ]);
  });
});

describe('conditions of a group', () => {
  it.each([
    ['a tag', { all: [{ tag: 'vip' }] }],
    ['no tag', { all: [{ not: { tag: 'vip' } }] }],
    ['a state', { any: [{ status: 'active' }, { tag: 'vip' }] }],
    ['a field', { all: [{ field: 'profile.location.city', is: 'Paris' }] }],
    ['a field that is not known', { all: [{ field: 'profile.company', exists: false }] }],
    ['a day', { all: [{ field: 'createdAt', after: '2026-01-05' }] }],
    ['opens', { all: [{ opened: { withinDays: 30 } }, { not: { clicked: { withinDays: 7 } } }] }],
  ])('of %s come back from rows and from a form', (_name, query) => {
    const rows = rowsOf(query as never);
    expect(rows && queryOf(rows)).toEqual(query);
    expect(rows && queryOf(rowsIn(formOfRows(rows)))).toEqual(query);
  });

  it.each([
    ['nested nodes', { all: [{ any: [{ tag: 'a' }, { tag: 'b' }] }] }],
    ['a custom field', { all: [{ field: 'profile.customFields.size', is: 'L' }] }],
    ['a campaign', { opened: { withinDays: 30, campaignId: 'camp_1' } }],
    ['a list of values', { field: 'profile.company', in: ['a', 'b'] }],
  ])('with %s stay JSON', (_name, query) => {
    expect(rowsOf(query as never)).toBeNull();
  });

  it('leave out rows without a value', () => {
    const form = {
      'what.0': '',
      'value.0': 'x',
      'what.1': 'tag',
      'value.1': ' ',
      'what.2': 'tag',
      'how.2': '',
      'value.2': 'vip',
    };
    expect(rowsIn(form)).toEqual({
      join: 'all',
      conditions: [{ what: 'tag', how: 'is', value: 'vip' }],
    });
  });
});

const mail = { html: '<p><a href="https://a.example/x">x</a></p>', text: 'x', warnings: [] };
const warning = (code: string, message: string) => ({ code, message, path: null, line: null });

describe('the check of a campaign', () => {
  const check = (warnings: object[], more: object = {}, list: string | null = 'Letter') =>
    checksOf({
      campaign: { warnings, transactional: false },
      estimate: { warnings: [], mail: { ...mail, ...more } },
      list,
    } as never).map(({ tone, sentence }) => [tone, sentence]);

  it('says what is right', () => {
    expect(check([])).toEqual([
      ['good', 'Nothing refuses it.'],
      ['good', '1 link, all with https.'],
      ['good', 'People can leave “Letter” with one click.'],
      ['good', '1 KB.'],
    ]);
  });

  it('begins with what refuses it, and says advice once', () => {
    const advice = warning('no-alt', 'A picture has no description');
    const refusal = warning('no-unsubscribe-group', 'A run is refused: name a list');
    expect(check([advice, refusal], { warnings: [advice] }, null).slice(0, 2)).toEqual([
      ['bad', 'A run is refused: name a list'],
      ['warn', 'A picture has no description'],
    ]);
  });

  it.each([
    [
      'a link without https',
      { html: '<a href="http://a.example/">x</a>' },
      '1 link, 1 without https.',
    ],
    ['large HTML', { html: 'x'.repeat(110 * 1024) }, '110 KB. Gmail cuts mail at 102 KB.'],
  ])('warns of %s', (_name, more, sentence) => {
    expect(check([], more)).toContainEqual(['warn', sentence]);
  });

  it('is refused without a mail', () => {
    const estimate = { warnings: [warning('no-mail', 'The sender may not send')], mail: null };
    expect(isRefused({ campaign: { warnings: [], transactional: false }, estimate })).toBe(true);
  });

  it('finds links of both quotations, and no other kinds', () => {
    const source = `<a href='https://a.example/'>1</a><a class="x" href="http://b.example">2</a><a href="mailto:a@b.example">3</a>`;
    expect(linksOf(source)).toEqual(['https://a.example/', 'http://b.example']);
  });
});

describe('the editor of a campaign', () => {
  const campaign = {
    ...{ name: 'N', from: { email: 'a@b.example', name: 'B' }, transactional: false },
    email: {
      ...{ subject: 'S', html: '\n<p>x</p>', text: ' T\n', unsubscribeGroupId: 'usg_1' },
      ...{ tracking: { opens: false }, replyTo: ['c@d.example'], attachments: [{ filename: 'a' }] },
    },
    audience: {
      includeTags: ['a', 'b'],
      excludeTags: ['c'],
      groupIds: ['grp_1'],
      contactIds: ['contact_1'],
    },
  };

  it('gives back what it was given', () => {
    const body = bodyOf(formOf(campaign as never), campaign as never);
    expect(JSON.parse(JSON.stringify(body))).toEqual(campaign);
  });

  it('names a campaign by its subject, and joins picked tags with typed ones', () => {
    const given = {
      name: '',
      subject: 'Spring',
      'with.vip': '1',
      includeTags: 'new, vip',
      unsubscribeGroupId: 'everybody',
    };
    expect(bodyOf(given)).toMatchObject({
      name: 'Spring',
      audience: { includeTags: ['vip', 'new'] },
      transactional: true,
    });
  });

  it.each([
    [0, null, 'Nobody gets it'],
    [1, null, '1 person'],
    [386, '09:31', '386 people, done [09:31]'],
  ])('says of %d people, done at %s: %s', (dispatch, lastAt, words) => {
    expect(headline({ dispatch, lastAt } as never, (at) => `[${at}]`)).toBe(words);
  });

  it('reads a time in the zone of the organization', () => {
    const zone = { timezone: 'Europe/Berlin' };
    expect(instantOf(zone, '2026-07-01T10:00')).toBe('2026-07-01T08:00:00.000Z');
    expect(instantOf(zone, '')).toBeUndefined();
  });
});
