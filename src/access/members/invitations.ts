// The token of an invitation: its hash, and the encrypted token for the copy of the mail that
// leaves (src/outbound/sending/people).
import type { App } from '../../core/app.ts';
import { findInvitationOfMail } from './queries.ts';

/** Time in which an invitation can be accepted. */
export const invitationLivesMs = 7 * 24 * 3_600_000;

/** Context of an encrypted token. */
export const sealedAs = (memberId: string) => `invitation:${memberId}`;

/** Returns the token for the copy of a mail; null once the invitation ended or was mailed again. */
export async function tokenOfInvitation(app: App, messageId: string): Promise<string | null> {
  const row = await findInvitationOfMail(app.store.db, messageId);
  if (!row?.invitation_token || (row.expires_at ?? 0) <= app.clock.now()) return null;
  return app.secrets.decrypt(row.invitation_token, sealedAs(row.id)).toString();
}
