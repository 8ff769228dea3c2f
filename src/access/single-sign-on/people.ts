// The person behind an identity of the provider. A person is bound by issuer, client and subject.
//
//   identity                  | member of `join.organization`       | then
//   --------------------------+-------------------------------------+------------------------------
//   bound                     | any                                 | signs in; the claim gives the
//                             |                                     | role
//   of an address, proven,    | invited                             | bound, the invitation is
//   in a domain of `domains`  |                                     | accepted
//   the same                  | none, and no person has the address | joins with a role of the
//                             |                                     | configuration
//   the same                  | the person is active or disabled    | refused: binds in My account
//   any                       | an open invitation and its link     | bound, the invitation is
//                             |                                     | accepted
//
// A refusal of an unbound identity has the same words for known and unknown addresses.
import type { App } from '../../core/app.ts';
import type { Role } from '../../core/config/roles.ts';
import { byService, record } from '../../history/events/record.ts';
import { domainOf } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { ended, openInviter } from '../members/invitations.ts';
import { endPlace, newMember } from '../members/members.ts';
import { callerOfMember, newPerson, placesOf, recordOfPerson } from '../members/persons.ts';
import * as queries from '../members/queries.ts';
import { lockOrganizationRow } from '../organizations/queries.ts';
import type { Identity } from './identity.ts';
import { claimedRole } from './role-claim.ts';

/** Reason for which an identity signs nobody in. */
export type IdentityRefusal =
  /** Neither bound, nor allowed to join: the same for known and unknown addresses. */
  | 'no-place'
  | 'disabled'
  /** The claim maps to no role. */
  | 'no-role'
  /** The claim is absent, too long or of another type. */
  | 'unreadable-role'
  /** The identity is bound to another person. */
  | 'bound-elsewhere'
  /** The person is bound to another identity. */
  | 'already-bound'
  /** The provider gives another address than the invitation. */
  | 'other-address'
  | 'invitation-ended'
  /** The provider did not ask for a proof, or does not say when it did. */
  | 'not-fresh';

export type PersonOfIdentity =
  | { personId: string; organizationId: string | null }
  | { refused: IdentityRefusal };

const refused = (reason: IdentityRefusal): PersonOfIdentity => ({ refused: reason });
const google = 'https://accounts.google.com';

/** Tells whether the provider proved an address of a domain of the configuration. */
function provesAddress({ config }: Pick<App, 'config'>, identity: Identity): boolean {
  const { email, isEmailVerified, hostedDomain, issuer } = identity;
  if (email === null || !isEmailVerified) return false;
  const domain = domainOf(email);
  // Anybody can make a Google account with any address. Only `hd` proves the organization.
  const isOfDomain = hostedDomain === domain || (hostedDomain === null && issuer !== google);
  return isOfDomain && config.console.signIn.oidc.domains.includes(domain);
}

const bindingOf = ({ issuer, clientId, subject }: Identity, now: number) => ({
  oidc_issuer: issuer,
  oidc_client: clientId,
  oidc_subject: subject,
  bound_at: now,
});

/** Binds a person, and records the binding in the audit of the person's organizations. */
async function bind(app: App, trx: Db, personId: string, identity: Identity): Promise<void> {
  await queries.updatePerson(trx, personId, bindingOf(identity, app.clock.now()));
  const details = { issuer: identity.issuer };
  await recordOfPerson(app, trx, personId, { action: 'member.provider-bound', details });
}

/**
 * Returns the role that the claim gives in the organization; null if no claim gives roles there.
 */
function roleByClaim({ config }: Pick<App, 'config'>, identity: Identity, organizationId: string) {
  const { roles, join } = config.console.signIn.oidc;
  if (roles.claim === null || join.organization !== organizationId) return null;
  return claimedRole(identity.roleClaim, roles.map);
}

/**
 * Returns the person of an identity: bound before, or joining now by a proven address; else a
 * refusal.
 */
export function personOfIdentity(app: App, identity: Identity): Promise<PersonOfIdentity> {
  const { organization } = app.config.console.signIn.oidc.join;
  return app.store.write(async (trx) => {
    const joined = organization && (await lockOrganizationRow(trx, organization));
    const bound = await queries.findPersonByBinding(trx, identity);
    if (bound) return signInBound(app, trx, bound.id, identity);
    return joined ? joinByAddress(app, trx, joined.id, identity) : refused('no-place');
  });
}

async function signInBound(
  app: App,
  trx: Db,
  personId: string,
  identity: Identity,
): Promise<PersonOfIdentity> {
  const { organization } = app.config.console.signIn.oidc.join;
  const place = organization
    ? await queries.findPlace(trx, { personId, organizationId: organization })
    : undefined;
  if (place?.status === 'active') {
    const claimed = roleByClaim(app, identity, place.organization_id);
    if (claimed === 'unreadable') return refused('unreadable-role');
    if (claimed !== null) await follow(app, trx, place, claimed === 'none' ? null : claimed.role);
  }
  const places = await placesOf(trx, personId);
  const isActive = places.some(({ status }) => status === 'active');
  return isActive ? { personId, organizationId: null } : refused('disabled');
}

/**
 * Applies the role of the claim to an active member; null disables the member. Never changes the
 * last owner.
 */
async function follow(
  app: App,
  trx: Db,
  place: queries.MemberRow,
  role: Role | null,
): Promise<void> {
  if (place.role === role) return;
  const { id, organization_id: organizationId } = place;
  const owners = await queries.selectActiveOwners(trx, organizationId, 2);
  if (owners.length === 1 && owners[0]?.id === id) return;
  const updated_at = app.clock.now();
  if (role === null) await endPlace(app, trx, place);
  const change = role === null ? { status: 'disabled' as const } : { role };
  await queries.members.update(trx, organizationId, id, { ...change, updated_at });
  const details = role === null ? {} : { from: place.role, to: role };
  const action = role === null ? 'member.provider-disabled' : 'member.provider-role';
  await record(app, trx, byService(organizationId), { subject: id, action, details });
}

async function joinByAddress(
  app: App,
  trx: Db,
  organizationId: string,
  identity: Identity,
): Promise<PersonOfIdentity> {
  const { email } = identity;
  if (email === null || !provesAddress(app, identity)) return refused('no-place');
  const person = await queries.findPersonByEmail(trx, email);
  const isKnown = person && (await placesOf(trx, person.id)).length > 0;
  if (isKnown || (person && person.oidc_subject !== null)) return refused('no-place');
  const invited = await queries.findMemberByEmail(trx, organizationId, email);
  const isOpen = invited && (await openInviter(app, trx, invited)) !== null;
  const claimed = roleByClaim(app, identity, organizationId);
  if (claimed === 'unreadable') return refused('unreadable-role');
  if (claimed === 'none') return refused('no-role');
  const ofInvitation = invited && isOpen ? invited.role : null;
  const role = claimed?.role ?? ofInvitation ?? app.config.console.signIn.oidc.join.role;
  if (role === null) return refused('no-place');
  const personId = await bindNew(app, trx, email, identity);
  await openPlace(app, trx, { organizationId, personId, email, role, identity, invited });
  return { personId, organizationId };
}

/** Binds the person of an address, or creates a bound person. Returns the id of the person. */
async function bindNew(app: App, trx: Db, email: string, identity: Identity): Promise<string> {
  const known = await queries.findPersonByEmail(trx, email);
  if (known) {
    await bind(app, trx, known.id, identity);
    return known.id;
  }
  const row = { ...newPerson(app, email), ...bindingOf(identity, app.clock.now()) };
  await queries.insertPerson(trx, row);
  return row.id;
}

interface NewPlace {
  organizationId: string;
  personId: string;
  email: string;
  role: string;
  identity: Identity;
  invited: queries.MemberRow | undefined;
}

/** Makes an active member, from the row of the invitation if the address has an invitation. */
async function openPlace(
  app: App,
  trx: Db,
  { organizationId, personId, email, role, identity, invited }: NewPlace,
): Promise<void> {
  const place = {
    person_id: personId,
    role,
    status: 'active' as const,
    name: invited?.name ?? identity.name,
    accepted_at: app.clock.now(),
    ...ended(app),
  };
  const made = newMember(app, organizationId, { email, role: role as Role }, null);
  const row: queries.MemberRow = { ...(invited ?? made), ...place };
  if (invited) await queries.members.update(trx, organizationId, invited.id, place);
  else await queries.members.insert(trx, row);
  const details = { issuer: identity.issuer, role };
  const change = { subject: row.id, action: 'member.provider-joined', details } as const;
  await record(app, trx, callerOfMember(row), change);
}

/**
 * Accepts an invitation by the hash of its token. If the invited address belongs to a known person
 * without a binding, the provider must also prove that address: otherwise the link alone would give
 * access to all memberships of that person.
 */
export function personOfInvitation(
  app: App,
  hash: string,
  identity: Identity,
): Promise<PersonOfIdentity> {
  return app.store.write(async (trx) => {
    const { organization_id: organizationId } = (await queries.findInvitation(trx, hash)) ?? {};
    if (organizationId === undefined) return refused('invitation-ended');
    await lockOrganizationRow(trx, organizationId);
    const invited = await queries.findInvitation(trx, hash);
    const isOpen = invited && (await openInviter(app, trx, invited)) !== null;
    if (!isOpen) return refused('invitation-ended');
    const { email } = invited;
    const [bound, person] = [
      await queries.findPersonByBinding(trx, identity),
      await queries.findPersonByEmail(trx, email),
    ];
    if (bound && bound.id !== person?.id) return refused('bound-elsewhere');
    if (person && !bound && person.oidc_subject !== null) return refused('already-bound');
    const isSame = identity.email === email;
    if (!isSame && !bound && identity.email !== null) return refused('other-address');
    if (person && !bound && !(isSame && provesAddress(app, identity))) return refused('no-place');
    const claimed = roleByClaim(app, identity, organizationId);
    if (claimed === 'unreadable') return refused('unreadable-role');
    if (claimed === 'none') return refused('no-role');
    const role = claimed?.role ?? invited.role;
    const personId = bound?.id ?? (await bindNew(app, trx, email, identity));
    await openPlace(app, trx, { organizationId, personId, email, role, identity, invited });
    return { personId, organizationId };
  });
}

/** Binds a person who gave a fresh proof in My account. A binding is never replaced. */
export function bindIdentity(
  app: App,
  personId: string,
  identity: Identity,
): Promise<PersonOfIdentity> {
  return app.store.write(async (trx) => {
    const bound = await queries.findPersonByBinding(trx, identity);
    if (bound && bound.id !== personId) return refused('bound-elsewhere');
    const person = await queries.findPerson(trx, personId);
    if (!person) return refused('no-place');
    if (!bound && person.oidc_subject !== null) return refused('already-bound');
    if (!bound) await bind(app, trx, personId, identity);
    return { personId, organizationId: null };
  });
}

/** Time by which the clock of the provider may differ. */
const clockToleranceMs = 60_000;

/**
 * Checks a fresh proof of a person in an organization. If the organization accepts only the
 * provider, a return that was begun for this proof counts without `auth_time`.
 */
export async function proveIdentity(
  app: App,
  {
    personId,
    organizationId,
    begunAt,
  }: { personId: string; organizationId: string; begunAt: number },
  identity: Identity,
): Promise<PersonOfIdentity> {
  const bound = await queries.findPersonByBinding(app.store.db, identity);
  if (bound?.id !== personId) return refused('bound-elsewhere');
  const { only, join } = app.config.console.signIn.oidc;
  const { authTime } = identity;
  const isOnlyWay = only && join.organization === organizationId;
  const isFresh = authTime === null ? isOnlyWay : authTime >= begunAt - clockToleranceMs;
  return isFresh ? { personId, organizationId } : refused('not-fresh');
}
