// Exports of other services that say who gets no mail, each in its own columns: no import makes
// such a person active. The exports were written for this project after the services'
// documentation.
import { describe, expect, it } from 'vitest';
import { listBlocks } from '../../../src/people/blocks/blocks.ts';
import { listContacts } from '../../../src/people/contacts/contacts.ts';
import { type ImportOptions, importContacts } from '../../../src/people/imports/contacts.ts';
import { eachApp } from '../../support/each-app.ts';
import { pieces } from './support.ts';

const test = eachApp();

function take(lines: readonly string[], options: Partial<ImportOptions> = {}) {
  const file = pieces(`${lines.join('\n')}\n`);
  return importContacts(test.app, test.caller, file, { dryRun: false, ...options });
}

/** Lists name, status and the reason of a block by hand of each contact, by name. */
async function standings(): Promise<string[]> {
  const { items } = await listContacts(test.app, test.caller, { page: 1, limit: 20 });
  const lines = items.map(({ identities, status, statusReason }) => {
    const [, reason] = /blocked \((\w+)\)/.exec(statusReason ?? '') ?? [];
    const name = identities[0]?.identifier.split('@')[0];
    return [name, status, ...(status === 'active' && reason ? [reason] : [])].join(' ');
  });
  return lines.toSorted((a, b) => (a < b ? -1 : 1));
}

/** Files by service, and the standings after their import. */
const files: Record<string, [file: string[], expected: string[]]> = {
  'the suppression list of Amazon SES': [
    ['EmailAddress,Reason,LastUpdateTime', 'a@example.com,BOUNCE,x', 'b@example.com,COMPLAINT,x'],
    ['a bounced', 'b complained'],
  ],
  'the contact list of Amazon SES': [
    ['emailAddress,unsubscribeAll,attributesData', 'a@example.com,true,x', 'b@example.com,false,x'],
    ['a unsubscribed', 'b active'],
  ],
  'contacts of HubSpot': [
    [
      'Record ID,First Name,Email,Unsubscribed from all email,Email hard bounce reason',
      '1,Ada,a@example.com,true,',
      '2,Bob,b@example.com,,UNKNOWN_USER',
      '3,Cy,c@example.com,false,',
    ],
    ['a unsubscribed', 'b bounced', 'c active'],
  ],
  'unsubscribes and bounces of HubSpot': [
    [
      'Email,Portal Bounce,Portal Unsubscribe,Portal Spam Report,Global Bounce',
      'a@example.com,TRUE,,,',
      'b@example.com,,TRUE,,',
      'c@example.com,FALSE,FALSE,TRUE,',
      'd@example.com,,,,TRUE',
    ],
    ['a bounced', 'b unsubscribed', 'c complained', 'd bounced'],
  ],
  'contacts of Brevo': [
    [
      'EMAIL;FIRSTNAME;SMS;EMAIL_BLACKLISTED;SMS_BLACKLISTED',
      'a@example.com;Ada;;true;',
      'b@example.com;Bob;;false;true',
      'c@example.com;Cy;;1;',
    ],
    ['a unsubscribed', 'b active', 'c unsubscribed'],
  ],
  'profiles of Klaviyo': [
    [
      'Email,Klaviyo ID,Email Marketing Consent,Email Marketing Consent Timestamp,Email Suppressions',
      'a@example.com,1,UNSUBSCRIBED,2025-01-01,"[""UNSUBSCRIBE""]"',
      'b@example.com,2,SUBSCRIBED,2025-01-01,[]',
      'c@example.com,3,SUBSCRIBED,2025-01-01,"HARD_BOUNCE, USER_SUPPRESSED"',
      'd@example.com,4,SUBSCRIBED,2025-01-01,USER_SUPPRESSED',
    ],
    ['a unsubscribed', 'b active', 'c bounced', 'd active manual'],
  ],
  'columns opt_out and do_not_email': [
    ['email,opt_out,do_not_email', 'a@example.com,yes,', 'b@example.com,no,Y', 'c@example.com,0,'],
    ['a unsubscribed', 'b unsubscribed', 'c active'],
  ],
  'contacts of Salesforce': [
    [
      'Email,HasOptedOutOfEmail,EmailBouncedReason',
      'a@example.com,1,',
      'b@example.com,0,550 5.1.1',
      'c@example.com,0,',
    ],
    ['a unsubscribed', 'b bounced', 'c active'],
  ],
  'customers of Shopify': [
    ['Email,Accepts Email Marketing', 'a@example.com,no', 'b@example.com,yes'],
    ['a unsubscribed', 'b active'],
  ],
  'suppressions of Postmark': [
    ['EmailAddress,SuppressionReason,Origin', 'a@example.com,SpamComplaint,Recipient'],
    ['a complained'],
  ],
  'suppressions of Resend': [
    [
      'id,email,origin,source_id,created_at',
      '1,a@example.com,bounce,,',
      '2,b@example.com,manual,,',
    ],
    ['a bounced', 'b active manual'],
  ],
  'JSON Lines with a flag in some lines': [
    [
      '{"email":"a@example.com","name":"A"}',
      '{"email":"b@example.com","emailBlacklisted":true}',
      '{"email":"c@example.com","attributes":{"opt_out":true}}',
    ],
    ['a active', 'b unsubscribed', 'c unsubscribed'],
  ],
};

it.each(Object.entries(files))('keeps the opt-outs of %s', async (_from, [file, expected]) => {
  const report = await take(file);
  expect([report.rows, await standings()]).toEqual([[], expected]);
});

const asking = [
  ...['Opt-in (DOI)', 'GDPR consent', 'Newsletter', 'Receives marketing', 'subscription_state'],
  ...[
    'topicPreferences.Sports',
    'Abmeldung',
    'Désinscription',
    'Отписан',
    '配信停止',
    'Do not mail',
  ],
  ...['Opted out of email: Marketing Information', 'Soft Bounces', 'Spam reported'],
  ...['Automatically unsubscribed', 'Do not mail/call', 'Marketing (mail and phone)'],
  ...['Newsletter membership', 'Marketing relationship', 'Newsletter one-time'],
];

describe.each(asking)('a column %s', (column) => {
  const file = [`email,${column}`, 'a@example.com,yes'];

  it('stops the import with a 422 that names it and asks for its meaning', async () => {
    await expect(take(file)).rejects.toMatchObject({
      _tag: 'ValidationError',
      fieldErrors: { map: [expect.stringContaining(column.slice(0, 40))] },
    });
    expect(await standings()).toEqual([]);
  });

  it('blocks when it is mapped to unsubscribed', async () => {
    await take(file, { map: [`${column}=unsubscribed`] });
    expect(await standings()).toEqual(['a unsubscribed']);
  });

  it('counts for nothing when it is mapped to ignore', async () => {
    await take(file, { map: [`${column}=ignore`] });
    expect(await standings()).toEqual(['a active']);
  });
});

it.each([
  ...['Plan', 'subscription_plan', 'Consent date', 'OPTIN_TIME', 'SMS consent', 'Address'],
  ...['Marketing emails opened', 'Phone opt-out', 'Do not call', 'Notes', 'subscribed_at'],
  ...['Do not direct mail', 'smsMarketingConsent'],
])('keeps a column %s as a custom field', async (column) => {
  expect(await take([`email,${column}`, 'a@example.com,x'])).toMatchObject({
    created: 1,
    map: { email: 'email', [column]: 'custom' },
  });
});

it.each(['UNSUBSCRIBED', 'Opted out', 'hard_bounce', 'EMAIL_BLACKLISTED', 'Do not email'])(
  'rejects a row with %s under a column without a known meaning',
  async (value) => {
    const file = ['email,Segment', `a@example.com,${value}`, 'b@example.com,gold'];
    const { rows } = await take(file);
    expect(rows).toEqual([
      { row: 1, line: 2, field: 'Segment', reason: expect.stringContaining(value) },
    ]);
    expect(await standings()).toEqual(['b active']);
    await take(file, { map: ['Segment=custom'] });
    expect(await standings()).toEqual(['a active', 'b active']);
  },
);

it.each(['state', 'tags', 'source', 'name', 'company', 'language'])(
  'rejects an opt-out in the column %s of a contact',
  async (column) => {
    const { rows } = await take([`email,${column}`, 'a@example.com,unsubscribed']);
    expect(rows).toEqual([
      { row: 1, line: 2, field: column, reason: expect.stringContaining('unsubscribed') },
    ]);
    expect(await standings()).toEqual([]);
  },
);

it.each([
  ['Email Marketing Consent', 'NEVER_SUBSCRIBED', 'is neither yes nor no: NEVER_SUBSCRIBED'],
  ['Accepts Email Marketing', '', 'is empty: say yes or no'],
  ['Email status', 'limbo', 'is not a known status: limbo'],
])('rejects a row whose %s is "%s"', async (column, value, reason) => {
  const { rows } = await take([`email,${column}`, `a@example.com,${value}`]);
  expect(rows).toEqual([{ row: 1, line: 2, field: column, reason }]);
});

it('rejects a line of JSON with an unknown field of consent', async () => {
  const { rows } = await take([
    '{"email":"a@example.com"}',
    '{"email":"b@example.com","newsletter":false}',
    '{"email":"c@example.com","attributes":{"gdpr":"no"}}',
  ]);
  expect(rows).toMatchObject([
    { line: 2, field: 'map', reason: expect.stringContaining('newsletter') },
    { line: 3, field: 'map', reason: expect.stringContaining('attributes.gdpr') },
  ]);
  expect(await standings()).toEqual(['a active']);
});

it.each([
  [['email,created', 'a@example.com,1443651141']],
  [['ip,email,created', '192.0.2.1,a@example.com,1443651141']],
  [['reason,email,created', 'Known bad domain,a@example.com,1443651141']],
])('refuses a list of SendGrid for svc blocks import: %j', async (file) => {
  await expect(take(file)).rejects.toThrow(/svc blocks import/);
  expect(await take(file, { map: ['created=custom'] })).toMatchObject({ created: 1 });
});

it('counts the heaviest of several reasons', async () => {
  await take(['email,opt_out,complained,bounced', 'a@example.com,yes,yes,yes']);
  expect(await standings()).toEqual(['a complained']);
});

it('takes the further addresses of Outlook and Google as identities', async () => {
  await take(['E-mail Address,E-mail 2 Address,E-mail 3 Address', 'a@example.com,a2@example.com,']);
  await take(['Name,E-mail 1 - Value,E-mail 2 - Value', 'Bob,b@example.com,b2@example.com']);
  const { items } = await listContacts(test.app, test.caller, { page: 1, limit: 20 });
  expect(items.map(({ identities }) => identities.map((one) => one.identifier))).toEqual([
    ['b@example.com', 'b2@example.com'],
    ['a@example.com', 'a2@example.com'],
  ]);
});

it('blocks every address of a person who opted out', async () => {
  await take(['email,E-mail 2 Address,opt_out', 'a@example.com,a2@example.com,yes']);
  expect(await standings()).toEqual(['a unsubscribed']);
  const { items } = await listBlocks(test.app, test.caller, { page: 1, limit: 20 });
  const addresses = new Set(items.map(({ address }) => address));
  expect(addresses).toEqual(new Set(['a@example.com', 'a2@example.com']));
});

it.each([
  [['Mail=email'], 'Mail,Plan', { created: 1, map: { Mail: 'email', Plan: 'custom' } }],
  [['mail=email', 'Plan=ignore'], 'Mail,Plan', { map: { Mail: 'email', Plan: 'ignore' } }],
  [['Plan=company'], 'email,Plan', { map: { Plan: 'company' } }],
])('maps columns by %j', async (map, header, expected) => {
  expect(await take([header, 'a@example.com,pro'], { map })).toMatchObject(expected);
});

it.each([
  [['Plan'], 'must be COLUMN=FIELD: Plan'],
  [['Plan=shoe'], 'shoe is none of email, otherEmails,'],
  [['Plans=custom'], 'there is no column Plans in: email, Plan'],
])('refuses the map %j', async (map, text) => {
  await expect(take(['email,Plan', 'a@example.com,pro'], { map })).rejects.toMatchObject({
    fieldErrors: { map: [expect.stringContaining(text)] },
  });
});
