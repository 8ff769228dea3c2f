// The link with the token in a mail that asks an address for proof. Only the copy that is sent
// contains the token. The stored message does not, as the organization that asks can read it.
import type { App } from '../../../core/app.ts';
import { tokenOfMail } from '../../../identity/senders/proof.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import { fromJson } from '../../../platform/store/db.ts';
import type { MessageRow } from '../../messages/queries.ts';

const path = '/verify/';
/** Stands for the token in a stored content. */
const standIn = `${path}of-this-mail`;

/** Returns the link for a stored content. */
export function proofUrl(app: App): string {
  return `${app.publicUrl.current.replace(/\/$/, '')}${standIn}`;
}

/** Returns the request with the token of this mail, if it asks for proof. */
export async function withProofLink(
  app: App,
  { id, origin }: Pick<MessageRow, 'id' | 'origin'>,
  request: ComposeRequest,
): Promise<ComposeRequest> {
  if ('raw' in request.input || !isOfService(origin)) return request;
  const { html, text } = request.input;
  if (!text?.includes(standIn)) return request;
  const token = await tokenOfMail(app, id);
  if (token === null) return request;
  const link = `${path}${token}`;
  return {
    ...request,
    input: {
      ...request.input,
      html: html?.replaceAll(standIn, link) ?? null,
      text: text.replaceAll(standIn, link),
    },
  };
}

function isOfService(origin: string | null): boolean {
  return (
    origin?.includes('"service"') === true && fromJson<{ via: string }>(origin)?.via === 'service'
  );
}
