// Contacts as recipients of sends: finds the address and name of each.
import {
  ResourceNotFoundError,
  type ServiceError,
  ValidationError,
} from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { findAddressed } from './queries.ts';

type Recipient = { email: string; name: string | undefined } | { error: ServiceError };

/** Returns a contact as recipient, or the refusal. `field`: path in the payload, for errors. */
type Resolve = (organizationId: string, contactId: string, field: string) => Recipient;

/** Reads the contacts of sends, a query for each organization. Returns a `Resolve` function. */
export async function contactsForSends(
  db: Db,
  sends: readonly { organizationId: string; ids: readonly string[] }[],
): Promise<Resolve> {
  const found = new Map<string, { name: string | null; email: string | undefined }>();
  for (const [organizationId, own] of Map.groupBy(sends, (send) => send.organizationId)) {
    const ids = [...new Set(own.flatMap((send) => send.ids))].sort();
    for (const { id, name, email } of await findAddressed(db, organizationId, ids)) {
      found.set(`${organizationId} ${id}`, { name, email: email ?? undefined });
    }
  }
  return (organizationId, contactId, field) => {
    const contact = found.get(`${organizationId} ${contactId}`);
    if (!contact) return { error: new ResourceNotFoundError('contact', contactId) };
    const { email, name } = contact;
    if (email !== undefined) return { email, name: name ?? undefined };
    return { error: ValidationError.of(field, 'this contact has no email address') };
  };
}
