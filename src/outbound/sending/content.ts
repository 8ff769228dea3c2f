// The content of a send, prepared before the accept transaction: decodes attachments, digests the
// whole, and finds the links of tracked mail. So 40 MB of files do not delay the commits of
// concurrent sends.
import { hash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { fileTypeOf } from '../../mail/mime/file-type.ts';
import { textAtOnce, withLongText } from '../messages/made-text.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import {
  linksOf,
  nothingTracked,
  type Tracking,
  trackingWanted,
  unsubscribeUrlsOf,
} from '../tracking/content.ts';
import type { FoundLinks } from '../tracking/links.ts';
import type { RawContent } from './hand-in/raw-content.ts';

export interface SendContent {
  /** Digest: equal for equal contents within an organization. */
  digest: string;
  html: string | null;
  text: string | null;
  attachments: {
    filename: string;
    contentType: string;
    contentId: string | null;
    data: Buffer;
  }[];
  /**
   * Set for a mail that is sent as existing MIME. For a submitted mail this is the whole content.
   * For a mail that was frozen for approval, the remaining fields serve only for display and
   * search.
   */
  raw: RawContent | null;
  tracking: Tracking;
  /** Links of the HTML, if opens or clicks are tracked. */
  links: FoundLinks | null;
}

/**
 * Returns the content of a raw mail. Raw mails never share stored content, as they differ at least
 * in their ids.
 */
export function rawSendContent(raw: RawContent): SendContent {
  const nothing = {
    html: null,
    text: null,
    attachments: [],
    tracking: nothingTracked,
    links: null,
  };
  return { digest: '', ...nothing, raw };
}

/**
 * Decodes and digests the payload. Returns a promise if opens or clicks may be tracked, or the text
 * of long HTML must be made.
 */
export function prepareContent(
  app: App,
  organizationId: string,
  payload: SendPayload,
): SendContent | Promise<SendContent> {
  const { html = null, text = null } = payload.email;
  const texts = withLongText(app, organizationId, { html, text });
  if (!(texts instanceof Promise)) return prepareTexts(app, organizationId, payload);
  return texts.then((made) => {
    const email = { ...payload.email, ...(made.text !== null && { text: made.text }) };
    return prepareTexts(app, organizationId, { ...payload, email });
  });
}

/** Decodes and digests a payload that already has the text of long HTML. */
function prepareTexts(
  app: App,
  organizationId: string,
  payload: SendPayload,
): SendContent | Promise<SendContent> {
  const content = readSendContent(organizationId, payload);
  if (content.html === null || content.html === '') return content;
  const wanted = trackingWanted(app, organizationId, payload.email.tracking);
  if (wanted instanceof Promise) {
    return wanted.then((tracking) => withLinks(app, payload, content, tracking));
  }
  return withLinks(app, payload, content, wanted);
}

/**
 * Adds the links of tracked content. Tracked content gets a digest of its own, as untracked content
 * has no links.
 */
function withLinks(
  app: App,
  payload: SendPayload,
  content: SendContent,
  tracking: Tracking,
): SendContent | Promise<SendContent> {
  if (!(tracking.opens || tracking.clicks)) return content;
  const unsubscribeUrls = unsubscribeUrlsOf(payload.email.headers);
  const digest = sha256(JSON.stringify(['tracked', content.digest, unsubscribeUrls]));
  return linksOf(app, digest, content.html ?? '', unsubscribeUrls).then((links) => {
    const opens = tracking.opens && links.cuts.pixelAt !== null;
    return { ...content, digest, tracking: { opens, clicks: tracking.clicks }, links };
  });
}

/**
 * Decodes and digests the payload as untracked content. HTML without a text gets a made text;
 * `text: ''` stays empty and adds no part to the mail.
 */
export function readSendContent(organizationId: string, { email }: SendPayload): SendContent {
  const { html = null, text = null } = email;
  const attachments = decodedAttachments(email.attachments ?? []);
  return digestedContent(organizationId, { html, text, attachments });
}

/** Decodes the attachments of a payload, with their types and bytes. */
export function decodedAttachments(
  attachments: NonNullable<SendPayload['email']['attachments']>,
): SendContent['attachments'] {
  return attachments.map(({ filename, contentType, contentId, content }) => ({
    filename,
    contentType: contentType ?? fileTypeOf(filename),
    contentId: contentId ?? null,
    data: Buffer.from(content, 'base64'),
  }));
}

/**
 * Returns content with its digest. Content without a text gets a text made from the HTML. The
 * attachments are decoded already.
 */
export function digestedContent(
  organizationId: string,
  written: Pick<SendContent, 'html' | 'text' | 'attachments'>,
): SendContent {
  const { html, attachments } = written;
  const text = written.text ?? (html === null ? null : textAtOnce(html) || null);
  const files = attachments.map(({ data, ...described }) => [described, sha256(data)]);
  // Includes the lengths, which separate HTML and text.
  const head = JSON.stringify([organizationId, html?.length, text?.length, files]);
  return {
    digest: sha256(head + (html ?? '') + (text ?? '')),
    html,
    text,
    attachments,
    raw: null,
    tracking: nothingTracked,
    links: null,
  };
}

function sha256(data: string | Buffer): string {
  return hash('sha256', data, 'base64');
}
