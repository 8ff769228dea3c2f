// Hostile writes of mailboxes, domains, messages, webhooks, extensions and keys.
import {
  bare,
  type Calls,
  emailOf,
  file,
  mailOf,
  messageOf,
  one,
  type Targets,
} from './hostile-call.ts';
import { farAway } from './things.ts';

const answerOf: Calls = one(({ mailbox, received }, hostile) => ({
  params: { id: mailbox, messageId: received },
  body: { bcc: [hostile.address()], ...emailOf(hostile), subject: undefined },
}));

const ofThread = (things: Targets, more: Record<string, string> = {}) => ({
  ...{ id: things.mailbox, threadId: things.thread, ...more },
});

/** By `METHOD path`, in the order in which an agent calls them. */
export const mailWrites: Readonly<Record<string, Calls>> = {
  'PATCH /v1/mailboxes/{id}': one(({ mailbox, address }, hostile) => ({
    params: { id: mailbox },
    body: {
      ...{ displayName: hostile.line(), description: hostile.line() },
      defaultFrom: { address, displayName: hostile.line() },
    },
  })),
  'POST /v1/mailboxes': one((_, hostile) => ({
    body: { slug: hostile.name(), displayName: hostile.line() },
  })),
  'POST /v1/mailboxes/{id}/addresses': one(({ mailbox }, hostile) => ({
    params: { id: mailbox },
    body: { address: `${hostile.name()}@sandbox.test`, displayName: hostile.line() },
  })),
  'POST /v1/mailboxes/{id}/messages': one(({ mailbox }, hostile) => ({
    params: { id: mailbox },
    body: mailOf(hostile),
  })),
  'POST /v1/mailboxes/{id}/messages/{messageId}/reply': answerOf,
  'POST /v1/mailboxes/{id}/messages/{messageId}/reply-all': answerOf,
  'POST /v1/mailboxes/{id}/messages/{messageId}/forward': one(({ mailbox, received }, hostile) => ({
    params: { id: mailbox, messageId: received },
    body: { ...mailOf(hostile), subject: undefined },
  })),
  'POST /v1/mailboxes/{id}/drafts': one(({ mailbox }, hostile) => ({
    params: { id: mailbox },
    body: mailOf(hostile),
  })),
  // HTML or a file beside words that stay as a person wrote them; then all fields.
  'PATCH /v1/mailboxes/{id}/drafts/{draftId}': (things, hostile) =>
    [things.draft, things.otherDraft, things.agentDraft].flatMap((draftId) =>
      [
        { html: hostile.html() },
        { attachments: [file(hostile)] },
        { bcc: [hostile.address()] },
      ].map((body) => ({ params: { id: things.mailbox, draftId }, body })),
    ),
  'POST /v1/mailboxes/{id}/drafts/{draftId}/send': one(({ mailbox, spareDraft }) => ({
    params: { id: mailbox, draftId: spareDraft },
    body: {},
  })),
  'DELETE /v1/mailboxes/{id}/drafts/{draftId}': one(({ mailbox, endedDraft }) => ({
    params: { id: mailbox, draftId: endedDraft },
  })),
  'POST /v1/mailboxes/{id}/actions/{actionId}/approve': ({ mailbox, action }, hostile) =>
    [{}, { edits: mailOf(hostile), note: hostile.line() }].map((body) => ({
      params: { id: mailbox, actionId: action },
      body,
    })),
  'POST /v1/mailboxes/{id}/actions/{actionId}/reject': one(({ mailbox, spareAction }, hostile) => ({
    params: { id: mailbox, actionId: spareAction },
    body: { note: hostile.line() },
  })),
  'POST /v1/mailbox-namespaces': one((_, hostile) => ({ body: { name: hostile.line() } })),
  'POST /v1/saved-replies': one((_, hostile) => ({
    body: { name: hostile.name(), text: hostile.line(), html: hostile.html() },
  })),
  'PATCH /v1/saved-replies/{id}': one(({ savedReply }, hostile) => ({
    params: { id: savedReply },
    body: { name: hostile.name(), text: hostile.line(), html: hostile.html() },
  })),
  'DELETE /v1/saved-replies/{id}': bare('spareSavedReply'),
  'PATCH /v1/mailboxes/{id}/threads/{threadId}': one((things) => ({
    params: ofThread(things),
    body: { read: true, starred: true },
  })),
  'POST /v1/mailboxes/{id}/threads/{threadId}/labels': one((things, hostile) => ({
    params: ofThread(things),
    body: { labels: [hostile.name()] },
  })),
  'DELETE /v1/mailboxes/{id}/threads/{threadId}/labels': one((things, hostile) => ({
    params: ofThread(things),
    body: { labels: [hostile.name()] },
  })),
  'POST /v1/mailboxes/{id}/threads/{threadId}/notes': one((things, hostile) => ({
    params: ofThread(things),
    body: { body: hostile.line() },
  })),
  'PATCH /v1/mailboxes/{id}/threads/{threadId}/notes/{noteId}': one((things, hostile) => ({
    params: ofThread(things, { noteId: things.note }),
    body: { body: hostile.line() },
  })),
  'DELETE /v1/mailboxes/{id}/threads/{threadId}/notes/{noteId}': one((things) => ({
    params: ofThread(things, { noteId: things.spareNote }),
  })),
  'POST /v1/mailboxes/{id}/pause': bare('spareMailbox'),
  'POST /v1/mailboxes/{id}/resume': bare('spareMailbox'),
  'DELETE /v1/mailboxes/{id}/addresses/{addressId}': one(({ spareMailbox, spareAddress }) => ({
    params: { id: spareMailbox, addressId: spareAddress },
  })),
  'DELETE /v1/mailboxes/{id}/threads/{threadId}': one(({ spareMailbox, spareThread }) => ({
    params: { id: spareMailbox, threadId: spareThread },
  })),
  'DELETE /v1/mailboxes/{id}': bare('spareMailbox'),
  'POST /v1/email/catch-all/enable': one(({ domain, mailbox }) => ({
    body: { domainId: domain, mailboxId: mailbox },
  })),
  'POST /v1/email/catch-all/disable': one(({ domain }) => ({ body: { domainId: domain } })),
  'POST /v1/email/domains': one((_, hostile) => ({
    body: { domain: `${hostile.name()}.example`, dkim: 'ed25519' },
  })),
  'POST /v1/email/domains/{id}/verify': bare('spareDomain'),
  'POST /v1/email/domains/{id}/dkim/rotate': one(({ domain }) => ({
    params: { id: domain },
    body: {},
  })),
  'POST /v1/email/domains/{id}/dkim/import': one(({ spareDomain }, hostile) => ({
    params: { id: spareDomain },
    body: { selector: hostile.name(), privateKey: hostile.line() },
  })),
  'POST /v1/email/domains/{id}/custom-tracking': one(({ spareDomain }, hostile) => ({
    params: { id: spareDomain },
    body: { label: hostile.name() },
  })),
  'POST /v1/email/domains/{id}/custom-tracking/recheck': bare('spareDomain'),
  'POST /v1/email/domains/{id}/custom-tracking/disable': bare('spareDomain'),
  'POST /v1/email/domains/{id}/warming': one(({ spareDomain }) => ({
    params: { id: spareDomain },
    body: {
      ...{ identity: 'new', initialDailyRecipients: 1_000 },
      ...{ dailyGrowthPercent: 10, targetDailyRecipients: 9_000 },
    },
  })),
  ...Object.fromEntries(
    ['pause', 'resume', 'cancel'].map((verb) => [
      `POST /v1/email/domains/{id}/warming/${verb}`,
      one(({ spareDomain }, hostile) => ({
        params: { id: spareDomain },
        body: { note: hostile.line() },
      })),
    ]),
  ),
  'DELETE /v1/email/domains/{id}': bare('spareDomain'),
  'POST /v1/messages': ({ address, contact, template }, hostile) => [
    { body: messageOf(hostile) },
    { body: messageOf(hostile, { from: { email: address, name: hostile.line() } }) },
    { body: messageOf(hostile, { to: [{ contactId: contact }] }) },
    { body: messageOf(hostile, { email: { templateId: template } }) },
  ],
  'POST /v1/messages/batch': one((_, hostile) => ({
    body: [messageOf(hostile), messageOf(hostile)],
  })),
  'POST /v1/messages/scheduled': ({ soon }, hostile) =>
    [soon, farAway].map((scheduledFor) => ({ body: { ...messageOf(hostile), scheduledFor } })),
  'POST /v1/messages/{id}/resend': bare('sent'),
  'POST /v1/messages/{id}/release': bare('sent'),
  'POST /v1/messages/{id}/cancel': bare('spareMessage'),
  'DELETE /v1/messages/{id}': bare('spareMessage'),
  'POST /v1/webhooks': one((_, hostile) => ({
    body: { name: hostile.line(), url: `https://${hostile.name()}.evil.example/`, events: ['*'] },
  })),
  'PATCH /v1/webhooks/{id}': one(({ webhook }, hostile) => ({
    params: { id: webhook },
    body: { name: hostile.line(), url: `https://${hostile.name()}.evil.example/`, events: ['*'] },
  })),
  'POST /v1/webhooks/{id}/rotate-secret': bare('webhook'),
  'POST /v1/webhooks/{id}/test': one(({ webhook }, hostile) => ({
    params: { id: webhook },
    body: { data: { hostile: hostile.line() } },
  })),
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver': one(({ webhook, delivery }) => ({
    params: { id: webhook, deliveryId: delivery },
  })),
  'POST /v1/webhooks/{id}/replay': one(({ webhook }) => ({ params: { id: webhook }, body: {} })),
  'DELETE /v1/webhooks/{id}': bare('spareWebhook'),
  'POST /v1/extensions': one((_, hostile) => ({
    body: { name: hostile.name(), displayName: hostile.line(), runtime: 'hosted' },
  })),
  'PATCH /v1/extensions/{id}': one(({ extension }, hostile) => ({
    params: { id: extension },
    body: { displayName: hostile.line(), description: hostile.line() },
  })),
  'POST /v1/extensions/{id}/versions': one(({ extension }, hostile) => ({
    params: { id: extension },
    body: {
      ...{ version: `1.0.0-${hostile.name()}`, permissions: ['mailboxes:send', 'messages:send'] },
      ...{ events: [], sendModes: ['none', 'send'], changelog: hostile.line() },
    },
  })),
  'POST /v1/extension-installations': one(({ spareExtension }) => ({
    body: { extensionId: spareExtension, sendMode: 'send', acceptPermissions: [] },
  })),
  'PATCH /v1/extension-installations/{id}': ({ own, installation }) =>
    [installation, ...own].map((id) => ({ params: { id }, body: { sendMode: 'send' } })),
  'POST /v1/extension-installations/{id}/upgrade': one(({ installation }) => ({
    params: { id: installation },
    body: { acceptPermissions: [] },
  })),
  'POST /v1/extension-installations/{id}/rotate-credentials': bare('installation'),
  'POST /v1/extension-installations/{id}/disable': bare('spareInstallation'),
  'POST /v1/extension-installations/{id}/enable': bare('spareInstallation'),
  'POST /v1/extensions/{id}/versions/{version}/withdraw': one(({ spareExtension }) => ({
    params: { id: spareExtension, version: '1.0.0' },
  })),
  'DELETE /v1/extension-installations/{id}': bare('spareInstallation'),
  'DELETE /v1/extensions/{id}': bare('spareExtension'),
  'POST /v1/api-keys': (_, hostile) => [
    { body: { name: hostile.line(), permissions: { messages: ['send'] } } },
    { body: { name: hostile.line(), role: 'owner', owner: 'person' } },
  ],
  'PATCH /v1/api-keys/{id}': one(({ key }, hostile) => ({
    params: { id: key },
    body: { name: hostile.line(), constraints: null },
  })),
  'POST /v1/api-keys/{id}/rotate': bare('key'),
  'DELETE /v1/api-keys/{id}': bare('spareKey'),
  'POST /v1/members': (_, hostile) =>
    ['viewer', 'owner'].map((role) => ({
      body: { email: hostile.address(), role, name: hostile.line(), mail: false },
    })),
  'PATCH /v1/members/{id}': one(({ member }, hostile) => ({
    params: { id: member },
    body: { name: hostile.line(), role: 'owner' },
  })),
  'POST /v1/members/{id}/resend': bare('member'),
  'DELETE /v1/members/{id}': bare('spareMember'),
  'POST /v1/organizations/onboarding/reapply': one((_, hostile) => ({
    body: { expectedGeneration: 1, note: hostile.line() },
  })),
};
