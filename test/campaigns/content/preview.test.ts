// The mail of a campaign before it runs: refused when it is saved, shown for one contact, sent as a
// test.
import { describe, expect, it } from 'vitest';
import {
  checkCampaignMail,
  renderCampaignMail,
  testCampaignMail,
} from '../../../src/campaigns/mail/preview.ts';
import { campaignEmailInput } from '../../../src/campaigns/mail/schema.ts';
import type { CampaignMail } from '../../../src/campaigns/mail/snapshot.ts';
import { createCampaign } from '../../../src/campaigns/setup/campaigns.ts';
import { createCampaignInput } from '../../../src/campaigns/setup/schema.ts';
import { emailQuery } from '../../../src/outbound/messages/email-schema.ts';
import { getEmailProjection } from '../../../src/outbound/messages/lists/email-projection.ts';
import { stores } from '../../support/command.ts';
import { sharedApi } from '../../support/each-app.ts';
import { addressee, campaignMail, dispatched, startedRun } from './fixtures.ts';

const refused: [title: string, email: Record<string, unknown>, field: string, message: string][] = [
  [
    'a template beside HTML',
    { templateSlug: 'a', html: 'b' },
    'html',
    'must be omitted with a template',
  ],
  [
    'two names of a template',
    { templateSlug: 'a', templateId: 'tmpl_000000000000000000000000' },
    'templateSlug',
    'must not be given together with templateId',
  ],
  ['no subject', { html: 'b' }, 'subject', 'is required for inline content'],
  ['no content', { subject: 'a' }, 'html', 'inline content needs html or text or both'],
  ['a line break in the subject', { subject: 'a\r\nBcc: b', text: 'c' }, 'subject', 'line break'],
  ['fields of a send', { subject: 'a', text: 'b', headers: {} }, '', 'headers'],
];

describe('the content of a campaign', () => {
  it.each(refused)('refuses %s', (_title, email, field, message) => {
    const { error } = campaignEmailInput.safeParse(email);
    const issues = error?.issues ?? [];
    const found = issues.find(({ path }) => path.join('.') === field);
    expect(found?.message).toContain(message);
    expect(found).toBeDefined();
  });
});

describe.each(stores)('the mail of a campaign before it runs, on %s', (store) => {
  const world = sharedApi({ store });
  const email = {
    subject: 'Hi {{ contact.firstName }}',
    html: '<html><body><p>Dear {{ contact.firstName }} {{ brand.name }}</p></body></html>',
  };
  const check = (mail: CampaignMail) =>
    checkCampaignMail(world.test.app, world.test.caller.organizationId, mail);

  const wrong: [title: string, email: Record<string, unknown>, error: RegExp][] = [
    ['an open tag', { subject: 'a', text: '{% if x %}' }, /the text.*not closed/],
    ['an unknown filter', { subject: '{{ a | nope }}', text: 'b' }, /there is no filter nope/],
    ['an unknown template', { templateSlug: 'nope' }, /template nope was not found/],
    [
      'a footer without a brand',
      { subject: 'a', text: 'b', footer: { enabled: true } },
      /needs a brand/,
    ],
  ];

  it.each(wrong)('refuses %s', async (_title, input, error) => {
    await expect(check(campaignMail(input))).rejects.toThrow(error);
  });

  it('warns of a sender that may not send yet', async () => {
    const mail = campaignMail(email, { from: { email: 'ada@elsewhere.example' } });
    expect(await check(mail)).toEqual([expect.objectContaining({ code: 'sender' })]);
  });

  it('shows and tests what the run sends', async () => {
    const { app, caller } = world.test;
    const ada = await addressee(app, caller, 'ada@example.com', { firstName: 'Ada' });
    const mail = campaignMail(email);
    const shown = await renderCampaignMail(app, caller, mail, ada.contactId);
    expect(shown.html).toContain('Dear Ada');
    const [tested] = await testCampaignMail(app, caller, mail, ['ada@example.com']);
    const run = await startedRun(app, caller, mail);
    const [sent = ''] = await dispatched(app, caller, run, [ada]);
    const contentOf = async (id: string) => {
      const query = emailQuery.parse({});
      const { subject, html, text } = await getEmailProjection(app, caller, id, query);
      return { subject, html, text };
    };
    const { subject, html, text } = shown;
    expect(await contentOf(sent)).toEqual({ subject, html, text });
    const id = tested && 'message' in tested ? tested.message.id : '';
    expect(await contentOf(id)).toEqual({ subject: '[Test] Hi Ada', html, text });
  });

  it('shows the values of a contact only to those who may read it', async () => {
    const { app, caller } = world.test;
    const bob = await addressee(app, caller, 'bob@example.com', { firstName: 'Bob' });
    const keyed = { ...caller, permissions: { campaigns: ['*'] } };
    const shown = renderCampaignMail(app, keyed, campaignMail(email), bob.contactId);
    await expect(shown).rejects.toThrow(/needs contacts:read/);
    const missing = renderCampaignMail(app, caller, campaignMail(email), 'contact_none');
    await expect(missing).rejects.toThrow(/not found/i);
  });

  it('shows and sends a template only for those who may read it', async () => {
    const { app, caller } = world.test;
    const eve = await addressee(app, caller, 'eve@example.com', { firstName: 'Eve' });
    const keyed = { ...caller, permissions: { campaigns: ['*'], contacts: ['read'] } };
    const mail = campaignMail({ templateSlug: 'secret' });
    const shown = renderCampaignMail(app, keyed, mail, eve.contactId);
    await expect(shown).rejects.toThrow(/needs templates:read/);
    const tested = testCampaignMail(app, keyed, mail, ['eve@example.com']);
    await expect(tested).rejects.toThrow(/needs templates:read/);
    const saved = { name: 'News', email: mail.email, audience: { includeTags: ['all'] } };
    const created = createCampaign(app, keyed, createCampaignInput.parse(saved));
    await expect(created).rejects.toThrow(/needs templates:read/);
  });
});
