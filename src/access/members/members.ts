// Members of an organization: invited, listed, changed and deleted (invitations.ts accepts).
//
//   status     event                    status
//   (none)     POST                     invited
//   invited    accepted by its token    active
//   active     PATCH status, or the     disabled: sessions there end within a second
//              role claim of sign-on
//   disabled   PATCH status             active
//   any        DELETE                   (none); a person without a membership is deleted too
import { type Page, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import { type Caller, callerId } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import type { Role } from '../../core/config/roles.ts';
import { changesOf } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, ForbiddenError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { admissionOf } from '../admission/admission.ts';
import { openAllowances } from '../admission/quota.ts';
import { requireStanding } from '../keys/key-caller.ts';
import { lockOrganization } from '../organizations/queries.ts';
import {
  assertRoomForInvitation,
  ended,
  invitationLivesMs,
  startInvitation,
} from './invitations.ts';
import { endPersonWithoutPlace } from './persons.ts';
import * as queries from './queries.ts';
import { requireMayGive, requireOtherOwner } from './rules.ts';
import {
  type CreateMember,
  createMemberInput,
  type ListMembers,
  type Member,
  memberNoun,
  type UpdateMember,
} from './schema.ts';

/** Time without a sign-in after which an owner must request a sign-in link for a person. */
const awayMs = 90 * 24 * 3_600_000;

/** Presents members as in the API, in the order of `rows`. */
async function presentMembers(
  app: App,
  db: Db,
  rows: readonly queries.MemberRow[],
): Promise<Member[]> {
  const ids = rows.flatMap(({ person_id }) => person_id ?? []);
  const persons = new Map((await queries.findPersons(db, ids)).map((row) => [row.id, row]));
  const withPasskey = await app.hooks.personsWithPasskey(db, ids);
  return rows.map((row) => {
    const person = row.person_id === null ? undefined : persons.get(row.person_id);
    return {
      id: row.id,
      email: row.email,
      name: row.name,
      role: row.role as Role,
      status: row.status,
      signIn: {
        link: person !== undefined && app.config.console.signIn.link,
        passkey: person !== undefined && withPasskey.has(person.id),
        provider: person !== undefined && person.oidc_subject !== null,
      },
      invitedBy: row.invited_by,
      expiresAt: row.status === 'invited' ? isoTime(row.expires_at) : null,
      acceptedAt: isoTime(row.accepted_at),
      lastSeenAt: isoTime(row.last_seen_at),
      createdAt: isoTime(row.created_at),
    };
  });
}

async function presentMember(app: App, db: Db, row: queries.MemberRow): Promise<Member> {
  const [member] = await presentMembers(app, db, [row]);
  return member as Member;
}

/** Returns the row of a new invitation, without a token. */
export function newMember(
  app: App,
  organizationId: string,
  { email, role, name }: Pick<CreateMember, 'email' | 'role' | 'name'>,
  invitedBy: string | null,
): queries.MemberRow {
  const now = app.clock.now();
  return {
    id: app.newId(memberNoun),
    organization_id: organizationId,
    person_id: null,
    email,
    name: name ?? null,
    role,
    status: 'invited',
    invited_by: invitedBy,
    invitation_hash: null,
    invitation_token: null,
    invitation_message_id: null,
    expires_at: now + invitationLivesMs,
    accepted_at: null,
    last_seen_at: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Begins a change of members: locks the organization, and requires that the caller is still a
 * member or a valid key. A change that came first may have ended the caller.
 */
async function begin(app: App, trx: Db, caller: Caller): Promise<void> {
  await lockOrganization(trx, caller.organizationId, app.clock.now());
  await requireStanding(app, trx, caller);
}

/** Begins an invitation: locks the allowances before the organization. */
async function beginInviting(app: App, trx: Db, caller: Caller): Promise<void> {
  await openAllowances(app, trx, [caller.organizationId]);
  await begin(app, trx, caller);
}

/** Mails an invitation, and stores the token of the link. @throws as `Hooks.mailInvitation` */
async function mailInvitation(
  app: App,
  trx: Db,
  caller: Caller,
  row: queries.MemberRow,
): Promise<void> {
  const messageId = await app.hooks.mailInvitation(app, trx, caller, {
    organizationId: row.organization_id,
    memberId: row.id,
    email: row.email,
    role: row.role,
    name: row.name,
    inviter: caller.keyName ?? callerId(caller) ?? 'operator',
    expiresAt: app.clock.now() + invitationLivesMs,
  });
  await startInvitation(app, trx, row, { messageId, livesMs: invitationLivesMs });
}

/** Counts the mail of an invitation towards the send rate. @throws RateLimitedError. */
async function drawForMail(app: App, caller: Caller, operation: string): Promise<void> {
  if (caller.by.kind !== 'operator') await admissionOf(app).admit(caller, operation);
}

/**
 * Invites a person. The answer does not reveal whether the address has an account elsewhere.
 * @throws ForbiddenError for a role beyond the caller; ConflictError for a member of this
 * organization and for the 21st open invitation; the refusals of the mail
 */
export async function createMember(app: App, caller: Caller, input: CreateMember): Promise<Member> {
  const wanted = parseWith(createMemberInput, input, 'body');
  requireMayGive(caller, wanted.role);
  if (wanted.mail) await drawForMail(app, caller, 'createMember');
  const row = newMember(app, caller.organizationId, wanted, callerId(caller));
  return app.store.write(async (trx) => {
    await beginInviting(app, trx, caller);
    await assertRoomForInvitation(app, trx, row);
    if (!(await queries.members.insert(trx, row, ['organization_id', 'email']))) {
      throw new ConflictError('member', `${row.email} is a member of this organization already`);
    }
    const { email, role, name } = row;
    const details = { email, role, name, mail: wanted.mail };
    await record(app, trx, caller, { subject: row.id, action: memberNoun.created, details });
    if (wanted.mail) await mailInvitation(app, trx, caller, row);
    return presentMember(app, trx, await queries.members.get(trx, row.organization_id, row.id));
  });
}

/** Lists a page of the organization's members, newest first. */
export async function listMembers(
  app: App,
  { organizationId }: Caller,
  page: ListMembers,
): Promise<Page<Member>> {
  const { db } = app.store;
  const { rows, total } = await queries.members.page(db, organizationId, page);
  return toPage(await presentMembers(app, db, rows), total, page);
}

/** Returns a member. @throws ResourceNotFoundError. */
export async function getMember(app: App, caller: Caller, id: string): Promise<Member> {
  const { db } = app.store;
  return presentMember(app, db, await queries.members.get(db, caller.organizationId, id));
}

/** Returns the editable fields for the audit. */
const settingsOf = ({ name, role, status }: queries.MemberRow) => ({ name, role, status });

function requireOthersRole({ by }: Caller, row: queries.MemberRow): void {
  if (by.kind !== 'member' || by.memberId !== row.id) return;
  throw new ForbiddenError('Nobody changes the own role: ask another owner');
}

/**
 * Changes the name, role or status of a member. A new role ends an open invitation, `disabled` the
 * sessions of the person in this organization.
 * @throws ResourceNotFoundError; ForbiddenError (a role beyond the caller, the own role);
 * ConflictError (the last owner, the status of an invited member)
 */
export function updateMember(
  app: App,
  caller: Caller,
  id: string,
  { name, role, status }: UpdateMember,
): Promise<Member> {
  return app.store.write(async (trx) => {
    await begin(app, trx, caller);
    const row = await queries.members.get(trx, caller.organizationId, id);
    requireMayGive(caller, row.role);
    const hasNewRole = role !== undefined && role !== row.role;
    if (hasNewRole) {
      requireOthersRole(caller, row);
      requireMayGive(caller, role);
    }
    if (status !== undefined && row.status === 'invited') {
      throw new ConflictError('member', `${row.email} has not accepted yet: delete the invitation`);
    }
    const isDisabled = status === 'disabled' && row.status === 'active';
    if (hasNewRole || isDisabled) await requireOtherOwner(trx, caller, row);
    if (isDisabled) await endPlace(app, trx, row);
    const changed = await queries.members.update(trx, caller.organizationId, id, {
      ...(hasNewRole && row.status === 'invited' && ended(app)),
      ...{ name, role, status },
      updated_at: app.clock.now(),
    });
    const details = changesOf(settingsOf(row), settingsOf(changed));
    if (Object.keys(details).length > 0) {
      const change = { subject: id, action: memberNoun.updated, details };
      await record(app, trx, caller, change);
    }
    return presentMember(app, trx, changed);
  });
}

/**
 * Ends the sessions of a member in the organization, and the open invitations that the member made.
 */
export async function endPlace(app: App, trx: Db, row: queries.MemberRow): Promise<void> {
  await app.hooks.endPlace(app, trx, row.id);
  const { organization_id: organizationId, id: inviter } = row;
  await queries.endInvitationsBy(trx, { organizationId, inviter, now: app.clock.now() });
}

/**
 * Deletes a member: the sessions in this organization end, and keys that the member made stay. A
 * person without a further membership is deleted with all passkeys and sessions.
 * @throws ResourceNotFoundError; ForbiddenError (only an owner deletes owners); ConflictError (the
 * last owner)
 */
export async function deleteMember(app: App, caller: Caller, id: string): Promise<Deleted> {
  await app.store.write(async (trx) => {
    await begin(app, trx, caller);
    const row = await queries.members.get(trx, caller.organizationId, id);
    requireMayGive(caller, row.role);
    await requireOtherOwner(trx, caller, row);
    await removeMember(app, trx, caller, row);
  });
  return { success: true, message: `Member ${id} is deleted` };
}

/** Deletes a member. The caller has checked the rights and the last owner. */
async function removeMember(
  app: App,
  trx: Db,
  caller: Caller,
  row: queries.MemberRow,
): Promise<void> {
  const { id, organization_id, email, role } = row;
  const details = { email, role, status: row.status };
  await record(app, trx, caller, { subject: id, action: memberNoun.deleted, details });
  await endPlace(app, trx, row);
  await queries.members.remove(trx, organization_id, id);
  if (row.person_id !== null) await endPersonWithoutPlace(app, trx, row.person_id);
}

/**
 * Removes the calling member from the organization.
 * @throws ForbiddenError for a key or the operator; ConflictError for the last owner
 */
export async function leaveOrganization(app: App, caller: Caller): Promise<void> {
  const { by, organizationId } = caller;
  if (by.kind !== 'member') throw new ForbiddenError('Only a member leaves an organization');
  await app.store.write(async (trx) => {
    await lockOrganization(trx, organizationId, app.clock.now());
    const row = await queries.members.get(trx, organizationId, by.memberId);
    await requireOtherOwner(trx, caller, row);
    await removeMember(app, trx, caller, row);
  });
}

/**
 * Mails an invitation again, for 7 days from now; the earlier token is void. For an active member
 * who was away for 90 days, an owner can have a sign-in link mailed.
 * @throws ResourceNotFoundError; ForbiddenError; ConflictError (a disabled or an active member, the
 * 21st open invitation); the refusals of the mail
 */
export async function resendInvitation(app: App, caller: Caller, id: string): Promise<Member> {
  const { organizationId } = caller;
  const found = await queries.members.get(app.store.db, organizationId, id);
  requireMayGive(caller, found.role);
  await drawForMail(app, caller, 'resendMember');
  return app.store.write(async (trx) => {
    await beginInviting(app, trx, caller);
    const row = await queries.members.get(trx, organizationId, id);
    requireMayGive(caller, row.role);
    await mailAgain(app, trx, caller, row);
    const details = { email: row.email, status: row.status };
    await record(app, trx, caller, { subject: id, action: 'member.resent', details });
    return presentMember(app, trx, await queries.members.get(trx, organizationId, id));
  });
}

async function mailAgain(app: App, trx: Db, caller: Caller, row: queries.MemberRow): Promise<void> {
  const { organization_id, id, status } = row;
  if (status === 'invited') {
    await assertRoomForInvitation(app, trx, row);
    const invitedBy = { invited_by: callerId(caller) };
    return mailInvitation(
      app,
      trx,
      caller,
      await queries.members.update(trx, organization_id, id, invitedBy),
    );
  }
  const person = row.person_id === null ? undefined : await queries.findPerson(trx, row.person_id);
  const since = app.clock.now() - awayMs;
  const isAway = person && (person.last_signed_in_at ?? person.created_at) <= since;
  if (status === 'disabled' || !isAway || caller.roleName !== 'owner') {
    const need =
      'only an invitation is sent again, or by an owner the link of who was away 90 days';
    throw new ConflictError('member', `${row.email} is ${status}: ${need}`);
  }
  await app.hooks.mailReturn(app, trx, person, organization_id);
}
