// Exports of other services in their own formats: recognized by their headers, and people who
// unsubscribed there stay unsubscribed here.
import { expect, it } from 'vitest';
import { listContacts } from '../../../src/people/contacts/contacts.ts';
import type { Contact } from '../../../src/people/contacts/schema.ts';
import { importContacts } from '../../../src/people/imports/contacts.ts';
import { eachApp } from '../../support/each-app.ts';
import { pieces } from './support.ts';

const test = eachApp();

const mailchimp =
  '"Email Address","First Name","Last Name",Address,"Phone Number",MEMBER_RATING,OPTIN_TIME,OPTIN_IP,' +
  'CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION';

interface Case {
  format: string;
  file: string[];
  /** Expected contacts, in the order of the file. */
  contacts: object[];
}

/** Returns a line of listmonk's subscribers, with their standing by list. */
function listmonkSubscriber(name: string, status: string, standing: Record<string, string>) {
  const lists = Object.entries(standing).map(([list, subscription_status], id) => {
    return { subscription_status, id, uuid: `l${id}`, name: list, type: 'public', optin: 'double' };
  });
  const times = { created_at: '2024-01-01T00:00:00Z', updated_at: '2024-01-01T00:00:00Z' };
  const email = `${name}@example.com`;
  return JSON.stringify({
    id: 1,
    ...times,
    uuid: 'u',
    email,
    name,
    attribs: { n: 3 },
    status,
    lists,
  });
}

const cases: Record<string, Case> = {
  'Mailchimp subscribed': {
    format: 'mailchimp',
    file: [
      `${mailchimp},LAST_CHANGED,LEID,EUID,NOTES,TAGS`,
      'ada@example.com,Ada,Lovelace,"1 Main St",555,2,"2025-01-01 10:00:00",192.0.2.1,' +
        '"2025-01-01 10:00:01",192.0.2.1,51.5,-0.1,0,1,Europe/London,GB,ENG,' +
        '"2025-02-01 10:00:00",1,abc,,"""early"",""vip"""',
    ],
    contacts: [
      {
        name: 'Ada Lovelace',
        status: 'active',
        tags: ['early', 'vip'],
        profile: {
          location: { country: 'GB', state: 'ENG', city: null, timezone: 'Europe/London' },
          customFields: { Address: '1 Main St', 'Phone Number': '555' },
        },
      },
    ],
  },
  'Mailchimp unsubscribed': {
    format: 'mailchimp',
    file: [
      `${mailchimp},UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,LEID,EUID,TAGS`,
      'bob@example.com,Bob,,,,2,,,,,,,,,,,,"2025-03-01 10:00:00",News,c1,spam,2,abd,',
    ],
    contacts: [{ name: 'Bob', status: 'unsubscribed' }],
  },
  'Mailchimp cleaned': {
    format: 'mailchimp',
    file: [
      `${mailchimp},CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID,LEID,EUID,TAGS`,
      'gone@example.com,,,,,2,,,,,,,,,,,,"2025-03-01 10:00:00",News,c1,3,abe,',
    ],
    contacts: [{ status: 'bounced', profile: { customFields: {} } }],
  },
  SendGrid: {
    format: 'sendgrid',
    file: [
      'EMAIL,FIRST_NAME,LAST_NAME,ADDRESS_LINE_1,CITY,STATE_PROVINCE_REGION,POSTAL_CODE,COUNTRY,' +
        'ALTERNATE_EMAILS,PHONE_NUMBER,CREATED_AT,UPDATED_AT,CONTACT_ID,plan',
      'ada@example.com,Ada,Lovelace,,London,,,UK,"a2@example.com,a3@example.com",,' +
        '2025-01-01T00:00:00Z,2025-01-02T00:00:00Z,0f1c,pro',
    ],
    contacts: [
      {
        name: 'Ada Lovelace',
        identities: [
          { identifier: 'ada@example.com' },
          { identifier: 'a2@example.com' },
          { identifier: 'a3@example.com' },
        ],
        profile: { location: { city: 'London', country: 'UK' }, customFields: { plan: 'pro' } },
      },
    ],
  },
  Resend: {
    format: 'resend',
    file: [
      'id,created_at,first_name,last_name,email,unsubscribed',
      'c1,2025-01-01 00:00:00+00,Ada,Lovelace,ada@example.com,false',
      'c2,2025-01-01 00:00:00+00,Bob,,bob@example.com,true',
    ],
    contacts: [
      { name: 'Ada Lovelace', status: 'active', profile: { customFields: {} } },
      { name: 'Bob', status: 'unsubscribed' },
    ],
  },
  listmonk: {
    format: 'listmonk',
    file: [
      'uuid,email,name,attributes,status,created_at,updated_at',
      'u1,ada@example.com,Ada,"{""city"":""London"",""age"":36,""likes"":[""maths""]}",enabled,x,y',
      'u2,bob@example.com,Bob,{},blocklisted,x,y',
      'u3,eve@example.com,Eve,{},disabled,x,y',
    ],
    contacts: [
      {
        name: 'Ada',
        status: 'active',
        statusReason: null,
        profile: { customFields: { city: 'London', age: '36', likes: '["maths"]' } },
      },
      { name: 'Bob', status: 'unsubscribed' },
      // Gets no mail, without having unsubscribed.
      { name: 'Eve', status: 'active', statusReason: expect.stringContaining('manual') },
    ],
  },
  "the answer of listmonk's API": {
    format: 'listmonk',
    file: [
      listmonkSubscriber('ada', 'enabled', { News: 'confirmed', 'Offers, weekly': 'unconfirmed' }),
      listmonkSubscriber('bob', 'enabled', { News: 'confirmed', Offers: 'unsubscribed' }),
      listmonkSubscriber('cy', 'enabled', { News: 'unsubscribed', Offers: 'unsubscribed' }),
      listmonkSubscriber('dan', 'enabled', {}),
      listmonkSubscriber('eve', 'blocklisted', { News: 'confirmed' }),
    ],
    contacts: [
      {
        name: 'ada',
        status: 'active',
        tags: ['News', 'Offers  weekly'],
        profile: { customFields: { n: '3' } },
      },
      { status: 'active', tags: ['News'] },
      { status: 'unsubscribed', tags: [] },
      { status: 'active', tags: [] },
      { status: 'unsubscribed', tags: ['News'] },
    ],
  },
  'members of a list of Mailgun': {
    format: 'mailgun',
    file: [
      '{"address":"ada@example.com","name":"Ada","subscribed":true,"vars":{"age":"36"}}',
      '{"address":"bob@example.com","name":"Bob","subscribed":false,"vars":{}}',
    ],
    contacts: [
      { name: 'Ada', status: 'active', profile: { customFields: { age: '36' } } },
      { name: 'Bob', status: 'unsubscribed' },
    ],
  },
  'a list of addresses': {
    format: 'plain',
    file: ['ada@example.com', 'bob@example.com'],
    contacts: [{ identities: [{ identifier: 'ada@example.com' }] }, { tags: [] }],
  },
};

it.each(Object.entries(cases))(
  'imports %s, and changes nothing the second time',
  async (_case, { format, file, contacts }) => {
    const { app, caller } = test;
    const take = (dryRun: boolean) =>
      importContacts(app, caller, pieces(`\uFEFF${file.join('\r\n')}\r\n`, 17), { dryRun });
    const created = contacts.length;
    for (const dryRun of [true, false]) {
      expect(await take(dryRun)).toMatchObject({ format, created, rejected: 0, rows: [] });
    }
    const { items } = await listContacts(app, caller, { page: 1, limit: 20 });
    const inOrder: Contact[] = items.reverse();
    expect(inOrder).toMatchObject(contacts);
    for (const dryRun of [true, false]) {
      expect(await take(dryRun)).toMatchObject({ created: 0, updated: 0, unchanged: created });
    }
  },
);
