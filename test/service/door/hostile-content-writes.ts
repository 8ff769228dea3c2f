// Hostile writes of contacts, groups, senders, brands, templates and campaigns.
import { bare, type Calls, emailOf, type Hostile, one, type Targets } from './hostile-call.ts';

const campaignOf = ({ address, optIn, group, mailbox }: Targets, hostile: Hostile) => ({
  email: { ...emailOf(hostile), replyTo: [hostile.address()], unsubscribeGroupId: group },
  from: { email: address, name: hostile.line() },
  audience: { includeTags: ['stranger'] },
  metadata: { hostile: hostile.line(), optIn, mailbox },
  transactional: true,
});

/** By `METHOD path`, in the order in which an agent calls them. */
export const contentWrites: Readonly<Record<string, Calls>> = {
  'POST /v1/contacts': one((_, hostile) => ({
    body: { email: hostile.address(), name: hostile.line(), tags: ['reader', 'stranger'] },
  })),
  'PATCH /v1/contacts/{id}': one(({ contact }, hostile) => ({
    params: { id: contact },
    body: { name: hostile.line(), profile: { firstName: hostile.line() } },
  })),
  'POST /v1/contacts/{id}/tags': one(({ stranger }) => ({
    params: { id: stranger },
    body: { tags: ['reader'] },
  })),
  'DELETE /v1/contacts/{id}/tags': one(({ spareContact }) => ({
    params: { id: spareContact },
    body: { tags: ['reader'] },
  })),
  'POST /v1/contacts/import': one(({ optIn }, hostile) => ({
    query: { requireConfirmation: optIn },
    ...{ body: `email\n${hostile.address()}\n`, type: 'text/csv' },
  })),
  'DELETE /v1/contacts/{id}': bare('spareContact'),
  'POST /v1/contact-groups': one((_, hostile) => ({
    body: { name: hostile.line(), description: hostile.line(), query: { tag: 'stranger' } },
  })),
  'PATCH /v1/contact-groups/{id}': one(({ contacts }, hostile) => ({
    params: { id: contacts },
    body: { name: hostile.line(), query: { any: [{ tag: 'stranger' }, { tag: 'reader' }] } },
  })),
  'POST /v1/contact-groups/{id}/members': one(({ spareContacts, stranger }) => ({
    params: { id: spareContacts },
    body: { contactIds: [stranger] },
  })),
  'DELETE /v1/contact-groups/{id}/members': one(({ spareContacts, stranger }) => ({
    params: { id: spareContacts },
    body: { contactIds: [stranger] },
  })),
  'DELETE /v1/contact-groups/{id}': bare('spareContacts'),
  'POST /v1/unsubscribe-groups': one((_, hostile) => ({
    body: { name: hostile.line(), description: hostile.line(), confirm: true, public: true },
  })),
  'PATCH /v1/unsubscribe-groups/{id}': ({ optIn, group }, hostile) =>
    [optIn, group].map((id) => ({
      params: { id },
      body: { name: hostile.line(), description: hostile.line() },
    })),
  'POST /v1/unsubscribe-groups/{id}/members': one(({ optIn, stranger }) => ({
    params: { id: optIn },
    body: { contactIds: [stranger] },
  })),
  'DELETE /v1/unsubscribe-groups/{id}/members': one(({ optIn, stranger }) => ({
    params: { id: optIn },
    body: { contactIds: [stranger] },
  })),
  'DELETE /v1/unsubscribe-groups/{id}': bare('spareGroup'),
  'POST /v1/conversations': one((_, hostile) => ({ body: { title: hostile.line() } })),
  'PATCH /v1/conversations/{id}': one(({ conversation }, hostile) => ({
    params: { id: conversation },
    body: { title: hostile.line() },
  })),
  'POST /v1/conversations/{id}/tags': one(({ conversation }, hostile) => ({
    params: { id: conversation },
    body: { tags: [hostile.name()] },
  })),
  'DELETE /v1/conversations/{id}/tags': one(({ conversation }, hostile) => ({
    params: { id: conversation },
    body: { tags: [hostile.name()] },
  })),
  'POST /v1/conversations/{id}/resolve': one(({ conversation }, hostile) => ({
    params: { id: conversation },
    body: { resolutionNotes: hostile.line() },
  })),
  'POST /v1/conversations/{id}/reopen': one(({ conversation }, hostile) => ({
    params: { id: conversation },
    body: { statusReason: hostile.line() },
  })),
  'POST /v1/conversations/{id}/archive': one(({ spareConversation }, hostile) => ({
    params: { id: spareConversation },
    body: { statusReason: hostile.line() },
  })),
  'DELETE /v1/conversations/{id}': bare('spareConversation'),
  'POST /v1/email/blocks': one((_, hostile) => ({
    body: { address: hostile.address(), reason: 'manual' },
  })),
  'DELETE /v1/email/blocks/{id}': bare('block'),
  'POST /v1/email/senders': ({ address }, hostile) => [
    {
      body: {
        ...{ email: `${hostile.name()}@sandbox.test`, name: hostile.line(), isDefault: true },
        replyToEmails: [hostile.address(), address],
      },
    },
    { body: { email: hostile.address(), name: hostile.line() } },
  ],
  'PATCH /v1/email/senders/{id}': one(({ sender }, hostile) => ({
    params: { id: sender },
    body: { name: hostile.line(), replyToEmails: [hostile.address()] },
  })),
  'POST /v1/email/senders/{id}/verify': one(({ pending }) => ({
    params: { id: pending },
    body: { token: 'x'.repeat(43) },
  })),
  'POST /v1/email/senders/{id}/resend': bare('pending'),
  'DELETE /v1/email/senders/{id}': bare('spareSender'),
  'POST /v1/brands': one((_, hostile) => ({
    body: { slug: hostile.name(), name: hostile.line(), footer: { companyName: hostile.line() } },
  })),
  'PATCH /v1/brands/{slug}': one(({ brand }, hostile) => ({
    params: { slug: brand },
    body: { name: hostile.line(), footer: { companyName: hostile.line() } },
  })),
  'POST /v1/brands/{slug}/default': one(({ spareBrand }) => ({ params: { slug: spareBrand } })),
  'DELETE /v1/brands/{slug}': one(({ spareBrand }) => ({ params: { slug: spareBrand } })),
  'POST /v1/templates': one((_, hostile) => ({
    body: {
      ...{ name: hostile.line(), slug: hostile.name() },
      ...{ subject: hostile.line(), html: hostile.html() },
    },
  })),
  'PATCH /v1/templates/{id}': one(({ template }, hostile) => ({
    params: { id: template },
    body: { name: hostile.line(), description: hostile.line() },
  })),
  'PUT /v1/templates/{id}/workspace/files': async ({ template }, hostile) => [
    {
      params: { id: template },
      body: {
        ...{ expectedRevision: await hostile.revision(template), idempotencyKey: hostile.name() },
        files: { 'body.html': hostile.html(), 'template.yaml': `subject: ${hostile.line()}\n` },
      },
    },
  ],
  'POST /v1/templates/{id}/workspace/save': async ({ template }, hostile) => [
    {
      params: { id: template },
      body: {
        ...{ expectedRevision: await hostile.revision(template), idempotencyKey: hostile.name() },
        message: hostile.line(),
      },
    },
  ],
  'POST /v1/templates/{id}/publish': bare('template'),
  'POST /v1/templates/{id}/workspace/discard': async ({ template }, hostile) => [
    {
      params: { id: template },
      body: {
        ...{ expectedRevision: await hostile.revision(template), idempotencyKey: hostile.name() },
      },
    },
  ],
  'POST /v1/templates/{id}/workspace/restore': async ({ template }, hostile) => [
    {
      params: { id: template },
      body: {
        ...{ expectedRevision: await hostile.revision(template), idempotencyKey: hostile.name() },
        commit: 'a'.repeat(40),
      },
    },
  ],
  'PUT /v1/templates/{id}/workspace/bundle': one(({ template }, hostile) => ({
    params: { id: template },
    ...{ body: hostile.line(), type: 'application/x-git-bundle' },
  })),
  'POST /v1/templates/{id}/render': one(({ template, brand }) => ({
    params: { id: template },
    body: { brand },
  })),
  'POST /v1/templates/{id}/duplicate': one(({ template }, hostile) => ({
    params: { id: template },
    body: { name: hostile.line(), slug: hostile.name() },
  })),
  'POST /v1/templates/families': one((_, hostile) => ({ body: { name: hostile.line() } })),
  'PATCH /v1/templates/families/{familyId}': one(({ family }, hostile) => ({
    params: { familyId: family },
    body: { name: hostile.line() },
  })),
  'POST /v1/templates/families/{familyId}/members/{templateId}': one(({ family, template }) => ({
    params: { familyId: family, templateId: template },
  })),
  'DELETE /v1/templates/families/{familyId}/members/{templateId}': one(({ family, template }) => ({
    params: { familyId: family, templateId: template },
  })),
  'DELETE /v1/templates/families/{familyId}': one(({ spareFamily }) => ({
    params: { familyId: spareFamily },
  })),
  'POST /v1/templates/{id}/archive': bare('spareTemplate'),
  'DELETE /v1/templates/{id}': bare('spareTemplate'),
  'POST /v1/campaigns': one((things, hostile) => ({
    body: { name: hostile.line(), ...campaignOf(things, hostile) },
  })),
  'PATCH /v1/campaigns/{id}': one((things, hostile) => ({
    params: { id: things.campaign },
    body: campaignOf(things, hostile),
  })),
  'POST /v1/campaigns/{id}/duplicate': one(({ campaign }, hostile) => ({
    params: { id: campaign },
    body: { name: hostile.line() },
  })),
  'POST /v1/campaigns/{id}/render': one(({ campaign, contact }) => ({
    params: { id: campaign },
    body: { contactId: contact },
  })),
  'POST /v1/campaigns/{id}/test': one(({ campaign }, hostile) => ({
    params: { id: campaign },
    body: { to: [hostile.address()] },
  })),
  'POST /v1/campaigns/{id}/runs': one(({ campaign }) => ({ params: { id: campaign }, body: {} })),
  ...Object.fromEntries(
    ['pause', 'resume', 'cancel', 'retry'].map((verb) => [
      `POST /v1/campaigns/{id}/runs/{runId}/${verb}`,
      one(({ spareCampaign, spareRun }) => ({
        params: { id: spareCampaign, runId: spareRun },
        body: {},
      })),
    ]),
  ),
  'DELETE /v1/campaigns/{id}': bare('spareCampaign'),
};
