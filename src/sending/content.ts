// The content of a send, made ready outside the accept transaction: attachments decoded, the whole
// digested, the links of what is tracked found, so that 40 MB of files hold up nobody's commit.
import { hash } from 'node:crypto';
import type { App } from '../app.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { fileTypeOf } from '../mime/file-type.ts';
import { textOfHtml } from '../mime/html-text.ts';
import {
  linksOf,
  nothingTracked,
  type Tracking,
  trackingWanted,
  unsubscribeUrlsOf,
} from '../tracking/content.ts';
import type { FoundLinks } from '../tracking/links.ts';
import type { RawContent } from './raw-content.ts';

export interface SendContent {
  /** Equal for equal contents of one organization. */
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
   * A mail that goes as MIME which is there already. Handed in, it is all of the content; frozen, the rest
   * says how it is shown and found.
   */
  raw: RawContent | null;
  tracking: Tracking;
  /** Of the HTML, where something is tracked. */
  links: FoundLinks | null;
}

/** Raw mails differ in their ids at least, so that none shares what is stored. */
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

/** Decodes and digests what the payload carries; a promise where opens or clicks may be tracked. */
export function prepareContent(
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

/** Tracked and other contents are stored apart: only the former have links. */
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
 * Decodes and digests what the payload carries, as what is not tracked. HTML that comes without a text
 * gets one; `text: ''` is one that says nothing, and no part of the mail.
 */
export function readSendContent(organizationId: string, { email }: SendPayload): SendContent {
  const { html = null, text = null } = email;
  const attachments = decodedAttachments(email.attachments ?? []);
  return digestedContent(organizationId, { html, text, attachments });
}

/** The attachments of a payload, with their types and bytes. */
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

/** As `readSendContent`, of attachments that are decoded already. */
export function digestedContent(
  organizationId: string,
  written: Pick<SendContent, 'html' | 'text' | 'attachments'>,
): SendContent {
  const { html, attachments } = written;
  const text = written.text ?? (html === null ? null : textOfHtml(html) || null);
  const files = attachments.map(({ data, ...described }) => [described, sha256(data)]);
  // The lengths tell where the one ends and the other begins.
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
