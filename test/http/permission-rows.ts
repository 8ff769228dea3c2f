// The callers that each route admits, written by hand and not derived from the code: one row for
// each route of the API. A route without a row fails permissions.test.ts. Before the rows, the
// resources of the routes: their creation, and the traits that resources.test.ts needs to test
// their common behaviour.

import { generateKeyPairSync } from 'node:crypto';
import { createKey } from '../../src/access/keys/keys.ts';
import { createMember } from '../../src/access/members/members.ts';
import { memberNoun } from '../../src/access/members/schema.ts';
import { createCampaign } from '../../src/campaigns/setup/campaigns.ts';
import { campaignNoun, createCampaignInput } from '../../src/campaigns/setup/schema.ts';
import { createBrand } from '../../src/content/brands/brands.ts';
import { brandNoun } from '../../src/content/brands/schema.ts';
import { addMember, createFamily } from '../../src/content/families/families.ts';
import { createTemplate } from '../../src/content/templates/create.ts';
import { publishTemplate } from '../../src/content/templates/publish.ts';
import { familyNoun, templateNoun } from '../../src/content/templates/schema.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { installationNoun } from '../../src/extensions/installation-schema.ts';
import { extensionNoun } from '../../src/extensions/schema.ts';
import { disableInstallation } from '../../src/extensions/standing.ts';
import { upgradeInstallation } from '../../src/extensions/upgrade.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { createMailbox, pauseMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import type { Mailbox } from '../../src/identity/mailboxes/schema.ts';
import { senderNoun } from '../../src/identity/senders/schema.ts';
import { createSender } from '../../src/identity/senders/senders.ts';
import { pauseWarming, startWarming } from '../../src/identity/warming/warming.ts';
import { createDraft } from '../../src/inbox/replies/drafts.ts';
import { savedReplyNoun } from '../../src/inbox/saved-replies/schema.ts';
import { createNote } from '../../src/inbox/threads/marks/notes.ts';
import { listThreads } from '../../src/inbox/threads/threads.ts';
import { createBlock } from '../../src/people/blocks/blocks.ts';
import { createContact } from '../../src/people/contacts/contacts.ts';
import { createContactGroup } from '../../src/people/contacts/groups/groups.ts';
import { contactGroupNoun } from '../../src/people/contacts/groups/schema.ts';
import { contactNoun } from '../../src/people/contacts/schema.ts';
import {
  createConversation,
  moveConversation,
} from '../../src/people/conversations/conversations.ts';
import { conversationNoun } from '../../src/people/conversations/schema.ts';
import { createGroup } from '../../src/people/unsubscribe-groups/groups.ts';
import type { IdKind } from '../../src/platform/runtime/ids.ts';
import type { RunRow } from '../../src/run-ledger/queries.ts';
import type { RunStatus } from '../../src/run-ledger/schema.ts';
import { createWebhook } from '../../src/webhooks/endpoints/webhooks.ts';
import { webhookNoun } from '../../src/webhooks/schema.ts';
import { storedRun } from '../campaigns/campaigns/fixtures.ts';
import { templateBody } from '../content/templates/fixtures.ts';
import { makeExtension, makeInstallation, publish } from '../extensions/fixtures.ts';
import { agentOf, propose } from '../inbox/approvals/fixtures.ts';
import { arrive } from '../inbox/threads/mails.ts';
import { payload, send } from '../outbound/messages/fixtures.ts';
import type { HttpApi } from '../support/http-client.ts';
import type { CallerName, Side } from './permission-world.ts';

const dkimPem = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** Context in which a resource is created: `serial` differs each time. */
interface Maker {
  app: App;
  operator: Caller;
  /** Client with an owner's key. */
  api: HttpApi;
  /** Name of the organization, and of its verified domain. */
  name: string;
  domain: string;
  serial: number;
}

/** A kind of resource that the path of a route can name. */
export interface Resource {
  path: string;
  idKind: IdKind;
  /** Field by which its path names it, if not by `id`. */
  named?: 'id' | 'slug';
  /** Parameter of its path, if its name is not that of the field. */
  parameter?: 'familyId';
  /** Creates one; `id` is its name in the path. */
  make(maker: Maker): Promise<{ id: string }>;
  /** Joins resources.test.ts. */
  conforms?: {
    /** Topic of its commands, and the verb that removes one. */
    topic: string;
    remove?: string;
    /** Audited action by method; absent without audit entries. */
    audits?: Readonly<Record<string, string>>;
    /** The answer to its creation is another object. */
    answersOtherwise?: true;
    /** Fields that only the answer to its creation has. */
    shownOnce?: readonly string[];
    /** Fields that are shorter in its list, with any value. */
    notListed?: Readonly<Record<string, unknown>>;
    /** After its DELETE the resource still exists, in another state. */
    stays?: true;
  };
  /** A value of each query parameter of its list, besides the page. */
  samples?: Readonly<Record<string, string | ((own: Side) => string)>>;
}

const messages = '/v1/messages';
const domains = '/v1/email/domains';
const senders = '/v1/email/senders';
const blocks = '/v1/email/blocks';
const contacts = '/v1/contacts';
const conversations = '/v1/conversations';
const mailboxes = '/v1/mailboxes';
const thread = '/v1/mailboxes/{id}/threads/{threadId}';
const answered = `${mailboxes}/{id}/messages/{messageId}`;
const draft = `${mailboxes}/{id}/drafts/{draftId}`;
const namespaces = '/v1/mailbox-namespaces';
const catchAll = '/v1/email/catch-all';
const keys = '/v1/api-keys';
const members = '/v1/members';
const webhooks = '/v1/webhooks';
const contactGroups = '/v1/contact-groups';
const unsubscribeGroups = '/v1/unsubscribe-groups';
const savedReplies = '/v1/saved-replies';
const brands = '/v1/brands';
const templates = '/v1/templates';
const workspace = `${templates}/{id}/workspace`;
const families = '/v1/templates/families';
const extensions = '/v1/extensions';
const versions = `${extensions}/{id}/versions`;
const installations = '/v1/extension-installations';
const campaigns = '/v1/campaigns';
const run = `${campaigns}/{id}/runs/{runId}`;
const member = `${families}/{familyId}/members/{templateId}`;

const unknownAction = 'act_0123456789abcdefghjk';
const mailboxSamples = { status: 'active', namespaceId: 'ns_0123456789abcdefghjk' };

const templateSamples = {
  status: 'draft',
  channel: 'email',
  slug: 'own-1',
  familyId: 'tfam_0123456789abcdefghjk',
};

const conversationSamples = {
  status: 'active',
  tag: 'made',
  externalId: 'case-1',
  contactId: 'contact_0123456789abcdefghjk',
};

const makeConversation = ({ app, operator, serial, name }: Maker) =>
  createConversation(app, operator, { externalId: `${name}-${serial}`, tags: ['made'] });

const ramp = {
  identity: 'new' as const,
  initialDailyRecipients: 50,
  dailyGrowthPercent: 30,
  targetDailyRecipients: 5_000,
};

async function provenDomain({ app, operator, serial, domain }: Maker) {
  const added = await addDomain(app, operator, { domain: `w${serial}.${domain}`, dkim: 'ed25519' });
  return verifyDomain(app, operator, added.id, { force: true });
}

async function warmingDomain(maker: Maker) {
  const domain = await provenDomain(maker);
  await startWarming(maker.app, maker.operator, domain.id, ramp);
  return domain;
}

async function pausedDomain(maker: Maker) {
  const domain = await warmingDomain(maker);
  await pauseWarming(maker.app, maker.operator, domain.id, {});
  return domain;
}

/** The newest proposal of each proposing mailbox. */
const proposals = new Map<string, string>();

async function proposingMailbox(maker: Maker): Promise<Mailbox> {
  const { app, operator, serial, domain } = maker;
  const mailbox = await createMailbox(app, operator, { slug: `n${serial}`, domain });
  const agent = await agentOf(app, operator, mailbox.id);
  for (let i = 0; i < 2; i++) {
    proposals.set(mailbox.id, (await propose(app, mailbox.id, agent)).id);
  }
  return mailbox;
}

/** Thread of each threaded mailbox, by the id of the mailbox. */
const threadsOf = new Map<string, ThreadPath>();

interface ThreadPath {
  threadId: string;
  noteId: string;
  messageId: string;
  draftId: string;
}

/** Creates a mailbox with a received mail, its thread, a note and drafts. */
async function threadedMailbox({ app, operator, serial, domain }: Maker) {
  const address = `t${serial}@${domain}`;
  const { id } = await createMailbox(app, operator, { slug: `t${serial}`, address });
  const attached = [
    'Content-Type: application/zip; name="a.zip"',
    'Content-Disposition: attachment',
  ];
  const messageId = await arrive(app, {
    rcpt: [address],
    to: address,
    headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
    text: ['--b', '', `of ${domain}`, '--b', ...attached, '', 'zip', '--b--'].join('\r\n'),
  });
  const { items } = await listThreads(app, operator, id, { limit: 1 });
  const threadId = items[0]?.id ?? '';
  const note = await createNote(app, operator, id, threadId, { body: `of ${domain}` });
  const draft = { to: [`to@${domain}`], subject: 'Draft', text: `of ${domain}` };
  await createDraft(app, operator, id, draft);
  const { id: draftId } = await createDraft(app, operator, id, draft);
  threadsOf.set(id, { threadId, noteId: note.id, messageId, draftId });
  return { id };
}

/** A template of its own for each family, by the id of the family. */
const templatesFor = new Map<string, string>();

async function newFamily({ app, operator, serial, name }: Maker) {
  const family = await createFamily(app, operator, { name: `${name} ${serial}` });
  const template = await createTemplate(app, operator, templateBody(`${name}-for-${serial}`));
  templatesFor.set(family.id, template.id);
  return family;
}

/** Returns the thread of the mailbox in the path, or of the organization's own mailbox. */
export function inThread({ shared }: Side, id: string | null): ThreadPath {
  const none = { threadId: '', noteId: '', messageId: '', draftId: '' };
  return threadsOf.get(id ?? '') ?? threadsOf.get(shared.threadedMailbox) ?? none;
}

/** `keys:write` alone manages a writeKey, `keys:delete` a deleteKey. */
const campaignBody = (serial: number) => ({
  name: `Campaign ${serial}`,
  email: { subject: 'News', text: 'News' },
  audience: { includeTags: ['made'] },
  transactional: true,
});

const makeCampaign = ({ app, operator, serial }: Maker) =>
  createCampaign(app, operator, createCampaignInput.parse(campaignBody(serial)));

/** The run of each campaign that has one. */
const runsFor = new Map<string, string>();

/** Returns the run of the campaign in the path, or the organization's own running one. */
export const runOf = ({ shared }: Side, id: string | null) => ({
  runId: runsFor.get(id ?? '') ?? runsFor.get(shared.runningCampaign) ?? '',
});

/** A campaign with a run in this status. */
const campaignWith = (status: RunStatus, columns: Partial<RunRow> = {}): Resource => ({
  path: campaigns,
  idKind: campaignNoun,
  async make(maker) {
    const campaign = await makeCampaign(maker);
    const columnsOf = { ...columns, campaign_id: campaign.id };
    const { id } = await storedRun(maker.app, maker.operator, status, columnsOf);
    runsFor.set(campaign.id, id);
    return campaign;
  },
});

export const resources = {
  extension: {
    path: extensions,
    idKind: extensionNoun,
    async make({ app, operator }) {
      const extension = await makeExtension(app, operator);
      await publish(app, operator, extension.id, { version: '1.0.0' });
      return extension;
    },
  },
  installation: {
    path: installations,
    idKind: installationNoun,
    make: async ({ app, operator }) =>
      (await makeInstallation(app, operator, {}, { sendMode: 'send' })).installed,
  },
  disabledInstallation: {
    path: installations,
    idKind: installationNoun,
    async make({ app, operator }) {
      const { installed } = await makeInstallation(app, operator);
      return disableInstallation(app, operator, installed.id);
    },
  },
  /** An installation with a version change and a newer version. */
  upgradedInstallation: {
    path: installations,
    idKind: installationNoun,
    async make({ app, operator }) {
      const { extension, installed } = await makeInstallation(app, operator);
      await publish(app, operator, extension.id, { version: '1.1.0' });
      await upgradeInstallation(app, operator, installed.id, {});
      await publish(app, operator, extension.id, { version: '1.2.0' });
      return installed;
    },
  },
  campaign: {
    path: campaigns,
    idKind: campaignNoun,
    make: makeCampaign,
    conforms: {
      topic: 'campaigns',
      audits: {
        POST: 'campaign.created',
        PATCH: 'campaign.updated',
        DELETE: 'campaign.deleted',
      },
      notListed: { email: 'without its body', audience: 'without its contacts' },
    },
  },
  runningCampaign: campaignWith('running'),
  pausedCampaign: campaignWith('paused'),
  failedCampaign: campaignWith('completed', { failed_count: 1 }),
  message: {
    path: messages,
    idKind: 'message',
    make: ({ api, name }) =>
      send(api, { ...payload({ subject: `of ${name}` }), metadata: { orderId: 7 } }),
    conforms: {
      topic: 'messages',
      audits: { DELETE: 'message.deleted' },
      answersOtherwise: true,
    },
    samples: {
      startDate: '2026-01-05T11:59:58.123Z',
      endDate: '2026-01-06T11:59:58.123Z',
      after: '2026-01-05T11:59:58.123Z',
      since: '2026-01-05T11:59:58.123Z',
      before: '2026-01-06T11:59:58.123Z',
      until: '2026-01-06T11:59:58.123Z',
      channel: 'email',
      direction: 'inbound',
      status: 'failed',
      conversationId: 'conv_0123456789abcdefghjk',
      contactId: 'contact_0123456789abcdefghjk',
      recipient: 'u7@example.com',
      sender: 'hello@own.example',
      subject: 'of own',
      metadata: 'orderId=7',
      tag: 'billing',
      campaignRunId: 'run_0123456789abcdefghjk',
      templateId: 'tmpl_0123456789abcdefghjk',
    },
  },
  domain: {
    path: domains,
    idKind: 'domain',
    make: ({ app, operator, serial, domain }) =>
      addDomain(app, operator, { domain: `n${serial}.${domain}`, dkim: 'ed25519' }),
    conforms: { topic: 'domains', audits: { POST: 'domain.added', DELETE: 'domain.deleted' } },
  },
  /** Verified domains: without a warming plan, with an active one, with a paused one. */
  provenDomain: { path: domains, idKind: 'domain', make: provenDomain },
  warmingDomain: { path: domains, idKind: 'domain', make: warmingDomain },
  pausedDomain: { path: domains, idKind: 'domain', make: pausedDomain },
  sender: {
    path: senders,
    idKind: senderNoun,
    make: ({ app, operator, serial, domain }) =>
      createSender(app, operator, { email: `n${serial}@${domain}` }),
    conforms: {
      topic: 'senders',
      audits: { POST: 'sender.created', PATCH: 'sender.updated', DELETE: 'sender.deleted' },
    },
    samples: { verificationStatus: 'verified', isActive: 'true', isDefault: 'false' },
  },
  block: {
    path: blocks,
    idKind: 'block',
    make: ({ app, operator, serial, domain }) =>
      createBlock(app, operator, { address: `n${serial}@${domain}`, reason: 'manual' }),
    conforms: { topic: 'blocks', audits: { POST: 'block.created', DELETE: 'block.deleted' } },
    samples: { reason: 'manual', address: ({ blockedAddress }) => blockedAddress },
  },
  mailbox: {
    path: mailboxes,
    idKind: 'mailbox',
    make: ({ app, operator, serial, domain }) =>
      createMailbox(app, operator, { slug: `n${serial}`, domain }),
    conforms: {
      topic: 'mailboxes',
      audits: { POST: 'mailbox.created', PATCH: 'mailbox.updated', DELETE: 'mailbox.deleted' },
    },
    samples: mailboxSamples,
  },
  /** A paused mailbox. */
  pausedMailbox: {
    path: mailboxes,
    idKind: 'mailbox',
    make: async ({ app, operator, serial, domain }) => {
      const { id } = await createMailbox(app, operator, { slug: `n${serial}`, domain });
      return pauseMailbox(app, operator, id);
    },
    samples: mailboxSamples,
  },
  /** A mailbox with two proposals. */
  proposingMailbox: {
    path: mailboxes,
    idKind: 'mailbox',
    make: proposingMailbox,
    samples: mailboxSamples,
  },
  /** A mailbox with a thread that has a note. */
  threadedMailbox: {
    path: mailboxes,
    idKind: 'mailbox',
    make: threadedMailbox,
    samples: mailboxSamples,
  },
  unsubscribeGroup: {
    path: unsubscribeGroups,
    idKind: 'unsubscribeGroup',
    make: ({ app, operator, serial, name }) =>
      createGroup(app, operator, { name: `${name} ${serial}`, confirm: true }),
    conforms: {
      topic: 'unsubscribe-groups',
      audits: {
        POST: 'unsubscribe-group.created',
        PATCH: 'unsubscribe-group.updated',
        DELETE: 'unsubscribe-group.deleted',
      },
    },
  },
  savedReply: {
    path: savedReplies,
    idKind: savedReplyNoun,
    make: async ({ api, serial, name }) =>
      (await api.post<{ id: string }>(savedReplies, { name: `${name} ${serial}`, text: 'x' })).body,
    conforms: {
      topic: 'saved-replies',
      audits: {
        POST: 'saved-reply.created',
        PATCH: 'saved-reply.updated',
        DELETE: 'saved-reply.deleted',
      },
    },
  },
  brand: {
    path: brands,
    idKind: brandNoun,
    named: 'slug',
    make: async ({ app, operator, serial, name }) => {
      const { slug } = await createBrand(app, operator, { slug: `${name}-${serial}`, name });
      return { id: slug };
    },
    conforms: {
      topic: 'brands',
      audits: { POST: 'brand.created', PATCH: 'brand.updated', DELETE: 'brand.deleted' },
    },
  },
  template: {
    path: templates,
    idKind: templateNoun,
    make: ({ app, operator, serial, name }) =>
      createTemplate(app, operator, templateBody(`${name}-${serial}`)),
    conforms: {
      topic: 'templates',
      audits: {
        POST: 'template.created',
        PATCH: 'template.updated',
        DELETE: 'template.deleted',
      },
    },
    samples: templateSamples,
  },
  /** A template with a version. */
  publishedTemplate: {
    path: templates,
    idKind: templateNoun,
    make: async ({ app, operator, serial, name }) => {
      const { id } = await createTemplate(app, operator, templateBody(`${name}-${serial}`));
      return publishTemplate(app, operator, id);
    },
    samples: templateSamples,
  },
  family: {
    path: families,
    idKind: familyNoun,
    parameter: 'familyId',
    make: newFamily,
    conforms: {
      topic: 'families',
      audits: {
        POST: 'template-family.created',
        PATCH: 'template-family.updated',
        DELETE: 'template-family.deleted',
      },
    },
  },
  /** A family with a member. */
  memberFamily: {
    path: families,
    idKind: familyNoun,
    parameter: 'familyId',
    async make(maker) {
      const { id } = await newFamily(maker);
      const path = { familyId: id, templateId: templatesFor.get(id) ?? '' };
      return addMember(maker.app, maker.operator, path);
    },
  },
  contact: {
    path: contacts,
    idKind: contactNoun,
    make: ({ app, operator, serial, domain }) =>
      createContact(app, operator, { email: `c${serial}@${domain}`, tags: ['made'] }),
    conforms: {
      topic: 'contacts',
      audits: { POST: 'contact.created', PATCH: 'contact.updated', DELETE: 'contact.deleted' },
    },
    samples: {
      tag: 'made',
      email: 'c1@own.example',
      externalId: 'crm-1',
      status: 'bounced',
      q: 'ada lov',
      updatedSince: '2026-01-05T11:59:58.123Z',
    },
  },
  conversation: {
    path: conversations,
    idKind: conversationNoun,
    make: makeConversation,
    conforms: {
      topic: 'conversations',
      audits: {
        POST: 'conversation.created',
        PATCH: 'conversation.updated',
        DELETE: 'conversation.deleted',
      },
    },
    samples: conversationSamples,
  },
  resolvedConversation: {
    path: conversations,
    idKind: conversationNoun,
    async make(maker) {
      const { id } = await makeConversation(maker);
      return moveConversation(maker.app, maker.operator, id, 'resolve');
    },
    samples: conversationSamples,
  },
  contactGroup: {
    path: contactGroups,
    idKind: contactGroupNoun,
    make: ({ app, operator, serial, name }) =>
      createContactGroup(app, operator, { name: `${name} ${serial}` }),
    conforms: {
      topic: 'groups',
      audits: {
        POST: 'contact-group.created',
        PATCH: 'contact-group.updated',
        DELETE: 'contact-group.deleted',
      },
    },
  },
  webhook: {
    path: webhooks,
    idKind: webhookNoun,
    make: ({ app, operator, serial, name }) =>
      createWebhook(app, operator, { url: `https://${name}.example/${serial}`, events: ['*'] }),
    conforms: {
      topic: 'webhooks',
      audits: { POST: 'webhook.created', PATCH: 'webhook.updated', DELETE: 'webhook.deleted' },
      shownOnce: ['secret'],
    },
  },
  writeKey: {
    path: keys,
    idKind: 'key',
    make: ({ app, operator, name }) =>
      createKey(app, operator, { name, permissions: { keys: ['write'] } }),
    conforms: {
      topic: 'keys',
      remove: 'revoke',
      audits: { POST: 'key.created', PATCH: 'key.updated', DELETE: 'key.revoked' },
      shownOnce: ['key'],
      stays: true,
    },
  },
  member: {
    path: members,
    idKind: memberNoun,
    make: ({ app, operator, name, serial }) =>
      createMember(app, operator, {
        ...{ email: `m${serial}@${name}.example`, role: 'viewer', mail: false },
      }),
    conforms: {
      topic: 'members',
      audits: { POST: 'member.created', PATCH: 'member.updated', DELETE: 'member.deleted' },
    },
  },
  deleteKey: {
    path: keys,
    idKind: 'key',
    make: ({ app, operator, name }) =>
      createKey(app, operator, { name, permissions: { keys: ['delete'] } }),
  },
} satisfies Readonly<Record<string, Resource>>;

export type ResourceKind = keyof typeof resources;

/** Returns the path of one resource, with its parameter. */
export function onePath({ path, named = 'id', parameter }: Resource): string {
  return `${path}/{${parameter ?? named}}`;
}

export interface Row {
  /** Callers that may use the route; all others are refused. */
  may: readonly CallerName[];
  /** Status that they get. */
  gives: 200 | 201 | 404 | 409 | 422;
  /** Resource of `{id}` in the path; absent if the path has no id. */
  on?: ResourceKind;
  /** The request uses its resource up: each gets a fresh one. */
  spends?: boolean;
  query?: string;
  /** Other parameters of the path, from the own organization. */
  params?: (own: Side, id: string | null) => Record<string, string>;
  /** A body for a caller of the organization; `serial` differs in every request. */
  body?: (own: Side, serial: number) => unknown;
  headers?: (serial: number) => Record<string, string>;
  /** A body that names a resource of another organization, which answers 404. */
  foreignBody?: (foreign: Side) => unknown;
  /**
   * Returns a body that makes the same resource as another organization has: it is allowed, and
   * reveals nothing.
   */
  sameBody?: (foreign: Side) => unknown;
  /** A filter by a value of another organization, which finds nothing. */
  foreignQuery?: (foreign: Side) => string;
}

const installBody = (extensionId: string) => ({
  ...{ extensionId, version: '1.0.0', acceptPermissions: [] },
});

const all = ['owner', 'admin', 'developer'] as const;

const sends: readonly CallerName[] = [...all, 'sender', 'mailer'];
const sendsAndReads: readonly CallerName[] = [...all, 'sender'];
const readsMessages: readonly CallerName[] = [...all, 'sender', 'viewer', 'reader', 'support'];
const deletesMessages: readonly CallerName[] = [...all, 'remover'];
/** Domains and senders, and with `writesDomains` blocks too. */
const readsDomains: readonly CallerName[] = [...all, 'viewer', 'postmaster', 'editor'];
const readsBlocks: readonly CallerName[] = [...all, 'viewer', 'postmaster', 'support'];
const writesDomains: readonly CallerName[] = [...all, 'writer', 'postmaster'];
/** Custom tracking. */
const readsTracking: readonly CallerName[] = [...all, 'viewer'];
const writesTracking: readonly CallerName[] = [...all, 'writer'];
const deletesDomains: readonly CallerName[] = [...all, 'remover', 'postmaster'];
const readsConversations: readonly CallerName[] = [...all, 'viewer'];
const writesConversations: readonly CallerName[] = [...all, 'writer'];
const deletesConversations: readonly CallerName[] = [...all, 'remover'];
const readsContacts: readonly CallerName[] = [...all, 'viewer', 'editor', 'support'];
const writesContacts: readonly CallerName[] = [...all, 'writer', 'editor'];
const deletesContacts: readonly CallerName[] = [...all, 'remover', 'editor'];
const readsTemplates: readonly CallerName[] = [...all, 'sender', 'viewer', 'editor'];
const writesTemplates: readonly CallerName[] = [...all, 'writer', 'editor'];
const deletesTemplates: readonly CallerName[] = [...all, 'remover', 'editor'];
const readsExtensions: readonly CallerName[] = [...all, 'viewer'];
const writesExtensions: readonly CallerName[] = [...all, 'writer'];
const deletesExtensions: readonly CallerName[] = [...all, 'remover'];
const readsCampaigns: readonly CallerName[] = [...all, 'viewer', 'editor', 'analyst'];
const writesCampaigns: readonly CallerName[] = [...all, 'writer', 'editor'];
const deletesCampaigns: readonly CallerName[] = [...all, 'remover', 'editor'];
const runsCampaigns: readonly CallerName[] = [...all, 'editor'];
const readsBrands: readonly CallerName[] = [...all, 'viewer', 'editor'];
const writesBrands: readonly CallerName[] = [...all, 'writer', 'editor'];
const deletesBrands: readonly CallerName[] = [...all, 'remover', 'editor'];
const writesWebhooks: readonly CallerName[] = [...all, 'writer'];
const deletesWebhooks: readonly CallerName[] = [...all, 'remover'];
/** Mailboxes and namespaces. */
const readsMailboxes: readonly CallerName[] = [...all, 'viewer', 'support'];
const writesMailboxes: readonly CallerName[] = [...all, 'writer', 'support'];
const deletesMailboxes: readonly CallerName[] = [...all, 'remover'];
const sendsFromMailboxes: readonly CallerName[] = [...all, 'support'];
/** Addresses, status and catch-all. */
const configuresMailboxes: readonly CallerName[] = all;
const readsKeys: readonly CallerName[] = ['owner', 'admin', 'viewer', 'locksmith'];
const writesKeys: readonly CallerName[] = ['owner', 'admin', 'writer', 'locksmith'];
const deletesKeys: readonly CallerName[] = ['owner', 'admin', 'remover', 'locksmith'];
const readsMembers: readonly CallerName[] = ['owner', 'admin', 'viewer'];
const readsOrganization: readonly CallerName[] = ['owner', 'admin', 'viewer', 'counter'];
/** The log of events too. */
const readsWebhooks: readonly CallerName[] = [...all, 'viewer'];
const readsAnalytics: readonly CallerName[] = [...all, 'viewer', 'counter', 'editor', 'analyst'];

/** A mail to one recipient of the own domain. */
const written = (serial: number) => ({ to: [`u${serial}@own.example`], text: `mail ${serial}` });

function scheduled(email: Record<string, unknown>, serial: number) {
  const scheduledFor = '2026-02-01T00:00:00Z';
  return payload(email, { scheduledFor, idempotencyKey: `later ${serial}` });
}

/** Guard of a change of a fresh workspace. */
const guard = (serial: number) => ({ expectedRevision: '1', idempotencyKey: `key ${serial}` });

/** The template of the family in the path, or of the organization's own family. */
const templateOf = ({ shared }: Side, id: string | null) => ({
  templateId: templatesFor.get(id ?? '') ?? templatesFor.get(shared.family) ?? '',
});

/** Callers that may read, write and delete. */
type Admitted = readonly [
  reads: readonly CallerName[],
  writes: readonly CallerName[],
  deletes: readonly CallerName[],
];

const onDomains: Admitted = [readsDomains, writesDomains, deletesDomains];
const onMailboxes: Admitted = [readsMailboxes, writesMailboxes, deletesMailboxes];
const onContacts: Admitted = [readsContacts, writesContacts, deletesContacts];
const onTemplates: Admitted = [readsTemplates, writesTemplates, deletesTemplates];
const onCampaigns: Admitted = [readsCampaigns, writesCampaigns, deletesCampaigns];
const onBrands: Admitted = [readsBrands, writesBrands, deletesBrands];
const onWebhooks: Admitted = [readsWebhooks, writesWebhooks, deletesWebhooks];

/** Bodies of a noun's requests; `same` is the `sameBody` of its creation. */
interface Bodies {
  create: NonNullable<Row['body']>;
  same: NonNullable<Row['sameBody']>;
  update: NonNullable<Row['body']>;
}

/** Returns the rows of the five routes of a noun (src/core/api/noun-routes.ts). */
function fiveRows(
  path: string,
  on: ResourceKind,
  [reads, writes, deletes]: Admitted,
  { create, same, update }: Bodies,
): Record<string, Row> {
  const one = onePath(resources[on]);
  return {
    [`GET ${path}`]: { may: reads, gives: 200, query: '?limit=100' },
    [`POST ${path}`]: { may: writes, gives: 201, body: create, sameBody: same },
    [`GET ${one}`]: { may: reads, gives: 200, on },
    [`PATCH ${one}`]: { may: writes, gives: 200, on, body: update },
    [`DELETE ${one}`]: { may: deletes, gives: 200, on, spends: true },
  };
}

export const rows: Readonly<Record<string, Row>> = {
  [`POST ${messages}`]: {
    may: sends,
    gives: 201,
    body: () => payload(),
    foreignBody: ({ shared }) => payload({ inReplyToMessageId: shared.message }),
  },
  [`POST ${messages}/batch`]: { may: sends, gives: 200, body: () => [payload()] },
  [`POST ${messages}/scheduled`]: {
    may: sends,
    gives: 201,
    body: (_own, serial) => scheduled({}, serial),
    foreignBody: ({ shared }) => scheduled({ inReplyToMessageId: shared.message }, 0),
  },
  // 409: the queue has the message still, and nothing was captured.
  [`POST ${messages}/{id}/resend`]: { may: sendsAndReads, gives: 409, on: 'message' },
  [`POST ${messages}/{id}/release`]: { may: sendsAndReads, gives: 409, on: 'message' },
  [`POST ${messages}/{id}/cancel`]: { may: sends, gives: 200, on: 'message', spends: true },
  [`GET ${messages}`]: { may: readsMessages, gives: 200, query: '?limit=100' },
  [`GET ${messages}/expect`]: {
    may: readsMessages,
    gives: 404,
    query: '?to=nobody@example.com&within=0',
  },
  [`GET ${messages}/{id}`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/email`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/extracts`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/explain`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/events`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/deliveries`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/receipt`]: { may: readsMessages, gives: 200, on: 'message' },
  [`DELETE ${messages}/{id}`]: { may: deletesMessages, gives: 200, on: 'message', spends: true },

  [`GET ${domains}`]: { may: readsDomains, gives: 200, query: '?limit=100' },
  [`POST ${domains}`]: {
    may: writesDomains,
    gives: 201,
    body: (_own, serial) => ({ domain: `made${serial}.example`, dkim: 'ed25519' }),
    sameBody: ({ name }) => ({ domain: `${name}.example`, dkim: 'ed25519' }),
  },
  [`GET ${domains}/{id}`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`GET ${domains}/{id}/dns-records`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`GET ${domains}/{id}/registrar`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`GET ${domains}/{id}/dmarc-reports`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`POST ${domains}/{id}/verify`]: { may: writesDomains, gives: 200, on: 'domain' },
  [`POST ${domains}/{id}/dkim/rotate`]: { may: writesDomains, gives: 200, on: 'domain' },
  [`POST ${domains}/{id}/dkim/import`]: {
    may: writesDomains,
    gives: 200,
    on: 'domain',
    body: (_own, serial) => ({ selector: `old${serial}`, privateKey: dkimPem }),
  },
  // 409: their domain is not verified, so nothing is enabled.
  [`POST ${domains}/{id}/custom-tracking`]: {
    may: writesTracking,
    gives: 409,
    on: 'domain',
    body: () => ({ label: 'links' }),
  },
  [`GET ${domains}/{id}/custom-tracking`]: { may: readsTracking, gives: 200, on: 'domain' },
  [`POST ${domains}/{id}/custom-tracking/disable`]: {
    may: writesTracking,
    gives: 409,
    on: 'domain',
  },
  [`POST ${domains}/{id}/custom-tracking/recheck`]: {
    may: writesTracking,
    gives: 409,
    on: 'domain',
  },
  [`DELETE ${domains}/{id}`]: { may: deletesDomains, gives: 200, on: 'domain', spends: true },

  [`POST ${domains}/{id}/warming`]: {
    may: writesDomains,
    gives: 201,
    on: 'provenDomain',
    spends: true,
    body: () => ramp,
  },
  [`GET ${domains}/{id}/warming`]: { may: readsDomains, gives: 200, on: 'warmingDomain' },
  [`POST ${domains}/{id}/warming/pause`]: {
    may: writesDomains,
    gives: 200,
    on: 'warmingDomain',
    spends: true,
  },
  [`POST ${domains}/{id}/warming/resume`]: {
    may: writesDomains,
    gives: 200,
    on: 'pausedDomain',
    spends: true,
    body: () => ({ note: 'looked at' }),
  },
  [`POST ${domains}/{id}/warming/cancel`]: {
    may: writesDomains,
    gives: 200,
    on: 'pausedDomain',
    spends: true,
  },

  ...fiveRows(senders, 'sender', onDomains, {
    create: (_own, serial) => ({ email: `made${serial}@own.example` }),
    same: ({ name }) => ({ email: `hello@${name}.example` }),
    update: () => ({ name: 'renamed' }),
  }),

  [`POST ${senders}/{id}/verify`]: {
    may: writesDomains,
    gives: 422,
    on: 'sender',
    body: () => ({ token: 'not the token' }),
  },
  // 409: its domain verifies it already. It mails, so it needs the right to send too.
  [`POST ${senders}/{id}/resend`]: { may: all, gives: 409, on: 'sender' },

  [`GET ${blocks}`]: {
    may: readsBlocks,
    gives: 200,
    query: '?limit=100',
    foreignQuery: ({ blockedAddress }) => `?address=${blockedAddress}`,
  },
  [`POST ${blocks}`]: {
    may: writesDomains,
    gives: 201,
    body: (_own, serial) => ({ address: `made${serial}@blocked.example` }),
    sameBody: ({ blockedAddress }) => ({ address: blockedAddress }),
  },
  [`GET ${blocks}/{id}`]: { may: readsBlocks, gives: 200, on: 'block' },
  [`DELETE ${blocks}/{id}`]: { may: deletesDomains, gives: 200, on: 'block', spends: true },

  [`GET ${mailboxes}`]: { may: readsMailboxes, gives: 200, query: '?limit=100' },
  [`POST ${mailboxes}`]: {
    may: configuresMailboxes,
    gives: 201,
    body: (_own, serial) => ({ slug: `made${serial}` }),
    foreignBody: ({ namespace }) => ({ slug: 'theirs', namespaceId: namespace }),
  },
  [`GET ${mailboxes}/{id}`]: { may: readsMailboxes, gives: 200, on: 'mailbox' },
  [`PATCH ${mailboxes}/{id}`]: {
    may: writesMailboxes,
    gives: 200,
    on: 'mailbox',
    body: (_own, serial) => ({ description: `changed ${serial}` }),
  },
  [`DELETE ${mailboxes}/{id}`]: {
    may: configuresMailboxes,
    gives: 200,
    on: 'mailbox',
    spends: true,
  },
  [`POST ${mailboxes}/{id}/pause`]: {
    may: configuresMailboxes,
    gives: 200,
    on: 'mailbox',
    spends: true,
  },
  [`POST ${mailboxes}/{id}/resume`]: {
    may: configuresMailboxes,
    gives: 200,
    on: 'pausedMailbox',
    spends: true,
  },
  [`POST ${mailboxes}/{id}/addresses`]: {
    may: configuresMailboxes,
    gives: 201,
    on: 'mailbox',
    spends: true,
    body: (_own, serial) => ({ address: `more${serial}@own.example` }),
  },
  // 409: the mailbox has only this address.
  [`DELETE ${mailboxes}/{id}/addresses/{addressId}`]: {
    may: configuresMailboxes,
    gives: 409,
    on: 'mailbox',
    params: ({ mailboxAddress: addressId }) => ({ addressId }),
  },
  [`GET ${mailboxes}/{id}/events`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'mailbox',
    query: '?limit=100',
  },
  [`GET ${mailboxes}/{id}/agent-activity`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'proposingMailbox',
  },
  [`GET ${mailboxes}/{id}/actions`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'proposingMailbox',
    query: '?limit=100',
  },
  'GET /v1/mailbox-actions': { may: readsMailboxes, gives: 200, query: '?limit=100' },
  [`GET ${mailboxes}/{id}/actions/{actionId}`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'proposingMailbox',
    params: (_own, id) => ({ actionId: proposals.get(id ?? '') ?? unknownAction }),
  },
  [`GET ${mailboxes}/{id}/actions/{actionId}/raw`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'proposingMailbox',
    params: (_own, id) => ({ actionId: proposals.get(id ?? '') ?? unknownAction }),
  },
  [`GET ${mailboxes}/{id}/actions/{actionId}/attachments/{n}`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'proposingMailbox',
    params: (_own, id) => ({ actionId: proposals.get(id ?? '') ?? unknownAction, n: '1' }),
  },
  // None of these keys belongs to a person.
  [`POST ${mailboxes}/{id}/actions/{actionId}/reject`]: {
    may: [],
    gives: 200,
    on: 'proposingMailbox',
    spends: true,
    params: (_own, id) => ({ actionId: proposals.get(id ?? '') ?? unknownAction }),
    body: () => ({ note: 'not so' }),
  },
  [`GET ${mailboxes}/{id}/threads`]: { may: readsMailboxes, gives: 200, on: 'threadedMailbox' },
  [`GET ${thread}`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`PATCH ${thread}`]: {
    may: writesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ snoozedUntil: new Date(Date.UTC(2027, 0) + serial).toISOString() }),
  },
  // Moves the thread to trash.
  [`DELETE ${thread}`]: {
    may: deletesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    spends: true,
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`GET ${thread}/messages`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`POST ${thread}/labels`]: {
    may: writesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ labels: [`label ${serial}`] }),
  },
  [`DELETE ${thread}/labels`]: {
    may: writesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: () => ({ labels: ['of a test'] }),
  },
  [`GET ${thread}/notes`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`POST ${thread}/notes`]: {
    may: writesMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ body: `note ${serial}` }),
  },
  [`PATCH ${thread}/notes/{noteId}`]: {
    may: writesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ body: `changed ${serial}` }),
  },
  [`DELETE ${thread}/notes/{noteId}`]: {
    may: deletesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    spends: true,
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`GET ${mailboxes}/{id}/messages/{messageId}/attachments/{n}`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ messageId: inThread(own, id).messageId, n: '1' }),
  },
  [`GET ${mailboxes}/{id}/messages/{messageId}/extracts`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ messageId: inThread(own, id).messageId }),
  },
  [`POST ${mailboxes}/{id}/messages`]: {
    may: sendsFromMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    body: (_own, serial) => ({ ...written(serial), subject: 'New' }),
  },
  [`POST ${answered}/reply`]: {
    may: sendsFromMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ text: `reply ${serial}` }),
    headers: (serial) => ({ 'idempotency-key': `reply ${serial}` }),
  },
  [`POST ${answered}/reply-all`]: {
    may: sendsFromMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ text: `reply ${serial}` }),
  },
  [`POST ${answered}/forward`]: {
    may: sendsFromMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => written(serial),
  },
  [`GET ${mailboxes}/{id}/drafts`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    query: '?limit=100',
  },
  [`POST ${mailboxes}/{id}/drafts`]: {
    may: writesMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    body: (_own, serial) => ({ ...written(serial), subject: 'Draft' }),
  },
  [`GET ${draft}`]: {
    may: readsMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`PATCH ${draft}`]: {
    may: writesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    params: (own, id) => ({ ...inThread(own, id) }),
    body: (_own, serial) => ({ text: `changed ${serial}` }),
  },
  [`DELETE ${draft}`]: {
    may: deletesMailboxes,
    gives: 200,
    on: 'threadedMailbox',
    spends: true,
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  [`POST ${draft}/send`]: {
    may: sendsFromMailboxes,
    gives: 201,
    on: 'threadedMailbox',
    spends: true,
    params: (own, id) => ({ ...inThread(own, id) }),
  },
  // None of these keys belongs to a person; the action has nothing to send: 200, failed.
  [`POST ${mailboxes}/{id}/actions/{actionId}/approve`]: {
    may: [],
    gives: 200,
    on: 'proposingMailbox',
    spends: true,
    params: (_own, id) => ({ actionId: proposals.get(id ?? '') ?? unknownAction }),
    body: () => ({ note: 'go' }),
  },
  [`GET ${namespaces}`]: { may: readsMailboxes, gives: 200, query: '?limit=100' },
  [`POST ${namespaces}`]: {
    may: writesMailboxes,
    gives: 201,
    body: (_own, serial) => ({ name: `made ${serial}` }),
    sameBody: ({ name }) => ({ name: `${name} agents` }),
  },
  [`POST ${catchAll}/enable`]: {
    may: configuresMailboxes,
    gives: 200,
    body: ({ shared }) => ({ domainId: shared.provenDomain, mailboxId: shared.mailbox }),
    foreignBody: ({ shared }) => ({ domainId: shared.provenDomain, mailboxId: shared.mailbox }),
  },
  [`POST ${catchAll}/disable`]: {
    may: configuresMailboxes,
    gives: 200,
    body: ({ shared }) => ({ domainId: shared.provenDomain }),
    foreignBody: ({ shared }) => ({ domainId: shared.provenDomain }),
  },
  ...fiveRows(savedReplies, 'savedReply', onMailboxes, {
    create: (_own, serial) => ({ name: `made ${serial}`, text: 'x' }),
    same: ({ name }) => ({ name: `${name} 1`, text: 'x' }),
    update: () => ({ name: 'renamed' }),
  }),
  ...fiveRows(unsubscribeGroups, 'unsubscribeGroup', onContacts, {
    create: (_own, serial) => ({ name: `made ${serial}` }),
    same: ({ name }) => ({ name: `${name} 1` }),
    update: () => ({ name: 'renamed' }),
  }),
  [`GET ${unsubscribeGroups}/{id}/members`]: {
    may: readsContacts,
    gives: 200,
    on: 'unsubscribeGroup',
    query: '?limit=100',
  },
  // It makes the service write mail: a key that only writes has no right to send, an editor has.
  [`POST ${unsubscribeGroups}/{id}/members`]: {
    may: [...all, 'editor'],
    gives: 200,
    on: 'unsubscribeGroup',
    body: ({ shared }) => ({ contactIds: [shared.contact] }),
    foreignBody: ({ shared }) => ({ contactIds: [shared.contact] }),
  },
  [`DELETE ${unsubscribeGroups}/{id}/members`]: {
    may: writesContacts,
    gives: 200,
    on: 'unsubscribeGroup',
    body: ({ shared }) => ({ contactIds: [shared.contact] }),
  },
  ...fiveRows(brands, 'brand', onBrands, {
    create: (_own, serial) => ({ slug: `made-${serial}`, name: 'Made' }),
    same: ({ name }) => ({ slug: `${name}-1`, name: 'Same' }),
    update: (_own, serial) => ({ name: `Renamed ${serial}` }),
  }),
  [`POST ${brands}/{slug}/default`]: { may: writesBrands, gives: 200, on: 'brand' },
  ...fiveRows(templates, 'template', onTemplates, {
    create: (_own, serial) => templateBody(`made-${serial}`),
    same: ({ name }) => templateBody(`${name}-1`),
    update: (_own, serial) => ({ name: `Renamed ${serial}` }),
  }),
  [`GET ${templates}/{id}/versions`]: {
    may: readsTemplates,
    gives: 200,
    on: 'template',
    query: '?limit=100',
  },
  [`POST ${templates}/{id}/publish`]: {
    may: writesTemplates,
    gives: 200,
    on: 'template',
    spends: true,
  },
  [`POST ${templates}/{id}/render`]: {
    may: readsTemplates,
    gives: 200,
    on: 'template',
    body: () => ({ draft: true, data: { number: 1 } }),
  },
  [`POST ${templates}/{id}/archive`]: { may: writesTemplates, gives: 200, on: 'template' },
  [`POST ${templates}/{id}/duplicate`]: {
    may: writesTemplates,
    gives: 201,
    on: 'template',
    body: (_own, serial) => ({ slug: `copied-${serial}` }),
  },
  [`GET ${workspace}`]: { may: readsTemplates, gives: 200, on: 'template' },
  [`GET ${workspace}/history`]: {
    may: readsTemplates,
    gives: 200,
    on: 'template',
    query: '?limit=100',
  },
  [`GET ${workspace}/diff`]: { may: readsTemplates, gives: 200, on: 'template' },
  [`GET ${workspace}/bundle`]: { may: readsTemplates, gives: 200, on: 'template' },
  [`PUT ${workspace}/files`]: {
    may: writesTemplates,
    gives: 200,
    on: 'template',
    spends: true,
    body: (_own, serial) => ({ ...guard(serial), files: { 'body.txt': 'staged' } }),
  },
  [`POST ${workspace}/save`]: {
    may: writesTemplates,
    gives: 200,
    on: 'template',
    spends: true,
    body: (_own, serial) => guard(serial),
  },
  [`POST ${workspace}/discard`]: {
    may: writesTemplates,
    gives: 200,
    on: 'template',
    spends: true,
    body: (_own, serial) => guard(serial),
  },
  // 404: no commit of this id exists.
  [`POST ${workspace}/restore`]: {
    may: writesTemplates,
    gives: 404,
    on: 'template',
    body: (_own, serial) => ({
      ...guard(serial),
      expectedRevision: '9',
      commit: 'a'.repeat(40),
    }),
  },
  // 422: no bundle.
  [`PUT ${workspace}/bundle`]: {
    may: writesTemplates,
    gives: 422,
    on: 'template',
    body: () => 'no bundle',
    headers: () => ({ 'content-type': 'application/x-git-bundle' }),
  },
  ...fiveRows(families, 'family', onTemplates, {
    create: (_own, serial) => ({ name: `made ${serial}` }),
    same: ({ name }) => ({ name: `${name} 1` }),
    update: (_own, serial) => ({ name: `renamed ${serial}` }),
  }),
  ...fiveRows(campaigns, 'campaign', onCampaigns, {
    create: (_own, serial) => campaignBody(serial),
    same: () => campaignBody(1),
    update: (_own, serial) => ({ name: `Renamed ${serial}` }),
  }),
  [`POST ${campaigns}/{id}/duplicate`]: { may: writesCampaigns, gives: 201, on: 'campaign' },
  [`GET ${campaigns}/{id}/estimate`]: { may: readsCampaigns, gives: 200, on: 'campaign' },
  [`POST ${campaigns}/{id}/test`]: {
    may: runsCampaigns,
    gives: 200,
    on: 'campaign',
    body: () => ({ to: ['delivered@simulator.test'] }),
  },
  // As a contact, so the key reads contacts too.
  [`POST ${campaigns}/{id}/render`]: {
    may: readsContacts.filter((name) => readsCampaigns.includes(name)),
    gives: 200,
    on: 'campaign',
    body: ({ shared }) => ({ contactId: shared.contact }),
    foreignBody: ({ shared }) => ({ contactId: shared.contact }),
  },
  [`POST ${campaigns}/{id}/runs`]: { may: runsCampaigns, gives: 201, on: 'campaign' },
  [`GET ${campaigns}/{id}/runs`]: { may: readsCampaigns, gives: 200, on: 'campaign' },
  [`GET ${run}`]: { may: readsCampaigns, gives: 200, on: 'runningCampaign', params: runOf },
  [`GET ${run}/recipients`]: {
    may: readsCampaigns,
    gives: 200,
    on: 'runningCampaign',
    params: runOf,
  },
  [`POST ${run}/pause`]: {
    may: runsCampaigns,
    gives: 200,
    on: 'runningCampaign',
    spends: true,
    params: runOf,
  },
  [`POST ${run}/resume`]: {
    may: runsCampaigns,
    gives: 200,
    on: 'pausedCampaign',
    spends: true,
    params: runOf,
  },
  [`POST ${run}/cancel`]: {
    may: runsCampaigns,
    gives: 200,
    on: 'runningCampaign',
    spends: true,
    params: runOf,
  },
  [`POST ${run}/retry`]: {
    may: runsCampaigns,
    gives: 201,
    on: 'failedCampaign',
    params: runOf,
  },
  [`GET ${extensions}`]: { may: readsExtensions, gives: 200, query: '?limit=100' },
  [`POST ${extensions}`]: {
    may: writesExtensions,
    gives: 201,
    body: (_own, serial) => ({ name: `made-${serial}` }),
  },
  [`GET ${extensions}/{id}`]: { may: readsExtensions, gives: 200, on: 'extension' },
  [`PATCH ${extensions}/{id}`]: {
    may: writesExtensions,
    gives: 200,
    on: 'extension',
    body: () => ({ displayName: 'Triage' }),
  },
  [`DELETE ${extensions}/{id}`]: {
    may: deletesExtensions,
    gives: 200,
    on: 'extension',
    spends: true,
  },
  [`GET ${versions}`]: { may: readsExtensions, gives: 200, on: 'extension' },
  [`POST ${versions}`]: {
    may: writesExtensions,
    gives: 201,
    on: 'extension',
    body: (_own, serial) => ({
      version: `2.0.${serial}`,
      permissions: ['contacts:read'],
      events: [],
      sendModes: ['none'],
    }),
  },
  [`GET ${versions}/{version}`]: {
    may: readsExtensions,
    gives: 200,
    on: 'extension',
    params: () => ({ version: '1.0.0' }),
  },
  [`POST ${versions}/{version}/withdraw`]: {
    may: writesExtensions,
    gives: 200,
    on: 'extension',
    spends: true,
    params: () => ({ version: '1.0.0' }),
  },
  [`GET ${installations}`]: { may: readsExtensions, gives: 200, query: '?limit=100' },
  // The latest version may have any grants by now, so the body names the first.
  [`POST ${installations}`]: {
    may: writesExtensions,
    gives: 201,
    body: ({ shared }) => installBody(shared.extension),
    foreignBody: ({ shared }) => installBody(shared.extension),
  },
  // 404: no caller of this table is an installation.
  [`GET ${installations}/me`]: { may: readsExtensions, gives: 404 },
  [`GET ${installations}/{id}`]: { may: readsExtensions, gives: 200, on: 'installation' },
  [`PATCH ${installations}/{id}`]: {
    may: writesExtensions,
    gives: 200,
    on: 'installation',
    spends: true,
    // A looser send mode needs a person.
    body: () => ({ sendMode: 'approval' }),
  },
  [`DELETE ${installations}/{id}`]: {
    may: deletesExtensions,
    gives: 200,
    on: 'installation',
    spends: true,
  },
  [`POST ${installations}/{id}/disable`]: {
    may: writesExtensions,
    gives: 200,
    on: 'installation',
    spends: true,
  },
  [`POST ${installations}/{id}/enable`]: {
    may: writesExtensions,
    gives: 200,
    on: 'disabledInstallation',
    spends: true,
  },
  [`POST ${installations}/{id}/rotate-credentials`]: {
    may: writesExtensions,
    gives: 200,
    on: 'installation',
  },
  // Only a person upgrades, and these callers are services.
  [`POST ${installations}/{id}/upgrade`]: {
    may: [],
    gives: 200,
    on: 'upgradedInstallation',
    spends: true,
  },
  [`GET ${installations}/{id}/version-changes`]: {
    may: readsExtensions,
    gives: 200,
    on: 'upgradedInstallation',
  },
  [`POST ${member}`]: {
    may: writesTemplates,
    gives: 200,
    on: 'family',
    spends: true,
    params: templateOf,
  },
  [`DELETE ${member}`]: {
    may: writesTemplates,
    gives: 200,
    on: 'memberFamily',
    spends: true,
    params: templateOf,
  },
  [`GET ${contacts}`]: { may: readsContacts, gives: 200, query: '?limit=100' },
  [`POST ${contacts}`]: {
    may: writesContacts,
    gives: 201,
    body: (_own, serial) => ({ email: `made${serial}@people.example`, tags: ['made'] }),
    sameBody: ({ name }) => ({ email: `c1@${name}.example` }),
  },
  [`GET ${contacts}/tags`]: { may: readsContacts, gives: 200, query: '?limit=100' },
  [`GET ${contacts}/export`]: { may: readsContacts, gives: 200, query: '?format=ndjson' },
  [`POST ${contacts}/import`]: {
    may: writesContacts,
    gives: 200,
    body: (_own, serial) => `email\nimported${serial}@people.example\n`,
    headers: () => ({ 'content-type': 'text/csv' }),
  },
  ...fiveRows(contactGroups, 'contactGroup', onContacts, {
    create: (_own, serial) => ({ name: `made ${serial}` }),
    same: ({ name }) => ({ name: `${name} 1` }),
    update: (_own, serial) => ({ name: `renamed ${serial}` }),
  }),
  [`GET ${contactGroups}/{id}/members`]: {
    may: readsContacts,
    gives: 200,
    on: 'contactGroup',
    query: '?limit=100',
  },
  [`POST ${contactGroups}/{id}/members`]: {
    may: writesContacts,
    gives: 200,
    on: 'contactGroup',
    body: ({ shared }) => ({ contactIds: [shared.contact] }),
    foreignBody: ({ shared }) => ({ contactIds: [shared.contact] }),
  },
  [`DELETE ${contactGroups}/{id}/members`]: {
    may: writesContacts,
    gives: 200,
    on: 'contactGroup',
    body: ({ shared }) => ({ contactIds: [shared.contact] }),
  },
  [`GET ${contacts}/{id}`]: { may: readsContacts, gives: 200, on: 'contact' },
  [`PATCH ${contacts}/{id}`]: {
    may: writesContacts,
    gives: 200,
    on: 'contact',
    body: (_own, serial) => ({ name: `renamed ${serial}` }),
  },
  [`DELETE ${contacts}/{id}`]: { may: deletesContacts, gives: 200, on: 'contact', spends: true },
  [`POST ${contacts}/{id}/tags`]: {
    may: writesContacts,
    gives: 200,
    on: 'contact',
    body: () => ({ tags: ['vip'] }),
  },
  [`DELETE ${contacts}/{id}/tags`]: {
    may: writesContacts,
    gives: 200,
    on: 'contact',
    body: () => ({ tags: ['made'] }),
  },

  [`GET ${conversations}`]: { may: readsConversations, gives: 200, query: '?limit=100' },
  [`POST ${conversations}`]: {
    may: writesConversations,
    gives: 201,
    body: (_own, serial) => ({ title: `made ${serial}`, tags: ['made'] }),
    sameBody: ({ name }) => ({ externalId: `${name}-1` }),
    foreignBody: ({ shared }) => ({ parentConversationId: shared.conversation }),
  },
  [`GET ${conversations}/{id}`]: { may: readsConversations, gives: 200, on: 'conversation' },
  [`PATCH ${conversations}/{id}`]: {
    may: writesConversations,
    gives: 200,
    on: 'conversation',
    body: (_own, serial) => ({ title: `renamed ${serial}` }),
  },
  [`DELETE ${conversations}/{id}`]: {
    may: deletesConversations,
    gives: 200,
    on: 'conversation',
    spends: true,
  },
  [`POST ${conversations}/{id}/tags`]: {
    may: writesConversations,
    gives: 200,
    on: 'conversation',
    body: () => ({ tags: ['vip'] }),
  },
  [`DELETE ${conversations}/{id}/tags`]: {
    may: writesConversations,
    gives: 200,
    on: 'conversation',
    body: () => ({ tags: ['made'] }),
  },
  [`POST ${conversations}/{id}/resolve`]: {
    may: writesConversations,
    gives: 200,
    on: 'conversation',
    spends: true,
    body: () => ({ resolutionType: 'manual' }),
  },
  [`POST ${conversations}/{id}/archive`]: {
    may: writesConversations,
    gives: 200,
    on: 'conversation',
    spends: true,
    body: () => ({}),
  },
  [`POST ${conversations}/{id}/reopen`]: {
    may: writesConversations,
    gives: 200,
    on: 'resolvedConversation',
    spends: true,
    body: () => ({}),
  },

  ...fiveRows(webhooks, 'webhook', onWebhooks, {
    create: (_own, serial) => ({ url: `https://made${serial}.example/`, events: ['message.*'] }),
    same: ({ name }) => ({ url: `https://${name}.example/1`, events: ['*'] }),
    update: () => ({ name: 'renamed' }),
  }),
  [`POST ${webhooks}/{id}/rotate-secret`]: { may: writesWebhooks, gives: 200, on: 'webhook' },
  [`POST ${webhooks}/{id}/test`]: {
    may: writesWebhooks,
    gives: 201,
    on: 'webhook',
    body: () => ({ data: { order: 7 } }),
  },
  [`GET ${webhooks}/{id}/stats`]: { may: readsWebhooks, gives: 200, on: 'webhook' },
  [`GET ${webhooks}/{id}/deliveries`]: {
    may: readsWebhooks,
    gives: 200,
    on: 'webhook',
    query: '?limit=100',
  },
  [`GET ${webhooks}/{id}/deliveries/{deliveryId}`]: {
    may: readsWebhooks,
    gives: 200,
    on: 'webhook',
    params: ({ webhookDelivery: deliveryId }) => ({ deliveryId }),
  },
  [`POST ${webhooks}/{id}/deliveries/{deliveryId}/redeliver`]: {
    may: writesWebhooks,
    gives: 200,
    on: 'webhook',
    params: ({ webhookDelivery: deliveryId }) => ({ deliveryId }),
  },
  [`POST ${webhooks}/{id}/replay`]: {
    may: writesWebhooks,
    gives: 200,
    on: 'webhook',
    body: () => ({ events: ['domain.failed'] }),
  },

  // Only a person changes members, and these callers are services.
  ...fiveRows(members, 'member', [readsMembers, [], []], {
    create: (_own, serial) => ({
      ...{ email: `made${serial}@people.example`, role: 'viewer', mail: false },
    }),
    same: ({ name }) => ({ email: `m1@${name}.example`, role: 'viewer', mail: false }),
    update: (_own, serial) => ({ name: `renamed ${serial}` }),
  }),
  [`POST ${members}/{id}/resend`]: { may: [], gives: 200, on: 'member' },
  [`GET ${keys}`]: { may: readsKeys, gives: 200, query: '?limit=100' },
  [`POST ${keys}`]: {
    may: writesKeys,
    gives: 201,
    body: () => ({ permissions: { keys: ['write'] } }),
  },
  [`GET ${keys}/{id}`]: { may: readsKeys, gives: 200, on: 'writeKey' },
  [`PATCH ${keys}/{id}`]: {
    may: writesKeys,
    gives: 200,
    on: 'writeKey',
    body: () => ({ name: 'renamed' }),
  },
  [`POST ${keys}/{id}/rotate`]: { may: writesKeys, gives: 200, on: 'writeKey', spends: true },
  [`DELETE ${keys}/{id}`]: { may: deletesKeys, gives: 200, on: 'deleteKey', spends: true },

  'GET /v1/events': {
    may: readsWebhooks,
    gives: 200,
    query: '?limit=100',
    foreignQuery: ({ shared }) => `?subject=${shared.message}`,
  },
  'GET /v1/events/kinds': { may: readsWebhooks, gives: 200 },

  'GET /v1/organizations/current': { may: readsOrganization, gives: 200 },
  // Not a writer: by its role (specification 5.6). 409, for nothing was rejected.
  'POST /v1/organizations/onboarding/reapply': {
    may: ['owner', 'admin'],
    gives: 409,
    body: () => ({ expectedGeneration: 1 }),
  },
  'GET /v1/audit': {
    may: readsOrganization,
    gives: 200,
    query: '?limit=100',
    foreignQuery: ({ shared }) => `?resource=${shared.block}`,
  },
  'GET /v1/organizations/usage': { may: readsOrganization, gives: 200 },
  'GET /v1/analytics/channel-stats': { may: readsAnalytics, gives: 200 },
  'GET /v1/analytics/timeseries': { may: readsAnalytics, gives: 200 },
  'GET /v1/analytics/domains': { may: readsAnalytics, gives: 200 },
  'GET /v1/analytics/breakdown': { may: readsAnalytics, gives: 200, query: '?by=sender' },
};

/** Returns the path of a row for the own organization, with its parameters filled in. */
export function pathOf(path: string, row: Row, own: Side, id: string | null): string {
  const named = Object.entries({
    id: id ?? '',
    slug: id ?? '',
    familyId: id ?? '',
    ...row.params?.(own, id),
  });
  return named.reduce<string>((at, [name, value]) => at.replace(`{${name}}`, value), path);
}
