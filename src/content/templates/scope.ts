// The values of a contact in the scope of a template, for sends and previews alike.
import { presentContacts } from '../../people/contacts/present.ts';
import { findContactRows } from '../../people/contacts/queries.ts';
import type { Contact } from '../../people/contacts/schema.ts';
import type { Db } from '../../platform/store/db.ts';

function valuesOf({ id, name, displayName, externalId, tags, ...contact }: Contact) {
  const { firstName, lastName, company, jobTitle, location, customFields } = contact.profile;
  const { language, timezone } = contact.preferences;
  return {
    id,
    name,
    displayName,
    firstName,
    lastName,
    company,
    jobTitle,
    email: contact.identities[0]?.identifier ?? null,
    externalId,
    language,
    timezone: timezone ?? location.timezone,
    location,
    tags,
    customFields,
  };
}

/** Values of `contact` in Liquid; a value that the contact lacks is null. */
export type ContactValues = ReturnType<typeof valuesOf>;

/** Reads the values of contacts of an organization, by id. Leaves out unknown contacts. */
export async function findContactValues(
  db: Db,
  organizationId: string,
  contactIds: readonly string[],
): Promise<Map<string, ContactValues>> {
  const rows = await findContactRows(db, organizationId, contactIds);
  const contacts = await presentContacts(db, organizationId, rows);
  return new Map(contacts.map((contact) => [contact.id, valuesOf(contact)]));
}
