// The mail of a campaign before it runs: checked when it is saved, shown for a contact, and sent to
// a few addresses as a test. It is composed as a run composes it.
import { hash } from 'node:crypto';
import { campaignsRight } from '../../access/keys/send-checks.ts';
import type { TemplateWarning } from '../../content/rendering/compiled.ts';
import { adviceOn } from '../../content/templates/compose.ts';
import { findContactValues } from '../../content/templates/scope.ts';
import { allows } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { pictureOf } from '../../inbox/approvals/picture.ts';
import type { MailPicture } from '../../inbox/approvals/schema.ts';
import { fillMerged } from '../../outbound/messages/contents/merge.ts';
import type { BatchResult } from '../../outbound/messages/schema.ts';
import type { SendPayload } from '../../outbound/messages/send-schema.ts';
import { sendBatch } from '../../outbound/sending/batch.ts';
import { findIdentitiesNamed } from '../../people/contacts/queries.ts';
import { ForbiddenError, ResourceNotFoundError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { pickedFrom } from './contact-paths.ts';
import { type CampaignMail, type DraftedRun, draftRunContent } from './snapshot.ts';

/** Subject and bodies of a campaign, filled for a contact. */
interface FilledWords {
  subject: string;
  preheader: string | null;
  html: string | null;
  text: string | null;
  warnings: TemplateWarning[];
}

/** The mail of a campaign for a contact: everything except the recipient. */
export interface CampaignPreview
  extends FilledWords,
    Pick<MailPicture, 'from' | 'replyTo' | 'notes' | 'attachments'> {
  /** Digest of the content that a run made now would store. */
  digest: string;
}

type ContactValues = Readonly<Record<string, unknown>>;

/** Marks the subject of a test. */
const testMark = '[Test] ';

/**
 * Checks the content of a campaign, and returns advice on it. A sender that may not send yet only
 * causes a warning. @throws ResourceNotFoundError or ConflictError for a missing or unpublished
 * template, ValidationError for content that cannot be filled and for a footer without a brand
 */
export async function checkCampaignMail(
  app: App,
  organizationId: string,
  campaign: CampaignMail,
): Promise<TemplateWarning[]> {
  try {
    return await checkDraft(app, organizationId, campaign);
  } catch (error) {
    if (error instanceof ForbiddenError) return [senderWarning(error.message)];
    throw error;
  }
}

function senderWarning(message: string): TemplateWarning {
  return { code: 'sender', message, path: null, line: null };
}

async function checkDraft(app: App, organizationId: string, campaign: CampaignMail) {
  const drafted = await draftRunContent(app, organizationId, campaign);
  const { html, warnings } = await previewOf(app, organizationId, drafted, null);
  // Without a contact all contact values are missing, so warnings about them say nothing.
  const own = warnings.filter(({ code }) => !missingValues.has(code));
  if (html === null) return own;
  const { from, unsubscribeGroupId } = drafted.mailing;
  const facts = { sender: from.email, hasGroup: unsubscribeGroupId !== null };
  return [...own, ...(await adviceOn(app, organizationId, html, facts))];
}

/** Refuses a template that the caller may not read. @throws ForbiddenError. */
export function assertReadsTemplate(
  { permissions }: Caller,
  { templateId, templateSlug }: CampaignMail['email'],
): void {
  if (templateId === undefined && templateSlug === undefined) return;
  if (allows(permissions, 'templates:read')) return;
  throw new ForbiddenError('Mail with a template needs templates:read');
}

/** Requires `contacts:read` if a contact is given. @throws ForbiddenError. */
export function assertReadsContact({ permissions }: Caller, contactId: string | undefined): void {
  if (contactId === undefined || allows(permissions, 'contacts:read')) return;
  throw new ForbiddenError('Showing the values of a contact needs contacts:read');
}

const missingValues = new Set(['contact-missing', 'missing-variable']);

/**
 * Shows the mail as this contact would get it, or without values of a contact.
 * @throws ForbiddenError for a contact without contacts:read, or a template without templates:read;
 * ResourceNotFoundError; as `draftRunContent`
 */
export async function renderCampaignMail(
  app: App,
  caller: Caller,
  campaign: CampaignMail,
  contactId?: string,
): Promise<CampaignPreview> {
  assertReadsContact(caller, contactId);
  assertReadsTemplate(caller, campaign.email);
  const { organizationId } = caller;
  const contact = contactId === undefined ? null : await contactOf(app, organizationId, contactId);
  const drafted = await draftRunContent(app, organizationId, campaign);
  const words = await previewOf(app, organizationId, drafted, contact);
  return { ...words, ...(await pictureOfRun(app, organizationId, drafted, words)) };
}

async function contactOf(app: App, organizationId: string, id: string): Promise<ContactValues> {
  const contact = (await findContactValues(app.store.db, organizationId, [id])).get(id);
  if (!contact) throw new ResourceNotFoundError('contact', id);
  return contact;
}

/** Returns the parts of a preview besides the subject and the bodies. */
async function pictureOfRun(
  app: App,
  organizationId: string,
  { content, mailing, merge, snapshot }: DraftedRun,
  { subject, text, html }: FilledWords,
): Promise<Omit<CampaignPreview, keyof FilledWords>> {
  const { email, name } = mailing.from;
  const attachments = content.attachments.map(({ filename, contentType, contentId, data }, at) => ({
    n: at + 1,
    filename,
    contentType,
    contentId,
    size: data.length,
  }));
  const picture = await pictureOf(app, organizationId, {
    from: { email, name: name || null },
    replyTo: mailing.replyTo ?? [],
    to: [],
    cc: [],
    bcc: [],
    subject,
    text,
    html,
    attachments,
  });
  const frozen = JSON.stringify([mailing, merge, snapshot, content.digest]);
  return {
    from: picture.from,
    replyTo: picture.replyTo,
    notes: picture.notes,
    attachments,
    digest: `sha256:${hash('sha256', frozen)}`,
  };
}

/** Fills the content of a run that is not stored. */
async function previewOf(
  app: App,
  organizationId: string,
  { content, merge, mailing, key }: DraftedRun,
  contact: ContactValues | null,
): Promise<FilledWords> {
  if (!merge) {
    const { html, text } = content;
    return { subject: mailing.subject ?? '', preheader: null, html, text, warnings: [] };
  }
  const values = { contact: contact && pickedFrom(contact, mailing.contactPaths) };
  const message = { id: app.newId('message'), createdAt: app.clock.now() };
  const options = { organizationId, key, message, dataField: 'email.templateData' };
  return fillMerged(app, merge, values, options);
}

/**
 * Sends the campaign to a few addresses, with the values of the contact that has the address, or
 * without values if no contact has it. The mails are ordinary messages: they count against quotas
 * and pass every check of a send. @throws as `draftRunContent`
 */
export async function testCampaignMail(
  app: App,
  caller: Caller,
  campaign: CampaignMail,
  addresses: readonly string[],
): Promise<BatchResult[]> {
  const { organizationId } = caller;
  assertReadsTemplate(caller, campaign.email);
  const drafted = await draftRunContent(app, organizationId, campaign);
  const contacts = await contactsOf(app, organizationId, addresses);
  const payloads = await Promise.all(
    addresses.map(async (address): Promise<SendPayload> => {
      const contact = contacts.get(foldAddress(address)) ?? null;
      const { subject, html, text } = await previewOf(app, organizationId, drafted, contact);
      const { email, conversationId, metadata } = campaign;
      return {
        channel: 'email',
        to: [{ email: address }],
        from: drafted.mailing.from,
        email: {
          ...withoutSource(email),
          subject: testMark + subject,
          text: text ?? '',
          ...(html !== null && { html }),
        },
        ...(conversationId !== null && { conversationId }),
        ...(metadata && { metadata }),
      };
    }),
  );
  return sendBatch(app, caller, payloads, null, campaignsRight);
}

function withoutSource({
  subject,
  html,
  text,
  templateId,
  templateSlug,
  templateData,
  footer,
  ...rest
}: CampaignMail['email']): Omit<SendPayload['email'], 'subject' | 'html' | 'text'> {
  return rest;
}

/** Reads the values of the contacts with these addresses, by folded address. */
async function contactsOf(
  app: App,
  organizationId: string,
  addresses: readonly string[],
): Promise<Map<string, ContactValues>> {
  const { db } = app.store;
  const folded = [...new Set(addresses.map(foldAddress))].sort();
  const identities = await findIdentitiesNamed(db, organizationId, folded);
  const ids = identities.map(({ contact_id }) => contact_id);
  const values = await findContactValues(db, organizationId, [...new Set(ids)]);
  return new Map(
    identities.flatMap(({ contact_id, folded_identifier }) => {
      const contact = values.get(contact_id);
      return contact ? [[folded_identifier, contact] as const] : [];
    }),
  );
}
