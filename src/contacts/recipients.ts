// Contacts as recipients of sends: which address and name a message gets for each.
import { ResourceNotFoundError, type ServiceError, ValidationError } from '../errors.ts';
import type { Db } from '../store/db.ts';
import { findContactRows, findIdentities } from './queries.ts';

type Recipient = { email: string; name: string | undefined } | { error: ServiceError };

/** `field`: where the payload names the contact. */
type Resolve = (organizationId: string, contactId: string, field: string) => Recipient;

/** Reads the contacts that sends name, each organization's at once. */
export async function contactsForSends(
  db: Db,
  sends: readonly { organizationId: string; ids: readonly string[] }[],
): Promise<Resolve> {
  const found = new Map<string, { name: string | null; email: string | undefined }>();
  for (const [organizationId, own] of Map.groupBy(sends, (send) => send.organizationId)) {
    const ids = [...new Set(own.flatMap((send) => send.ids))].sort();
    const rows = await findContactRows(db, organizationId, ids);
    const identities = await findIdentities(
      db,
      rows.map(({ id }) => id),
    );
    const first = new Map(
      identities.flatMap((one) => (one.position === 0 ? [[one.contact_id, one.identifier]] : [])),
    );
    for (const { id, name } of rows) {
      found.set(`${organizationId} ${id}`, { name, email: first.get(id) });
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
