// The content of a run: read once when the run is made, stored once, and shared by all
// messages. Later changes of campaign, template, brand and sender leave the run as it is.
import { brandValuesOf, findBrandForTemplate } from '../../content/brands/values.ts';
import type { BrandValues, CompiledTemplate } from '../../content/rendering/compiled.ts';
import { withFooter } from '../../content/rendering/footer.ts';
import { recipientUrl } from '../../content/rendering/recipient-url.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { type ResolvedSender, resolveSenders } from '../../identity/senders/resolve.ts';
import { deleteUnusedContent } from '../../outbound/messages/contents/content-queries.ts';
import type { SharedMerge } from '../../outbound/messages/contents/merge.ts';
import type { SendPayload } from '../../outbound/messages/send-schema.ts';
import {
  decodedAttachments,
  digestedContent,
  prepareContent,
  type SendContent,
} from '../../outbound/sending/content.ts';
import { sendFacts } from '../../outbound/sending/send-facts.ts';
import { type RunContent, storeRunContent } from '../../outbound/sending/store-content.ts';
import { nothingTracked, trackingWanted } from '../../outbound/tracking/content.ts';
import { ServiceError, ValidationError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { type ContactPaths, contactPathsIn } from './contact-paths.ts';
import type { CampaignEmail } from './schema.ts';

/** The parts of a campaign that the mail depends on. */
export interface CampaignMail {
  email: CampaignEmail;
  from: SendPayload['from'];
  conversationId: string | null;
  metadata: SendPayload['metadata'] | null;
}

/** Fields of all messages of a run, beside their content. Stored with the run as JSON. */
export interface RunMailing {
  /** Id of the stored content. */
  contentId: string;
  /** Subject of all messages; null if the subject is filled for each contact. */
  subject: string | null;
  /**
   * An empty `name` omits the name of the sender, whatever it is at the time of sending. An empty
   * `replyTo` omits Reply-To.
   */
  from: { email: string; name?: string };
  /** Null in runs of earlier versions that set no Reply-To. */
  replyTo: string[] | null;
  priority: 'high' | 'normal' | 'low' | null;
  unsubscribeGroupId: string | null;
  inReplyToMessageId: string | null;
  conversationId: string | null;
  metadata: Record<string, unknown> | null;
  tracking: { opens: boolean; clicks: boolean };
  template: { id: string; version: number } | null;
  /** Values of a contact that the content reads. */
  contactPaths: ContactPaths;
}

/** The content of a run before it is stored. */
export interface DraftedRun extends RunContent {
  mailing: Omit<RunMailing, 'contentId'>;
  /** Id of the compiled content, for fills before it is stored: equal keys have equal texts. */
  key: string;
  /** `contentSnapshot` of the run (specification 2.13). */
  snapshot: Record<string, unknown>;
}

/**
 * Reads the content of a campaign as it is now.
 * @throws ForbiddenError for a sender that may not send; ResourceNotFoundError and ConflictError
 * for a template that is missing or not published; ValidationError for a footer without a brand
 */
export async function draftRunContent(
  app: App,
  organizationId: string,
  campaign: CampaignMail,
): Promise<DraftedRun> {
  const { email, conversationId, metadata } = campaign;
  const sender = await senderOf(app, organizationId, campaign.from);
  const payload = payloadOf(campaign);
  const source = await sourceOf(app, organizationId, payload, email, sender);
  const { merge, template, publicationId } = source;
  const content = merge
    ? await mergedContent(app, organizationId, email, merge.compiled)
    : await prepareContent(app, organizationId, { ...payload, email: source.email });
  const { tracking } = content;
  const replyTo = email.replyTo ?? sender.replyToEmails ?? [];
  return {
    content,
    merge,
    key: source.key,
    mailing: {
      subject: merge ? null : (email.subject ?? ''),
      from: { email: sender.email, name: sender.name ?? '' },
      replyTo,
      priority: email.priority ?? merge?.compiled.priority ?? null,
      unsubscribeGroupId: email.unsubscribeGroupId ?? null,
      inReplyToMessageId: email.inReplyToMessageId ?? null,
      conversationId,
      metadata: metadata ?? null,
      tracking,
      template,
      contactPaths: merge ? contactPathsIn(merge.compiled) : [],
    },
    snapshot: {
      channel: 'email',
      email: {
        subject: email.subject ?? null,
        html: email.html ?? null,
        text: email.text ?? null,
        attachments: content.attachments.map(({ filename, contentType, data }) => ({
          filename,
          content: null,
          mediaId: null,
          contentType,
          size: data.length,
        })),
        publicationId,
        inputContractId: merge?.compiled.contract ? publicationId : null,
        templateId: template?.id ?? null,
        templateSlug: email.templateSlug ?? null,
        templateData: email.templateData ?? null,
        inReplyToMessageId: email.inReplyToMessageId ?? null,
        replyTo,
        unsubscribeGroupId: email.unsubscribeGroupId ?? null,
        tracking,
        footer: { enabled: email.footer?.enabled ?? false },
      },
      conversationId,
      metadata: metadata ?? null,
    },
  };
}

/**
 * Stores the content of a run in the transaction that makes the run; returns the fields of the
 * messages.
 */
export async function storeMailing(
  app: App,
  trx: Db,
  organizationId: string,
  drafted: DraftedRun,
): Promise<RunMailing> {
  return {
    ...drafted.mailing,
    contentId: await storeRunContent(app, trx, organizationId, drafted),
  };
}

/** Releases the content of a deleted run: deletes the content unless messages still use it. */
export async function releaseRunContent(trx: Db, { contentId }: RunMailing): Promise<void> {
  await deleteUnusedContent(trx, contentId);
}

async function senderOf(
  app: App,
  organizationId: string,
  from: SendPayload['from'],
): Promise<ResolvedSender> {
  const asked = [{ organizationId, from }];
  const [sender] = await resolveSenders(app.store.db, asked, findHostedSender);
  if (sender === undefined || sender instanceof ServiceError) {
    throw sender ?? new Error('a sender was left without an answer');
  }
  return sender;
}

/** Returns the campaign in the form of a send without recipients. */
function payloadOf({ email, from, conversationId, metadata }: CampaignMail): SendPayload {
  return {
    channel: 'email',
    to: [],
    ...(from && { from }),
    email,
    ...(conversationId !== null && { conversationId }),
    ...(metadata && { metadata }),
  };
}

/** Content to fill for each contact, or the same content for all. */
interface Source {
  merge: SharedMerge | null;
  email: CampaignEmail;
  key: string;
  template: RunMailing['template'];
  publicationId: string | null;
}

async function sourceOf(
  app: App,
  organizationId: string,
  payload: SendPayload,
  email: CampaignEmail,
  sender: ResolvedSender,
): Promise<Source> {
  const shared = {
    data: email.templateData ?? {},
    sender: { email: sender.email, name: sender.name },
    footer: email.footer?.enabled ?? false,
    hasUnsubscribeGroup: email.unsubscribeGroupId !== undefined,
  };
  if (email.templateId !== undefined || email.templateSlug !== undefined) {
    const { template, brand: row } = await sendFacts(app, organizationId, payload);
    const { id, version, key, compiled } = template;
    const brand = row && brandValuesOf(row);
    const merge = { ...shared, compiled, brand, makesText: false };
    return { merge, email, key, template: { id, version }, publicationId: key };
  }
  const row = await findBrandForTemplate(app.store.db, organizationId, null);
  const brand = row && brandValuesOf(row);
  if (shared.footer && !brand) {
    throw ValidationError.of(
      'email.footer',
      'needs a brand: create one with `svc brands create`, or leave the footer out',
    );
  }
  const nothing = { template: null, publicationId: null };
  const compiled = inlineTemplate(email);
  if (hasLiquid(compiled)) {
    const merge = { ...shared, compiled, brand, makesText: email.text === undefined };
    const { digest } = digestedContent(JSON.stringify(compiled), noContent);
    return { merge, email, key: digest, ...nothing };
  }
  const written = shared.footer && brand ? inlineWithFooter(app, email, brand) : email;
  return { merge: null, email: written, key: '', ...nothing };
}

const noContent = { html: null, text: null, attachments: [] };

function inlineTemplate(email: CampaignEmail): CompiledTemplate {
  const { subject = '', html = null, text = null } = email;
  return {
    subject,
    html,
    text,
    preheader: null,
    partials: {},
    textPartials: {},
    brand: null,
    priority: null,
    allowRawHtml: false,
    contract: null,
  };
}

function hasLiquid({ subject, html, text }: CompiledTemplate): boolean {
  return [subject, html, text].some((part) => part !== null && /\{\{|\{%/.test(part));
}

function inlineWithFooter(app: App, email: CampaignEmail, brand: BrandValues): CampaignEmail {
  const { html = null, text = null } = email;
  const url = email.unsubscribeGroupId === undefined ? null : recipientUrl(app);
  const content = withFooter({ html, text }, brand, url);
  return {
    ...email,
    ...(content.html !== null && { html: content.html }),
    ...(content.text !== null && { text: content.text }),
  };
}

async function mergedContent(
  app: App,
  organizationId: string,
  email: CampaignEmail,
  { html }: CompiledTemplate,
): Promise<SendContent> {
  const attachments = decodedAttachments(email.attachments ?? []);
  const tracking =
    html === null ? nothingTracked : await trackingWanted(app, organizationId, email.tracking);
  return { ...digestedContent('', { ...noContent, attachments }), tracking };
}
