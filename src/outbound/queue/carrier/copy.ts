// The parts of a message that differ by copy: tracked links, the unsubscribe link, the field of the
// SMTP transaction. Attempts and downloads share this code, so that a download has the bytes that
// were sent.
import { withRecipientUrl } from '../../../content/rendering/recipient-url.ts';
import type { App } from '../../../core/app.ts';
import type { SignedMessage } from '../../../mail/mime/dkim/sign.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import type { MessageRow } from '../../messages/queries.ts';
import { type Cuts, fillLinks } from '../../tracking/links.ts';
import { pixel, tokensOf } from '../../tracking/tokens.ts';
import { leaveFields, leaveUrl } from '../../unsubscribe-links/header.ts';
import { returnPathHost } from '../attempting/return-path.ts';

/** A message, and the positions of the links in the content if the message is tracked. */
export interface CopiedMessage {
  message: MessageRow;
  cuts?: Cuts | null;
}

/**
 * Tells whether each recipient gets different bytes: a tracked message, a message with an
 * unsubscribe link, or a message of a campaign run.
 */
export function travelsAlone(
  { message, cuts }: Pick<CopiedMessage, 'cuts'> & { message: Pick<MessageRow, 'campaign_run_id'> },
  delivery: Pick<DeliveryRow, 'unsubscribe_group_id'> | undefined,
): boolean {
  if (message.campaign_run_id !== null) return true;
  return cuts != null || (delivery?.unsubscribe_group_id ?? null) !== null;
}

/** Returns the request for the copy of a delivery. Links begin with `linkBase`. */
export async function copyRequestOf(
  app: App,
  { message, cuts }: CopiedMessage,
  request: ComposeRequest,
  delivery: DeliveryRow,
  linkBase: string,
): Promise<ComposeRequest> {
  const tracked =
    cuts == null ? request : trackedRequestOf(app, message, request, cuts, delivery.id, linkBase);
  const url = leaveUrl(app, message, delivery, linkBase);
  if (url === null) return tracked;
  const { sender_domain_id: domainId } = message;
  const host = domainId === null ? undefined : await returnPathHost(app, domainId);
  return withLeaveLinks(tracked, url, leaveFields(app, url, delivery, host));
}

/** Returns the request for a single recipient: opens and clicks of this copy name the delivery. */
function trackedRequestOf(
  app: App,
  message: Pick<MessageRow, 'track_opens' | 'track_clicks'>,
  request: ComposeRequest,
  cuts: Cuts,
  deliveryId: string,
  linkBase: string,
): ComposeRequest {
  if ('raw' in request.input || request.input.html === null) return request;
  const { html } = request.input;
  const token = tokensOf(app, deliveryId);
  // Makes the pixel first: tokens cost least in the order of their numbers.
  const pixelUrl = message.track_opens === 1 ? `${linkBase}/t/o/${token(pixel)}` : null;
  const linkUrl =
    message.track_clicks === 1 ? (link: number) => `${linkBase}/t/c/${token(link)}` : null;
  return {
    ...request,
    input: { ...request.input, html: fillLinks(html, cuts, linkUrl, pixelUrl) },
  };
}

/** Returns the request with the unsubscribe link of a recipient, in header fields and content. */
function withLeaveLinks(
  request: ComposeRequest,
  url: string,
  fields: readonly (readonly [string, string])[],
): ComposeRequest {
  if ('raw' in request.input) return request;
  const { html, text, headers } = request.input;
  return {
    ...request,
    input: {
      ...request.input,
      html: withRecipientUrl(html, url),
      text: withRecipientUrl(text, url),
      headers: [...headers, ...fields],
    },
  };
}

/**
 * Inserts the field of a transaction. The signatures do not cover it: signing again for each domain
 * would cost 30 to 300 µs, and the token in the field is signed itself.
 */
export function withCopyField(
  { data, headerAt }: SignedMessage,
  copyField: string | null | undefined,
): Buffer[] {
  if (!copyField) return data;
  const field = Buffer.from(copyField, 'latin1');
  const [first, ...rest] = data;
  if (!first || headerAt === 0) return [field, ...data];
  if (first.length === headerAt) return [first, field, ...rest];
  return [first.subarray(0, headerAt), field, first.subarray(headerAt), ...rest];
}
