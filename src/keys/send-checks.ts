// What the key of a send may refuse: whom its mail may come from (constraints.ts), and, when the time
// of scheduled mail comes, that it was revoked. What a rotation puts in the place of a key stands for
// it: its mail goes on, by the constraints of the heir, until that is revoked. The end of a key's life
// ends what it may ask for, not what it has asked for.
import type { KeyConstraints } from '../api/route.ts';
import type { SendCheck } from '../api/send-check.ts';
import { ForbiddenError } from '../errors.ts';
import { fromJson } from '../store/db.ts';
import { beyondOrigins, beyondSenders, type ClaimedOrigin } from './constraints.ts';
import { findHeirs } from './queries.ts';

/** Whom a key's mail may come from. */
interface Constrained {
  constraints: KeyConstraints | null;
}

/** Also reads the constraints as they are now. */
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
        : new ForbiddenError(`The API key ${keyId} that it was scheduled with is revoked`);
  },
};

export const constraintsCheck: SendCheck<
  'both',
  Constrained & {
    sender: { email: string } | null;
    /** Known while a mail is accepted: Sender and Resent fields of a mail that came as MIME. */
    origins?: readonly ClaimedOrigin[];
  }
> = {
  name: 'key-constraints',
  asked: 'both',
  prepare: () => (send) =>
    (send.sender && beyondSenders(send, send.sender.email)) ??
    beyondOrigins(send, send.origins ?? []),
};
