// Checks of a send by its key: the From constraints (constraints.ts), and at the due time of scheduled mail
// its revocation. A replacement by rotation stands for the key: its mail goes on, under the constraints of
// the successor, until that is revoked. An expired key makes no new requests, but its earlier mail still goes
// out.
import type { PermissionMap } from '../../core/api/permission.ts';
import type { KeyConstraints } from '../../core/api/route.ts';
import type { SendCheck } from '../../core/api/send-check.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { beyondOrigins, beyondSenders, type ClaimedOrigin, maySend } from './constraints.ts';
import { findHeirs, type KeyRow } from './queries.ts';

/** A send with the constraints of its key. */
interface Constrained {
  constraints: KeyConstraints | null;
}

/** Returns false for an installation that has lost the right to send; rights of other keys never change. */
function mayStillSend({
  installation_id,
  permissions,
  send_mode,
}: Pick<KeyRow, 'installation_id' | 'permissions' | 'send_mode'>): boolean {
  if (installation_id === null) return true;
  return maySend({
    permissions: fromJson<PermissionMap>(permissions) ?? {},
    sendMode: send_mode,
  });
}

/** Also reads the current constraints. */
export const revokedKeyCheck: SendCheck<'due', Constrained & { keyId: string | null }> = {
  name: 'key',
  asked: 'due',
  async prepare(_app, trx, sends) {
    const ids = new Set(sends.flatMap(({ keyId }) => keyId ?? []));
    const heirs = ids.size > 0 ? await findHeirs(trx, [...ids]) : [];
    const standing = new Map(heirs.map((heir) => [heir.id, heir]));
    for (const send of sends) {
      const heir = standing.get(send.keyId ?? '');
      send.constraints = fromJson<KeyConstraints>(heir?.constraints ?? null);
    }
    return ({ keyId }) => {
      if (keyId === null) return null;
      const heir = standing.get(keyId);
      if (!heir) {
        return new ForbiddenError(`The API key ${keyId} that scheduled the message is revoked`);
      }
      if (mayStillSend(heir)) return null;
      const text = `The installation ${heir.installation_id} that scheduled the message may not send`;
      return new ForbiddenError(text);
    };
  },
};

export const constraintsCheck: SendCheck<
  'both',
  Constrained & {
    sender: { email: string } | null;
    /** Sender and Resent fields of a mail sent as MIME; known only at the accept. */
    origins?: readonly ClaimedOrigin[];
    /** Address that mail of the service speaks for, in place of its From; known only at the accept. */
    onBehalfOf?: string | null;
  }
> = {
  name: 'key-constraints',
  asked: 'both',
  prepare: () => (send) =>
    (send.sender && beyondSenders(send, send.onBehalfOf ?? send.sender.email)) ??
    beyondOrigins(send, send.origins ?? []),
};
