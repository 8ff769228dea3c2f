// Facts of the pages that recipients open from their mail: the form that they sent, the name of the
// sender, and the look.
import { findOrganization } from '../../access/organizations/queries.ts';
import { findDefaultBrand } from '../../content/brands/queries.ts';
import { findDefaultSender } from '../../identity/senders/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { findMessageRow } from '../messages/queries.ts';
import { type PageLook, pageLookOf, plainLook } from '../tracking/page-look.ts';
import type { TrackedRequest } from '../tracking/serve.ts';
import type { Leaver } from './tokens.ts';

/** A request with the body that the face has read. */
export interface LeaveRequest extends TrackedRequest {
  body?: Buffer;
}

const urlEncoded = 'application/x-www-form-urlencoded';

/**
 * Reads a form, or returns null. Both encodings that browsers use are allowed (RFC 8058 3.2). Drops
 * a line end behind the body, which some mail programs add.
 */
export async function formOf({ headers, body }: LeaveRequest): Promise<FormData | null> {
  const type = headers['content-type'] ?? urlEncoded;
  const isUrlEncoded = type.trimStart().toLowerCase().startsWith(urlEncoded);
  const bytes = body ? new Uint8Array(isUrlEncoded ? withoutLineEnd(body) : body) : '';
  const answer = new Response(bytes, { headers: { 'content-type': type } });
  return answer.formData().catch(() => null);
}

function withoutLineEnd(body: Buffer): Buffer {
  let end = body.length;
  while (end > 0 && [0x0a, 0x0d].includes(body[end - 1] ?? 0)) end -= 1;
  return body.subarray(0, end);
}

/** Returns the look of the organization's pages: the look of the default brand. */
export async function lookOf(db: Db, organizationId: string): Promise<PageLook> {
  const brand = await findDefaultBrand(db, organizationId);
  return brand ? pageLookOf(brand) : plainLook;
}

/**
 * Returns the sender as the recipient knows it: the From of the mail. If the mail was deleted, the
 * default sender or the organization, but never the name of the first organization, which the owner
 * did not choose.
 */
export async function senderNameOf(
  db: Db,
  { organizationId, messageId }: Pick<Leaver, 'organizationId' | 'messageId'>,
): Promise<string> {
  const message = messageId === null ? undefined : await findMessageRow(db, messageId);
  if (message) return message.from_name ?? message.from_email;
  const sender = await findDefaultSender(db, organizationId);
  const organization = await findOrganization(db, organizationId);
  const chosen = organization?.is_first === 1 ? null : organization?.name;
  return sender?.name ?? chosen ?? sender?.email ?? 'this sender';
}
