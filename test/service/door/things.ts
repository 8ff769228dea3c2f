// Resources that a person made, for attacks on them: those that a person sends from, and spare
// resources that may end.
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import type { World } from '../../console/world.ts';
import { publish } from '../../extensions/fixtures.ts';
import { arrive } from '../../inbox/threads/mails.ts';

/** Ids by kind. */
export interface Things {
  mailbox: string;
  /** Its address. */
  address: string;
  /** A received message, its thread and a note on that. */
  received: string;
  thread: string;
  note: string;
  spareNote: string;
  namespace: string;
  savedReply: string;
  /** Deleted by an agent. */
  spareSavedReply: string;
  /** Drafts of a person, one of them to be sent through the API. */
  draft: string;
  otherDraft: string;
  /** Drafts that no agent names: they change only with their mailbox and sender. */
  quietDraft: string;
  quietOtherDraft: string;
  /** Drafts to be sent and deleted by an agent. */
  spareDraft: string;
  endedDraft: string;
  domain: string;
  spareDomain: string;
  sender: string;
  spareSender: string;
  /** A sender with an unproven address. */
  pending: string;
  block: string;
  group: string;
  spareGroup: string;
  /** A group with double opt-in. */
  optIn: string;
  brand: string;
  spareBrand: string;
  template: string;
  spareTemplate: string;
  family: string;
  spareFamily: string;
  contact: string;
  /** A contact outside all audiences. */
  stranger: string;
  spareContact: string;
  contacts: string;
  spareContacts: string;
  conversation: string;
  spareConversation: string;
  campaign: string;
  spareCampaign: string;
  /** A run of the spare campaign that is far away. */
  spareRun: string;
  /** A scheduled message that is far away. */
  spareMessage: string;
  /** A sent message. */
  sent: string;
  webhook: string;
  spareWebhook: string;
  delivery: string;
  key: string;
  spareKey: string;
  /** Open invitations. */
  member: string;
  spareMember: string;
  extension: string;
  spareExtension: string;
  installation: string;
  spareInstallation: string;
  /** A mailbox with a second address and a thread. */
  spareMailbox: string;
  spareAddress: string;
  spareThread: string;
  /** Time of mail that a person schedules. */
  soon: string;
}

export const hourMs = 3_600_000;
export const farAway = '2026-12-01T09:00:00.000Z';

/**
 * Makes all of them. Every call must be accepted: an attack on a missing resource proves nothing.
 */
export async function makeThings(world: World): Promise<Things> {
  const { app, operator } = world.test;
  const made = async (path: string, body: object) => (await world.api('POST', path, body)).id;
  const pairOf = async (path: string, first: object, spare: object) =>
    [await made(path, first), await made(path, spare)] as const;
  const answer = async <Found>(method: 'GET' | 'POST', path: string, body?: object) =>
    (await world.api(method, path, body)) as unknown as Found;

  const slug = 'desk';
  const mailbox = await made('/v1/mailboxes', { slug, displayName: 'The desk' });
  const address = `${slug}@sandbox.test`;
  const received = await arrive(app, { rcpt: [address], to: address });
  const threadIn = async (id: string) =>
    (await world.api('GET', `/v1/mailboxes/${id}/threads`)).items?.[0]?.id ?? '';
  const thread = await threadIn(mailbox);
  const spareMailbox = await made('/v1/mailboxes', { slug: 'spare' });
  await arrive(app, { rcpt: ['spare@sandbox.test'], to: 'spare@sandbox.test' });
  const second = 'second@sandbox.test';
  const { addresses } = await answer<{ addresses: { id: string; address: string }[] }>(
    'POST',
    `/v1/mailboxes/${spareMailbox}/addresses`,
    { address: second },
  );
  const [note, spareNote] = await pairOf(
    `/v1/mailboxes/${mailbox}/threads/${thread}/notes`,
    { body: 'First' },
    { body: 'Spare' },
  );
  const draftOf = (to: string) =>
    made(`/v1/mailboxes/${mailbox}/drafts`, {
      ...{ to: [to], subject: 'The draft', text: 'Words of a person' },
      html: '<p>Words of a person</p>',
      attachments: [{ filename: 'plan.txt', content: 'aGk=', contentType: 'text/plain' }],
    });
  const spareDomain = await made('/v1/email/domains', { domain: 'spare.example', dkim: 'ed25519' });
  await verifyDomain(app, operator, spareDomain, { force: true });
  const { items: domains } = await world.api('GET', '/v1/email/domains');
  await made('/v1/brands', { slug: 'acme', name: 'Acme', footer: { companyName: 'Acme Inc' } });
  await made('/v1/brands', { slug: 'spare', name: 'Spare' });
  await made('/v1/brands/acme/default', {}).catch(() => '');
  const templateOf = async (name: string) => {
    const id = await made('/v1/templates', {
      ...{ name, slug: name, subject: 'News of {{ sender.name }}' },
      html: '<p>Good news from {{ brand.name }}</p>',
    });
    await world.api('POST', `/v1/templates/${id}/publish`, {});
    return id;
  };
  const [template, spareTemplate] = [await templateOf('news'), await templateOf('spare')];
  const [group, spareGroup] = await pairOf(
    '/v1/unsubscribe-groups',
    { name: 'News' },
    { name: 'Spare' },
  );
  const optIn = await made('/v1/unsubscribe-groups', { name: 'Letters', confirm: true });
  const contact = await made('/v1/contacts', { email: 'ada@example.com', tags: ['reader'] });
  const stranger = await made('/v1/contacts', { email: 'eve@evil.example', tags: ['stranger'] });
  const spareContact = await made('/v1/contacts', { email: 'spare@example.com' });
  const [contacts, spareContacts] = await pairOf(
    '/v1/contact-groups',
    { name: 'All', query: { tag: 'reader' } },
    { name: 'Spare' },
  );
  const campaignOf = (name: string) => ({
    ...{ name, from: { email: address }, audience: { groupIds: [contacts] } },
    email: { templateId: template, unsubscribeGroupId: group, footer: { enabled: true } },
  });
  const [campaign, spareCampaign] = await pairOf(
    '/v1/campaigns',
    campaignOf('News'),
    campaignOf('Spare'),
  );
  const [webhook, spareWebhook] = await pairOf(
    '/v1/webhooks',
    { url: 'https://hooks.example.com/a', events: ['message.*'] },
    { url: 'https://hooks.example.com/b', events: ['message.*'] },
  );
  const { deliveryId } = await answer<{ deliveryId: string }>(
    'POST',
    `/v1/webhooks/${webhook}/test`,
    {},
  );
  const [key, spareKey] = await pairOf(
    '/v1/api-keys',
    { name: 'k', role: 'viewer' },
    { name: 's', role: 'viewer' },
  );
  const invitationOf = (email: string) => ({ email, role: 'viewer', mail: false });
  const [member, spareMember] = await pairOf(
    '/v1/members',
    invitationOf('member@people.example'),
    invitationOf('spare@people.example'),
  );
  const extensionOf = async (name: string) => {
    const id = await made('/v1/extensions', { name, runtime: 'hosted' });
    const sendModes = ['none', 'approval', 'send'] as const;
    const version = { version: '1.0.0', permissions: [], events: [], sendModes: [...sendModes] };
    await publish(app, operator, id, version);
    return id;
  };
  const [extension, spareExtension] = [await extensionOf('first'), await extensionOf('other')];
  const installed = (extensionId: string) =>
    made('/v1/extension-installations', { extensionId, acceptPermissions: [], sendMode: 'none' });
  const mail = { channel: 'email', to: [{ email: 'bo@example.com' }] };
  const sent = await made('/v1/messages', { ...mail, email: { subject: 'Sent', text: 'Sent' } });
  const spareMessage = await made('/v1/messages/scheduled', {
    ...{ ...mail, email: { subject: 'Later', text: 'Later' }, scheduledFor: farAway },
  });
  return {
    ...{ mailbox, address, received, thread, note, spareNote, sent, spareMessage },
    ...{ spareMailbox, spareThread: await threadIn(spareMailbox) },
    spareAddress: addresses.find((one) => one.address === second)?.id ?? '',
    soon: new Date(app.clock.now() + hourMs).toISOString(),
    namespace: await made('/v1/mailbox-namespaces', { name: 'Agents' }),
    savedReply: await made('/v1/saved-replies', { name: 'Hours', text: 'From 9 to 17.' }),
    spareSavedReply: await made('/v1/saved-replies', { name: 'Spare', text: 'Spare' }),
    draft: await draftOf('draft@example.com'),
    otherDraft: await draftOf('other-draft@example.com'),
    quietDraft: await draftOf('quiet@example.com'),
    quietOtherDraft: await draftOf('other-quiet@example.com'),
    spareDraft: await draftOf('spare-draft@example.com'),
    endedDraft: await draftOf('spare-draft@example.com'),
    domain: domains?.[0]?.id ?? '',
    spareDomain,
    sender: (await createSender(app, operator, { email: address, name: 'The desk' })).id,
    spareSender: await made('/v1/email/senders', { email: 'spare@sandbox.test' }),
    pending: await made('/v1/email/senders', { email: 'pending@pending.example' }),
    block: await made('/v1/email/blocks', { address: 'blocked@example.com' }),
    ...{ group, spareGroup, optIn, brand: 'acme', spareBrand: 'spare', template, spareTemplate },
    family: await made('/v1/templates/families', { name: 'Family' }),
    spareFamily: await made('/v1/templates/families', { name: 'Spare family' }),
    ...{ contact, stranger, spareContact, contacts, spareContacts },
    conversation: await made('/v1/conversations', { title: 'Talk' }),
    spareConversation: await made('/v1/conversations', { title: 'Spare' }),
    ...{ campaign, spareCampaign },
    spareRun: await made(`/v1/campaigns/${spareCampaign}/runs`, { scheduledFor: farAway }),
    ...{ webhook, spareWebhook, delivery: deliveryId, key, spareKey, extension, spareExtension },
    ...{ member, spareMember },
    installation: await installed(extension),
    spareInstallation: await installed(spareExtension),
  };
}
