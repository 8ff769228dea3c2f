// Constraints of a key: the addresses it may be used from, the mailboxes that it reaches, and the From
// addresses and domains of its mail. Asked on every request, so ranges are parsed once for each cached
// key. Which mailboxes a namespace has is not known here: src/mailboxes/bound-keys.ts.

import { allows, type Permission } from '../api/permission.ts';
import type { Caller, KeyConstraints, Method } from '../api/route.ts';
import { ForbiddenError } from '../errors.ts';
import { domainOf, foldAddress } from '../net/address.ts';
import { type AddressRange, hasRange, isInRanges, parseRange } from '../net/network-address.ts';

/** Goes with the cached key that holds the constraints. */
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
 * The refusal of a request from `peer`, the address at the other end of the connection; null where
 * the key may be used from there. Names the address and not the ranges: a thief learns none.
 */
function outsideRanges({ constraints }: Caller, peer: string | undefined): ForbiddenError | null {
  if (!constraints?.ipRanges) return null;
  if (peer !== undefined && isInRanges(peer, rangesOf(constraints))) return null;
  return new ForbiddenError(
    `This key may not be used from the address ${peer ?? 'of this connection'}: use it from where it is meant for, or have its constraints changed`,
  );
}

/** The operation of the API that is asked for, and the `{id}` in its path. */
export interface Place {
  method: Method;
  path: string;
  id: string | undefined;
}

const mailboxesPath = '/v1/mailboxes';

/** Whether a key reaches single mailboxes, and nothing else. */
export function isBound(constraints: KeyConstraints | null): boolean {
  return constraints?.mailboxIds !== undefined || constraints?.namespaceId !== undefined;
}

export function beyondMailboxes(): ForbiddenError {
  return new ForbiddenError(
    'This key reaches its own mailboxes alone: ask for a path under one of them, or use another key',
  );
}

/** What is in a namespace has to be asked besides. */
function outsideMailboxes(
  { constraints }: Caller,
  place: Place | undefined,
): ForbiddenError | null {
  if (!isBound(constraints)) return null;
  const { method, path = '', id = '' } = place ?? {};
  if (path === mailboxesPath && method === 'GET') return null;
  const isUnderOne = path === `${mailboxesPath}/{id}` || path.startsWith(`${mailboxesPath}/{id}/`);
  const isIts = constraints?.namespaceId !== undefined || constraints?.mailboxIds?.includes(id);
  return isUnderOne && isIts ? null : beyondMailboxes();
}

/**
 * The refusal of what needs `permission`; null where the key has it. A key that reaches single mailboxes,
 * or only proposes, never configures one: it would choose whose mail it gets and the name it speaks under.
 */
export function refusedPermission(
  { permissions, constraints, sendMode }: Caller,
  permission: Permission,
): ForbiddenError | null {
  const isHeld = isBound(constraints) || sendMode === 'approval';
  if (permission === 'mailboxes:configure' && isHeld) {
    return new ForbiddenError(
      'A key of single mailboxes, or one that only proposes, never has mailboxes:configure: use a key without these limits',
    );
  }
  if (allows(permissions, permission)) return null;
  return new ForbiddenError(`This key lacks the permission ${permission}`);
}

/**
 * The refusal of an operation that needs `permission`, asked for from `peer`; null where it may go on.
 * `place`: what is left out is none that a key of single mailboxes reaches.
 */
export function refusedAtDoor(
  caller: Caller,
  peer: string | undefined,
  permission: Permission,
  place?: Place,
): ForbiddenError | null {
  return (
    outsideRanges(caller, peer) ??
    outsideMailboxes(caller, place) ??
    refusedPermission(caller, permission)
  );
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

/** An address beside From that a mail names as its origin; `email` is null where the field names none. */
export interface ClaimedOrigin {
  field: string;
  email: string | null;
}

/** Returns the refusal of a mail for the first origin that its key may not use, or null. */
export function beyondOrigins(
  { constraints }: Pick<Caller, 'constraints'>,
  origins: readonly ClaimedOrigin[],
): ForbiddenError | null {
  if (!constraints || !limitsFrom(constraints)) return null;
  const beyond = origins.find(({ email }) => email === null || !mayBeFrom(constraints, email));
  if (!beyond) return null;
  const { field, email } = beyond;
  return new ForbiddenError(
    `This key may not send with ${email ?? 'no valid address'} in ${field}: leave ${field} out, name an address that its constraints allow, or use another key`,
  );
}

/** The refusal of mail from `email`, in the normal form of src/net/address.ts; null where it may go. */
export function beyondSenders(
  { constraints }: Pick<Caller, 'constraints'>,
  email: string,
): ForbiddenError | null {
  if (!constraints || !limitsFrom(constraints) || mayBeFrom(constraints, email)) return null;
  return new ForbiddenError(
    `This key may not send from ${email}: give a from.email that its constraints allow, or use another key`,
  );
}

function reachesNoMore(wanted: KeyConstraints | null, holder: KeyConstraints): boolean {
  if (holder.namespaceId !== undefined) return wanted?.namespaceId === holder.namespaceId;
  return wanted?.mailboxIds?.every((id) => holder.mailboxIds?.includes(id)) ?? false;
}

/** Whether a key of the one may do nothing that a key of the other may not. */
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
