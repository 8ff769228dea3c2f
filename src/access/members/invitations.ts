// Invitations: rows of members that a person accepts or declines by a token. Accepting gives a
// membership. It begins a session only for a new person: a person with an account must sign in.
//
//   state     event                                         state
//   (none)    invited                                       open: 7 days, used once
//   open      resent                                        open, the earlier token is void
//   open      the role changed; the inviter was disabled    ended
//             or may no longer give the role; 7 days passed
//   ended     resent                                        open
//   open      accepted                                      the member is active
//   any       declined, deleted                             (none)
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { holdRootKey } from '../../core/root-keys/root-keys.ts';
import { byService, record } from '../../history/events/record.ts';
import { ConflictError, ForbiddenError } from '../../platform/errors.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import type { Db } from '../../platform/store/db.ts';
import { findOrganization, lockOrganization } from '../organizations/queries.ts';
import { callerOfMember, newPerson, standingCaller } from './persons.ts';
import * as queries from './queries.ts';
import { mayGive } from './rules.ts';
import { updateMemberInput } from './schema.ts';

/** Time in which an invitation can be accepted. */
export const invitationLivesMs = 7 * 24 * 3_600_000;

/** Most open invitations of an organization. */
const mostOpen = 20;

/** Returns the AES-GCM context that binds an encrypted token to the row of the member. */
export const sealedAs = (memberId: string) => `invitation:${memberId}`;

/**
 * Requires space for an open invitation. The transaction must have locked the organization.
 * @throws ConflictError if the organization has 20 further open invitations
 */
export async function assertRoomForInvitation(
  app: App,
  trx: Db,
  { id, organization_id }: queries.MemberRow,
): Promise<void> {
  const now = app.clock.now();
  const open = await queries.countOpenInvitations(trx, organization_id, { except: id, now });
  if (open < mostOpen) return;
  throw new ConflictError(
    'member',
    `${open} invitations are open, the most of an organization: delete one (svc members list)`,
  );
}

/** Stores a new token of an invitation; the earlier token is void. Returns the token. */
export async function startInvitation(
  app: App,
  trx: Db,
  { id, organization_id }: queries.MemberRow,
  { messageId, livesMs }: { messageId: string | null; livesMs: number },
): Promise<string> {
  const now = app.clock.now();
  const token = newToken(app.random);
  await holdRootKey(app, trx);
  await queries.members.update(trx, organization_id, id, {
    invitation_hash: hashOfToken(token),
    invitation_token: messageId === null ? null : app.secrets.encrypt(token, sealedAs(id)),
    invitation_message_id: messageId,
    expires_at: now + livesMs,
    updated_at: now,
  });
  return token;
}

/** Returns the token for the copy of a mail; null once the invitation ended or was mailed again. */
export async function tokenOfInvitation(app: App, messageId: string): Promise<string | null> {
  const row = await queries.findInvitationOfMail(app.store.db, messageId);
  if (!row?.invitation_token || (row.expires_at ?? 0) <= app.clock.now()) return null;
  return app.secrets.decrypt(row.invitation_token, sealedAs(row.id)).toString();
}

/** An open invitation, with the facts that the page of the link shows. */
export interface Invitation {
  row: queries.MemberRow;
  organization: string;
  /** Name of the member or key that invited. */
  inviter: string;
  /** The person with the invited address, who must sign in to accept; null for a new address. */
  person: queries.PersonRow | null;
}

/** Returns the name of the inviter; null if the inviter may no longer give the role. */
async function standingInviter(db: Db, row: queries.MemberRow): Promise<string | null> {
  const { invited_by: id, role } = row;
  if (id === null) return 'the operator';
  const inviter = await standingCaller(db, id);
  return inviter && mayGive(inviter, role) ? (inviter.keyName ?? id) : null;
}

/** Returns the name of the inviter of an open invitation; null once the invitation ended. */
export async function openInviter(
  app: App,
  db: Db,
  row: queries.MemberRow,
): Promise<string | null> {
  const isOpen = row.status === 'invited' && (row.expires_at ?? 0) > app.clock.now();
  return isOpen ? standingInviter(db, row) : null;
}

/** Returns the open invitation of a token; null if the token is unknown or the invitation ended. */
export async function readInvitation(
  app: App,
  token: string,
  db: Db = app.store.db,
): Promise<Invitation | null> {
  const row = await queries.findInvitation(db, hashOfToken(token));
  const inviter = row ? await openInviter(app, db, row) : null;
  if (!row || inviter === null) return null;
  const organization = await findOrganization(db, row.organization_id);
  if (!organization) return null;
  const person = (await queries.findPersonByEmail(db, row.email)) ?? null;
  return { row, organization: organization.name, inviter, person };
}

/**
 * Returns the open invitation of a token, or null. Locks the organization, so that of two uses of
 * the token only the first counts.
 */
async function lockInvitation(app: App, trx: Db, token: string): Promise<Invitation | null> {
  const row = await queries.findInvitation(trx, hashOfToken(token));
  if (!row) return null;
  await lockOrganization(trx, row.organization_id, app.clock.now());
  return readInvitation(app, token, trx);
}

/** Result of an accepted invitation. */
export interface Accepted {
  member: queries.MemberRow;
  personId: string;
  /** Whether the person is new: only then the acceptance may begin a session. */
  isNew: boolean;
}

/**
 * Accepts an invitation, once. `personId` is the signed-in person; null for a visitor, for whom a
 * person is created. An empty `name` keeps the name of the invitation. Returns null for an ended
 * invitation.
 * @throws ForbiddenError for a visitor with an account, and for a person with a different address;
 * ValidationError on `name`
 */
export async function acceptInvitation(
  app: App,
  token: string,
  personId: string | null,
  name = '',
): Promise<Accepted | null> {
  const named =
    name.trim() === '' ? {} : parseWith(updateMemberInput, { name: name.trim() }, 'body');
  return app.store.write(async (trx) => {
    const invitation = await lockInvitation(app, trx, token);
    if (!invitation) return null;
    const { row, person } = invitation;
    if (personId === null && person) {
      throw new ForbiddenError(`${row.email} has an account: sign in, and accept then`);
    }
    if (personId !== null && person?.id !== personId) {
      throw new ForbiddenError(`The invitation is for ${row.email}: sign in with that address`);
    }
    const holder = person ?? newPerson(app, row.email);
    if (!person && !(await queries.insertPerson(trx, holder))) return null;
    const member = await queries.members.update(trx, row.organization_id, row.id, {
      ...ended(app),
      ...named,
      person_id: holder.id,
      status: 'active',
      accepted_at: app.clock.now(),
    });
    const details = { role: row.role };
    const change = { subject: row.id, action: 'member.accepted', details } as const;
    await record(app, trx, callerOfMember(member), change);
    return { member, personId: holder.id, isNew: !person };
  });
}

/** Returns the columns that end an invitation now. */
export function ended(app: App) {
  const now = app.clock.now();
  return {
    invitation_hash: null,
    invitation_token: null,
    invitation_message_id: null,
    expires_at: now,
    updated_at: now,
  };
}

/** Declines an invitation, and deletes its row. Returns false for an ended invitation. */
export function declineInvitation(app: App, token: string): Promise<boolean> {
  return app.store.write(async (trx) => {
    const invitation = await lockInvitation(app, trx, token);
    if (!invitation) return false;
    const { id, organization_id, email, role } = invitation.row;
    await queries.members.remove(trx, organization_id, id);
    const change = { subject: id, action: 'member.declined', details: { email, role } } as const;
    await record(app, trx, byService(organization_id), change);
    return true;
  });
}
