// Checks of a send by its key: the From constraints (constraints.ts), and at the due time of scheduled mail
// its revocation. A replacement by rotation stands for the key: its mail goes on, under the constraints of
// the successor, until that is revoked. An expired key makes no new requests, but its earlier mail still goes
// out.
import type { KeyConstraints } from '../../core/api/route.ts';
import type { SendCheck } from '../../core/api/send-check.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { beyondOrigins, beyondSenders, type ClaimedOrigin } from './constraints.ts';
import { findHeirs } from './queries.ts';

/** A send with the constraints of its key. */
interface Constrained {
  constraints: KeyConstraints | null;
}

/** Also reads the current constraints. */
export const revokedKeyCheck: SendCheck<'due', Constrained & { keyId: string | null }> = {
  name: 'key',
  asked: 'due',
  async prepare(_app, trx, sends) {
    const ids = new Set(sends.flatMap(({ keyId }) => keyId ?? []));
    const heirs = ids.size > 0 ? await findHeirs(trx, [...ids]) : [];
    const standing = new Map(heirs.map(({ id, constraints }) => [id, constraints]));
    for (const send of sends) {
      send.constraints = fromJson<KeyConstraints>(standing.get(send.keyId ?? '') ?? null);
    }
    return ({ keyId }) =>
      keyId === null || standing.has(keyId)
        ? null
        : new ForbiddenError(`The API key ${keyId} that scheduled the message is revoked`);
  },
};

export const constraintsCheck: SendCheck<
  'both',
  Constrained & {
    sender: { email: string } | null;
    /** Sender and Resent fields of a mail sent as MIME; known only at the accept. */
    origins?: readonly ClaimedOrigin[];
  }
> = {
  name: 'key-constraints',
  asked: 'both',
  prepare: () => (send) =>
    (send.sender && beyondSenders(send, send.sender.email)) ??
    beyondOrigins(send, send.origins ?? []),
};
