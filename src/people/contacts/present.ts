// Turns rows of contacts into the objects of the API. Unknown fields are null.
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { type ActiveBlockRow, findActiveBlocks } from '../blocks/queries.ts';
import { reasonsByWeight } from '../blocks/schema.ts';
import { type ContactRow, findIdentities, type IdentityRow } from './queries.ts';
import type { Contact, ContactStatus, PreferencesInput, ProfileInput } from './schema.ts';

function presentProfile(profile: ProfileInput | null): Contact['profile'] {
  const { firstName, lastName, company, jobTitle, location, customFields, source } = profile ?? {};
  const { country, state, city, timezone } = location ?? {};
  return {
    firstName: firstName ?? null,
    lastName: lastName ?? null,
    company: company ?? null,
    jobTitle: jobTitle ?? null,
    location: {
      country: country ?? null,
      state: state ?? null,
      city: city ?? null,
      timezone: timezone ?? null,
    },
    customFields: customFields ?? {},
    source: source ?? null,
  };
}

function presentPreferences(preferences: PreferencesInput | null): Contact['preferences'] {
  const { preferredChannels, language, timezone, notifications } = preferences ?? {};
  return {
    preferredChannels: preferredChannels ?? ['email'],
    language: language ?? null,
    timezone: timezone ?? null,
    notifications: {
      email: notifications?.email ?? true,
      quiet_hours: notifications?.quiet_hours ?? null,
    },
  };
}

function presentIdentity({ id, identifier, verified_at }: IdentityRow) {
  return { id, channel: 'email' as const, identifier, verified: verified_at !== null };
}

/** Presents contacts of an organization, in the order of the rows. */
export async function presentContacts(
  db: Db,
  organizationId: string,
  rows: readonly ContactRow[],
): Promise<Contact[]> {
  if (rows.length === 0) return [];
  const identities = Map.groupBy(
    await findIdentities(
      db,
      rows.map(({ id }) => id),
    ),
    ({ contact_id }) => contact_id,
  );
  const firstOf = ({ id }: ContactRow) => identities.get(id)?.[0]?.folded_identifier;
  const addresses = rows.flatMap((row) => firstOf(row) ?? []);
  const blocks = Map.groupBy(
    await findActiveBlocks(db, organizationId, addresses),
    ({ folded_address }) => folded_address,
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    avatar: row.avatar,
    ...statusOf(row.is_archived === 1, blocks.get(firstOf(row) ?? '') ?? []),
    externalId: row.external_id,
    identities: (identities.get(row.id) ?? []).map(presentIdentity),
    profile: presentProfile(fromJson<ProfileInput>(row.profile)),
    preferences: presentPreferences(fromJson<PreferencesInput>(row.preferences)),
    tags: fromJson<string[]>(row.tags) ?? [],
    metadata: fromJson<Record<string, unknown>>(row.metadata) ?? {},
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  }));
}

/** Presents a contact as `presentContacts` does. */
export async function presentContact(db: Db, row: ContactRow): Promise<Contact> {
  const [contact] = await presentContacts(db, row.organization_id, [row]);
  return contact as Contact;
}

// The status of a contact. Only `archived` is stored. The remaining statuses follow on each read
// from the blocks of all mail on the first email, so that a new or lifted block counts at once.
//
//   status       | condition                               (the first that fits)
//   -------------+----------------------------------------------------------------
//   archived     | archived by hand, with or without blocks
//   complained   | the first email is blocked for a complaint
//   bounced      | … for a bounce
//   unsubscribed | … for an unsubscribe
//   active       | otherwise; a block by hand is shown as the reason

const statuses = {
  complaint: 'complained',
  bounce: 'bounced',
  unsubscribe: 'unsubscribed',
  manual: 'active',
} as const satisfies Record<ActiveBlockRow['reason'], ContactStatus>;

/**
 * Returns the status, and the block as the reason. `blocks`: blocks of all mail on the first email.
 */
function statusOf(
  isArchived: boolean,
  blocks: readonly Omit<ActiveBlockRow, 'folded_address'>[],
): Pick<Contact, 'status' | 'statusReason'> {
  const rank = ({ reason }: Pick<ActiveBlockRow, 'reason'>) => reasonsByWeight.indexOf(reason);
  const [block] = blocks.toSorted((a, b) => rank(a) - rank(b));
  const statusReason =
    block === undefined
      ? null
      : `The first email is blocked (${block.reason}) since ${isoTime(block.created_at)} by ${block.id}`;
  const status = block === undefined ? 'active' : statuses[block.reason];
  return { status: isArchived ? 'archived' : status, statusReason };
}
