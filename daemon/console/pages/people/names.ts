// Names of contacts by their ids: pages show names where the API answers ids.
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { orNone } from '../../api.ts';
import type { Asked } from '../../page.ts';

/** Returns the name of a contact: a name, else the first address. */
export const nameOf = ({ displayName, name, identities, id }: Contact) =>
  displayName || name || identities[0]?.identifier || id;

/**
 * Reads contacts by id, each once. Leaves out deleted contacts. Empty if the caller may not read
 * contacts.
 */
export async function contactsBy(
  { ask, may }: Pick<Asked, 'ask' | 'may'>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, Contact>> {
  const wanted = may('contacts:read') ? [...new Set(ids)].filter((id) => id !== null) : [];
  const found = await Promise.all(
    wanted.map((id) => orNone(true, () => ask(contactRoutes.get, { params: { id } }))),
  );
  return new Map(found.flatMap((contact) => (contact ? [[contact.id, contact]] : [])));
}
