// Constraints of a key: client addresses, reachable mailboxes, and From addresses and domains. They
// are checked on every request, so ranges are parsed once for each cached key.
// src/identity/mailboxes/bound-keys.ts checks the mailboxes of a namespace.

import { allows, type Permission } from '../../core/api/permission.ts';
import type { Caller, KeyConstraints, Method, SendMode } from '../../core/api/route.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { domainOf, foldAddress } from '../../platform/net/address.ts';
import {
  type AddressRange,
  hasRange,
  isInRanges,
  parseRange,
} from '../../platform/net/network-address.ts';

/** Parsed ranges by constraints. The cached key holds the constraints: both are freed together. */
const parsedRanges = new WeakMap<KeyConstraints, AddressRange[]>();

function rangesOf(constraints: KeyConstraints): AddressRange[] {
  let ranges = parsedRanges.get(constraints);
  if (!ranges) {
    ranges = (constraints.ipRanges ?? []).flatMap((text) => parseRange(text) ?? []);
    parsedRanges.set(constraints, ranges);
  }
  return ranges;
}

/**
 * Refuses a request from `peer`, the remote address of the connection; null if the key allows it.
 * The text names the address but not the ranges: a thief of the key learns none.
 */
export function outsideRanges(
  { constraints }: Caller,
  peer: string | undefined,
): ForbiddenError | null {
  if (!constraints?.ipRanges) return null;
  if (peer !== undefined && isInRanges(peer, rangesOf(constraints))) return null;
  return new ForbiddenError(
    `This key may not be used from the address ${peer ?? 'of this connection'}: use ` +
      'it from an allowed address, or change its constraints',
  );
}

/** The requested operation of the API, with the `{id}` of the path. */
export interface Place {
  method: Method;
  path: string;
  id: string | undefined;
}

const mailboxesPath = '/v1/mailboxes';

/**
 * Paths that a key bound to mailboxes may read: the answers are cut to the mailboxes of the key.
 */
const cutPaths = [mailboxesPath, '/v1/mailbox-actions', '/v1/events/stream'];

/** Path at which an installation reads itself. */
export const ownInstallationPath = '/v1/extension-installations/me';

/**
 * Paths that every installation may read, even without permissions or mailboxes. The stream shows
 * the kinds of events that the installed version declares.
 */
const ownPaths = [ownInstallationPath, '/v1/events/stream'];

function isOwnPath({ installation }: Caller, { method, path }: Place): boolean {
  return installation !== null && method === 'GET' && ownPaths.includes(path);
}

/** Returns whether a key is bound to named mailboxes or to a namespace of mailboxes. */
export function isBound(constraints: KeyConstraints | null): boolean {
  return constraints?.mailboxIds !== undefined || constraints?.namespaceId !== undefined;
}

/**
 * Returns the stored text of an idempotency key. A key that is bound to mailboxes, or does not send
 * at once, has separate claims, which rotations keep: the key can neither block nor read a claim of
 * the organization. Idempotency keys have 255 characters at most, so none can equal a longer claim.
 */
export function claimKeyOf(
  { constraints, sendMode, lineage }: Pick<Caller, 'constraints' | 'sendMode' | 'lineage'>,
  key: string,
): string {
  if (!isBound(constraints) && sendMode === 'send') return key;
  return `claim of ${lineage}`.padEnd(256) + key;
}

export function beyondMailboxes(): ForbiddenError {
  return new ForbiddenError(
    'This key reaches only its own mailboxes: use a path under one, or another key',
  );
}

/**
 * Refuses a bound key all paths outside of the key's mailboxes, except GET of `cutPaths`; null if
 * allowed. bound-keys.ts checks the mailboxes of a namespace.
 */
function outsideMailboxes(
  { constraints }: Caller,
  place: Place | undefined,
): ForbiddenError | null {
  if (!isBound(constraints)) return null;
  const { method, path = '', id = '' } = place ?? {};
  if (method === 'GET' && cutPaths.includes(path)) return null;
  const isUnderOne = path === `${mailboxesPath}/{id}` || path.startsWith(`${mailboxesPath}/{id}/`);
  const isIts = constraints?.namespaceId !== undefined || constraints?.mailboxIds?.includes(id);
  return isUnderOne && isIts ? null : beyondMailboxes();
}

/** Permissions to send, with the send modes of a key that exclude them even if they are granted. */
const refusedModes: Partial<Record<Permission, readonly SendMode[]>> = {
  'mailboxes:send': ['none'],
  // Only mail from mailboxes can wait for approval.
  'messages:send': ['none', 'approval'],
  'campaigns:run': ['none', 'approval'],
};

const modeWords: Readonly<Record<SendMode, string>> = {
  none: 'This key never sends',
  approval: 'This key only proposes mail, from its mailboxes',
  send: '',
};

/**
 * Refuses `members:*` permissions: to a test key or a key with limits (`isHeld`) in any case, and
 * changes of members to every caller but a person. Null if allowed.
 */
function refusedMembers(
  { isTest, owner }: Caller,
  permission: Permission,
  isHeld: boolean,
): ForbiddenError | null {
  if (isHeld || isTest) {
    return new ForbiddenError(
      'A test key, a key that is bound to mailboxes, one that only proposes, and an installation ' +
        'never see members: use a key without these limits',
    );
  }
  if (permission === 'members:read' || owner === 'person') return null;
  return new ForbiddenError('Only a person changes members: use a key made with --owner person');
}

/**
 * Refuses an operation that needs `permission`; null if the key has it. A key limited to mailboxes,
 * a key that only proposes, and an installation never configure mailboxes: they could then choose
 * the mail that they receive and the name under which they send.
 */
export function refusedPermission(caller: Caller, permission: Permission): ForbiddenError | null {
  const { permissions, constraints, sendMode, installation } = caller;
  const isHeld = isBound(constraints) || sendMode !== 'send' || installation !== null;
  if (permission === 'mailboxes:configure' && isHeld) {
    return new ForbiddenError(
      'A key that is bound to mailboxes, one that only proposes, and an installation never ' +
        'have mailboxes:configure: use a key without these limits',
    );
  }
  if (refusedModes[permission]?.includes(sendMode)) {
    return new ForbiddenError(`${modeWords[sendMode]}: ${permission} needs the send mode send`);
  }
  if (!allows(permissions, permission)) {
    return new ForbiddenError(`This key lacks the permission ${permission}`);
  }
  return permission.startsWith('members:') ? refusedMembers(caller, permission, isHeld) : null;
}

/** Permissions of which a send needs at least one. */
const sends = ['messages:send', 'mailboxes:send', 'campaigns:run'] as const;

/** Tells whether a key has the right to send any mail. */
function maySend({ permissions, sendMode }: Pick<Caller, 'permissions' | 'sendMode'>): boolean {
  return sendMode !== 'none' && sends.some((permission) => allows(permissions, permission));
}

/** Refuses an operation that makes the service write mail; null for a key that may send at once. */
export function refusedServiceMail(caller: Caller, operation: string): ForbiddenError | null {
  const { sendMode } = caller;
  if (sendMode !== 'send') {
    return new ForbiddenError(`${modeWords[sendMode]}: ${operation} sends mail at once`);
  }
  if (maySend(caller)) return null;
  return new ForbiddenError(
    `This key has no right to send (${sends.join(', ')}): ${operation} sends mail`,
  );
}

/**
 * Refuses an operation that needs `permission` at `place`; null if it is allowed. Without `place`
 * a bound key is refused.
 */
export function refusedAtPlace(
  caller: Caller,
  permission: Permission,
  place?: Place,
): ForbiddenError | null {
  if (place && isOwnPath(caller, place)) return null;
  return outsideMailboxes(caller, place) ?? refusedPermission(caller, permission);
}

/**
 * Refuses a request from a `peer` outside the address ranges of the key; else as `refusedAtPlace`.
 */
export function refusedAtDoor(
  caller: Caller,
  peer: string | undefined,
  permission: Permission,
  place?: Place,
): ForbiddenError | null {
  return outsideRanges(caller, peer) ?? refusedAtPlace(caller, permission, place);
}

function mayBeFrom({ senders = [], domains = [] }: KeyConstraints, email: string): boolean {
  const folded = foldAddress(email);
  return (
    domains.includes(domainOf(folded)) || senders.some((sender) => foldAddress(sender) === folded)
  );
}

function limitsFrom({ senders, domains }: KeyConstraints): boolean {
  return senders !== undefined || domains !== undefined;
}

/** Address of origin in a field besides From; `email` is null without an address. */
export interface ClaimedOrigin {
  field: string;
  email: string | null;
}

/** Returns the refusal of a mail for the first origin that the key may not use, or null. */
export function beyondOrigins(
  { constraints }: Pick<Caller, 'constraints'>,
  origins: readonly ClaimedOrigin[],
): ForbiddenError | null {
  if (!constraints || !limitsFrom(constraints)) return null;
  const beyond = origins.find(({ email }) => email === null || !mayBeFrom(constraints, email));
  if (!beyond) return null;
  const { field, email } = beyond;
  return new ForbiddenError(
    `This key may not send with ${email ?? 'no valid address'} in ${field}: leave ` +
      `${field} out, use an address that its constraints allow, or use another key`,
  );
}

/**
 * Returns the refusal of mail from `email` (in the normal form of src/platform/net/address.ts);
 * null if the constraints allow it.
 */
export function beyondSenders(
  { constraints }: Pick<Caller, 'constraints'>,
  email: string,
): ForbiddenError | null {
  if (!constraints || !limitsFrom(constraints) || mayBeFrom(constraints, email)) return null;
  return new ForbiddenError(
    `This key may not send from ${email}: use a from.email that its constraints ` +
      'allow, or another key',
  );
}

function reachesNoMore(wanted: KeyConstraints | null, holder: KeyConstraints): boolean {
  if (holder.namespaceId !== undefined) return wanted?.namespaceId === holder.namespaceId;
  return wanted?.mailboxIds?.every((id) => holder.mailboxIds?.includes(id)) ?? false;
}

/** Returns whether `wanted` allows nothing that `holder` forbids. */
export function areNoLooser(wanted: KeyConstraints | null, holder: KeyConstraints | null): boolean {
  if (!holder) return true;
  if (holder.ipRanges) {
    const inner = wanted?.ipRanges ? rangesOf(wanted) : null;
    const outer = rangesOf(holder);
    if (!inner?.every((range) => outer.some((one) => hasRange(one, range)))) return false;
  }
  if (isBound(holder) && !reachesNoMore(wanted, holder)) return false;
  if (!limitsFrom(holder)) return true;
  if (!wanted || !limitsFrom(wanted)) return false;
  const { senders = [], domains = [] } = wanted;
  return (
    senders.every((sender) => mayBeFrom(holder, sender)) &&
    domains.every((domain) => holder.domains?.includes(domain) ?? false)
  );
}
