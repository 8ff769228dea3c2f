// Checks of a send by the rights of the key: permission, send mode, mailboxes and From
// (constraints.ts). They run when a send is accepted, and again when scheduled mail is due, by the
// rights that the key has then. A replacement by rotation stands for the key until the replacement
// is revoked. An expired key makes no new requests, but mail accepted earlier still leaves.
import type { Permission } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { SendCheck } from '../../core/api/send-check.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import {
  beyondOrigins,
  beyondSenders,
  type ClaimedOrigin,
  type Place,
  refusedAtPlace,
} from './constraints.ts';
import { callerOf } from './key-caller.ts';
import { findHeirs } from './queries.ts';
import { operatorOf } from './roles.ts';

/** Permission that a send needs, and the path of the API to which it applies. */
export interface SendRight {
  permission: Permission;
  place: Place;
}

const rightTo = (permission: Permission, path: string, id?: string): SendRight => ({
  permission,
  place: { method: 'POST', path, id },
});

/** Right to send messages that belong to no mailbox. */
export const messagesRight = rightTo('messages:send', '/v1/messages');

/** The right to send mail of a campaign. */
export const campaignsRight = rightTo('campaigns:run', '/v1/campaigns/{id}/runs');

export function mailboxRight(mailboxId: string): SendRight {
  return rightTo('mailboxes:send', '/v1/mailboxes/{id}/messages', mailboxId);
}

/** A send with the caller that made it. */
interface Authored {
  /** Caller of the send. Null for scheduled mail, until the check `key` has found the key. */
  caller: Caller | null;
  /** Right that the send needs; null for mail that the service writes itself. */
  right: SendRight | null;
}

const memberPrefix = 'mem_';

const isMember = (id: string | null) => id?.startsWith(memberPrefix) === true;

/**
 * Refuses due mail of a revoked key, or of a member who is disabled or deleted. Reads their rights
 * for later checks.
 */
export const revokedKeyCheck: SendCheck<
  'due',
  Authored & { organizationId: string; keyId: string | null }
> = {
  name: 'key',
  asked: 'due',
  async prepare(app, trx, sends) {
    const ids = [...new Set(sends.flatMap(({ keyId }) => keyId ?? []))];
    const memberIds = ids.filter(isMember);
    const keyIds = ids.filter((id) => !isMember(id));
    const heirs = keyIds.length > 0 ? await findHeirs(trx, keyIds) : [];
    const standing = new Map(heirs.map(({ made_id, ...heir }) => [made_id, callerOf(heir)]));
    const members = memberIds.length > 0 ? await app.hooks.standingMembers(trx, memberIds) : [];
    for (const [id, caller] of members) standing.set(id, caller);
    for (const send of sends) {
      const { keyId, organizationId } = send;
      send.caller = keyId === null ? operatorOf(organizationId) : (standing.get(keyId) ?? null);
    }
    return ({ keyId, caller }) =>
      caller
        ? null
        : new ForbiddenError(
            isMember(keyId)
              ? `The member ${keyId} who scheduled the message is disabled or deleted`
              : `The API key ${keyId} that scheduled the message is revoked`,
          );
  },
};

/** Returns the refusal of a caller without the right; null for a caller with the right. */
export function refusedRight(
  caller: Caller,
  { permission, place }: SendRight,
): ForbiddenError | null {
  return refusedAtPlace(caller, permission, place);
}

export const rightsCheck: SendCheck<'both', Authored> = {
  name: 'key-rights',
  asked: 'both',
  prepare:
    () =>
    ({ caller, right }) =>
      caller && right && refusedRight(caller, right),
};

export const constraintsCheck: SendCheck<
  'both',
  Authored & {
    sender: { email: string } | null;
    /** Sender and Resent fields of a mail sent as MIME; known only at the accept. */
    origins?: readonly ClaimedOrigin[];
    /** Address for which the service sends, checked in place of From; known only at the accept. */
    onBehalfOf?: string | null;
  }
> = {
  name: 'key-constraints',
  asked: 'both',
  prepare:
    () =>
    ({ caller, sender, onBehalfOf, origins = [] }) =>
      caller &&
      ((sender && beyondSenders(caller, onBehalfOf ?? sender.email)) ??
        beyondOrigins(caller, origins)),
};

/** Names of the checks of a key. */
export const checksOfKey: readonly string[] = [revokedKeyCheck, rightsCheck, constraintsCheck].map(
  ({ name }) => name,
);
