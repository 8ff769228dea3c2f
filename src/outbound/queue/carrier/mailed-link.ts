// The link with a token in mail of the service: a proof of an address, a link to sign in, an
// invitation. Only the copy that is sent contains the token. The stored message does not, as a
// reader of the message could use the link.
import { tokenOfInvitation } from '../../../access/members/invitations.ts';
import { tokenOfLinkMail } from '../../../access/sessions/mailed-links.ts';
import type { App } from '../../../core/app.ts';
import { invitationPath, linkPath } from '../../../core/link-pages/person-links.ts';
import { tokenOfMail } from '../../../identity/senders/proof.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import { fromJson } from '../../../platform/store/db.ts';
import type { MessageRow } from '../../messages/queries.ts';

/** Text that takes the place of the token in a stored content. */
const standIn = 'of-this-mail';

/** Returns the token of a mail; null once the link has ended. */
type TokenOf = (app: App, messageId: string) => Promise<string | null>;

/** Finds the token of a mail, by the path of the link before the token. */
const kinds = {
  '/verify/': tokenOfMail,
  [linkPath]: tokenOfLinkMail,
  [invitationPath]: tokenOfInvitation,
} satisfies Record<string, TokenOf>;

export type MailedPath = keyof typeof kinds;

/** Returns the link for a stored content, with a stand-in for the token. */
export function mailedUrl(app: App, path: MailedPath): string {
  return `${app.publicUrl.current.replace(/\/$/, '')}${path}${standIn}`;
}

/** A request for the copy that is sent, and a filter for the answers to it. */
interface Copy {
  request: ComposeRequest;
  /** Returns an outcome without the token, which a server may quote. */
  conceal(outcome: Outcome): Outcome;
}

/**
 * Returns the request with the token of this mail, if it has a link with a token; null once the
 * link ended, by its time, by a later mail or by a deletion.
 */
export async function withMailedLink(
  app: App,
  { id, origin }: Pick<MessageRow, 'id' | 'origin'>,
  request: ComposeRequest,
): Promise<Copy | null> {
  const unchanged = { request, conceal: (outcome: Outcome) => outcome };
  if ('raw' in request.input || !isOfService(origin)) return unchanged;
  const { html, text } = request.input;
  const kind = Object.entries(kinds).find(([path]) => text?.includes(path + standIn));
  if (!kind || !text) return unchanged;
  const [path, tokenOf] = kind;
  const token = await tokenOf(app, id);
  if (token === null) return null;
  const withToken = (part: string) => part.replaceAll(path + standIn, path + token);
  const input = { ...request.input, html: html && withToken(html), text: withToken(text) };
  return {
    request: { ...request, input },
    conceal(outcome) {
      const without = (part: string) => part.replaceAll(token, standIn);
      const reply = { ...outcome.reply, text: without(outcome.reply.text) };
      const trace = { ...outcome.trace, transcript: without(outcome.trace.transcript) };
      return { ...outcome, reply, trace };
    },
  };
}

function isOfService(origin: string | null): boolean {
  return (
    origin?.includes('"service"') === true && fromJson<{ via: string }>(origin)?.via === 'service'
  );
}
