// Merges rows of an import into contacts that known.ts found by address or external id. Does not
// access the store.
//
//   a row names                               | result
//   ------------------------------------------+---------------------------------------------
//   no known contact                          | a contact is created
//   one contact, by address or external id    | the row's fields replace the contact's; tags are added
//   two contacts                              | the row is rejected
//   a contact with a different external id    | the row is rejected
import { uniqueTags } from '../../core/api/tag-list.ts';
import type { App } from '../../core/app.ts';
import { fromJson, toJson } from '../../platform/store/db.ts';
import type { BlockReason } from '../blocks/schema.ts';
import type { ChangedContact, NewContact } from '../contacts/bulk-queries.ts';
import type { ContactRow, IdentityRow } from '../contacts/queries.ts';
import {
  contactNoun,
  type ImportedContact,
  mostFields,
  mostTags,
  type ProfileInput,
} from '../contacts/schema.ts';

const mostIdentities = 20;

type Stored = 'profile' | 'preferences' | 'metadata';

/** A row of the file that passed the validation. */
export interface Candidate {
  /** Number of the data row, from 1. */
  row: number;
  /** First line of the row in the file. */
  line: number;
  /** Fields of the contact. Columns stored as JSON are JSON texts already. */
  contact: Omit<ImportedContact, Stored> & { [Name in Stored]?: string | undefined };
  /** Addresses of the row, each by `foldAddress`. */
  folded: readonly string[];
  reason: BlockReason | null;
  isArchived?: true | undefined;
}

export interface Rejected {
  row: number;
  line: number;
  field: string | null;
  reason: string;
}

/** State of a contact while rows are merged. */
interface State {
  row: ContactRow;
  identities: IdentityRow[];
  tags: string[];
  /** Rows of the contact in the store; null for a new contact. */
  stored: { row: ContactRow; identities: readonly IdentityRow[]; tags: readonly string[] } | null;
}

/** Existing contacts named by the rows of a batch. */
export interface Known {
  rows: readonly ContactRow[];
  identities: readonly IdentityRow[];
}

export interface Merged {
  created: NewContact[];
  changed: ChangedContact[];
  /** Outcome of each candidate, in the order of the candidates. */
  outcomes: ('created' | 'updated' | 'unchanged' | Rejected)[];
  /** Addresses to block for each candidate. */
  addresses: (readonly string[])[];
  /** Sorted ids of contacts in accepted rows that have an address and are not archived. */
  reachable: string[];
}

/** Merges the candidates, in order, into existing contacts or into new contacts. */
export function mergeRows(
  app: App,
  organizationId: string,
  candidates: readonly Candidate[],
  known: Known,
): Merged {
  const people = new People(app, organizationId, known);
  const outcomes = candidates.map((candidate) => people.take(candidate));
  return {
    ...people.changes(),
    outcomes,
    addresses: candidates.map((one) => people.blocksOf(one)),
  };
}

class People {
  readonly #app: App;
  readonly #organizationId: string;
  readonly #states = new Map<string, State>();
  readonly #byAddress = new Map<string, State>();
  readonly #byExternalId = new Map<string, State>();
  readonly #ofCandidate = new Map<Candidate, State>();
  /** Ids of the contacts in accepted rows. */
  readonly #taken = new Set<string>();

  constructor(app: App, organizationId: string, { rows, identities }: Known) {
    this.#app = app;
    this.#organizationId = organizationId;
    const byContact = Map.groupBy(identities, ({ contact_id }) => contact_id);
    for (const row of rows) {
      const own = byContact.get(row.id) ?? [];
      const tags = fromJson<string[]>(row.tags) ?? [];
      this.#keep({ row, identities: [...own], tags, stored: { row, identities: own, tags } });
    }
  }

  #keep(state: State, candidate?: Candidate): void {
    this.#states.set(state.row.id, state);
    // Stored for `blocksOf`, which is called after the merge.
    if (candidate && candidate.reason !== null) this.#ofCandidate.set(candidate, state);
    if (state.row.external_id !== null) this.#byExternalId.set(state.row.external_id, state);
    for (const one of state.identities) this.#byAddress.set(one.folded_identifier, state);
  }

  take(candidate: Candidate): Merged['outcomes'][number] {
    const { row, line } = candidate;
    const found = this.#find(candidate);
    if ('problem' in found) return { row, line, field: found.field, reason: found.problem };
    const { state } = found;
    if (!state) {
      const made = this.#made(candidate);
      this.#keep(made, candidate);
      this.#taken.add(made.row.id);
      return 'created';
    }
    const next = this.#over(state, candidate);
    if ('problem' in next) return { row, line, field: next.field, reason: next.problem };
    this.#taken.add(state.row.id);
    const isChanged = isOther(state, next);
    if (isChanged) next.row.updated_at = this.#app.clock.now();
    this.#keep(isChanged ? next : state, candidate);
    return isChanged ? 'updated' : 'unchanged';
  }

  #find({ contact: { externalId }, folded }: Candidate): { state: State | null } | Problem {
    const byId = externalId === undefined ? undefined : this.#byExternalId.get(externalId);
    const owners = folded.flatMap((address) => this.#byAddress.get(address) ?? []);
    const state = byId ?? owners[0] ?? null;
    const other = owners.find(({ row }) => row.id !== state?.row.id);
    if (other) {
      const both = `one address belongs to ${other.row.id}, and the row to ${state?.row.id}`;
      return { field: byId ? 'externalId' : 'email', problem: both };
    }
    const has = state?.row.external_id ?? null;
    if (externalId !== undefined && has !== null && has !== externalId) {
      const problem = `the address belongs to ${state?.row.id}, which has another external id`;
      return { field: 'externalId', problem };
    }
    return { state };
  }

  /** Creates a new contact. Checks no limits, because a single valid row is within all limits. */
  #made({ contact, folded, isArchived }: Candidate): State {
    const { name, displayName, avatar, externalId, profile, preferences, metadata } = contact;
    const now = this.#app.clock.now();
    const tags = uniqueTags(contact.tags);
    const row: ContactRow = {
      id: this.#app.newId(contactNoun),
      organization_id: this.#organizationId,
      name: name ?? null,
      display_name: displayName ?? null,
      avatar: avatar ?? null,
      external_id: externalId ?? null,
      is_archived: isArchived === undefined ? 0 : 1,
      profile: profile ?? null,
      preferences: preferences ?? null,
      tags: toJson(tags),
      metadata: metadata ?? null,
      created_at: now,
      updated_at: now,
    };
    return { row, identities: this.#added(row, [], contact.emails, folded), tags, stored: null };
  }

  /** Returns a copy of the state with the fields of the row, or the exceeded limit. */
  #over(state: State, { contact, folded, isArchived }: Candidate): State | Problem {
    const { row } = state;
    const { name, displayName, avatar, externalId, profile, preferences, metadata } = contact;
    const tags = uniqueTags([...state.tags, ...(contact.tags ?? [])]);
    if (tags.length > mostTags) {
      return { field: 'tags', problem: `would be ${tags.length}, more than ${mostTags}` };
    }
    const identities = this.#added(row, state.identities, contact.emails, folded);
    if (identities.length > mostIdentities) {
      return { field: 'email', problem: `would have more than ${mostIdentities} addresses` };
    }
    const next = {
      ...row,
      name: name ?? row.name,
      display_name: displayName ?? row.display_name,
      avatar: avatar ?? row.avatar,
      external_id: externalId ?? row.external_id,
      is_archived: isArchived === undefined ? row.is_archived : Number(isArchived),
      profile: laidOver(row.profile, profile),
      preferences: laidOver(row.preferences, preferences),
      metadata: laidOver(row.metadata, metadata),
      tags: toJson(tags),
    };
    const field = fieldOfTooMany(row, next);
    if (field) return { field, problem: `would be more than ${mostFields}` };
    return { row: next, identities, tags, stored: state.stored };
  }

  /**
   * Adds new addresses before the known addresses, because the file expects mail at the addresses
   * it names.
   */
  #added(
    { id: contactId, organization_id }: ContactRow,
    identities: IdentityRow[],
    emails: readonly string[],
    folded: readonly string[],
  ): IdentityRow[] {
    const added: IdentityRow[] = [];
    for (const [at, address] of folded.entries()) {
      const isSame = (one: IdentityRow) => one.folded_identifier === address;
      if (identities.some(isSame) || added.some(isSame)) continue;
      added.push({
        organization_id,
        folded_identifier: address,
        id: this.#app.newId('contactIdentity'),
        contact_id: contactId,
        position: added.length,
        identifier: emails[at] ?? address,
        verified_at: null,
      });
    }
    if (added.length === 0) return identities;
    const later = identities.map((one, at) => ({ ...one, position: added.length + at }));
    return [...added, ...later];
  }

  /**
   * Returns the addresses to block: for a bounce only the first address of the row, for any further
   * reason all addresses of the row, because it concerns the person. For a row without an address,
   * the addresses of the contact count.
   */
  blocksOf(candidate: Candidate): readonly string[] {
    const state = this.#ofCandidate.get(candidate);
    if (candidate.reason === null || !state) return [];
    const { emails } = candidate.contact;
    const all = emails.length > 0 ? emails : state.identities.map((one) => one.identifier);
    return candidate.reason === 'bounce' ? all.slice(0, 1) : all;
  }

  changes(): Pick<Merged, 'created' | 'changed' | 'reachable'> {
    const created: NewContact[] = [];
    const changed: ChangedContact[] = [];
    const reachable: string[] = [];
    for (const state of this.#states.values()) {
      const { row, identities, tags, stored } = state;
      const isReachable = row.is_archived === 0 && identities.length > 0;
      if (isReachable && this.#taken.has(row.id)) reachable.push(row.id);
      if (!stored) created.push({ row, identities, tags });
      else if (row !== stored.row) {
        const newIdentities = identities === stored.identities ? null : identities;
        const newTags = tags.filter((tag) => !stored.tags.includes(tag));
        changed.push({ row, identities, tags, before: stored.row, newIdentities, newTags });
      }
    }
    return { created, changed, reachable: reachable.sort((a, b) => (a < b ? -1 : 1)) };
  }
}

interface Problem {
  field: string;
  problem: string;
}

/** Returns the field that has too many entries after merging, or null. */
function fieldOfTooMany(before: ContactRow, after: ContactRow): string | null {
  const countOf = (fields: object | null | undefined) => Object.keys(fields ?? {}).length;
  if (before.profile !== null && after.profile !== before.profile) {
    const profile = fromJson<ProfileInput>(after.profile);
    if (countOf(profile?.customFields) > mostFields) return 'profile.customFields';
  }
  if (before.metadata === null || after.metadata === before.metadata) return null;
  return countOf(fromJson<object>(after.metadata)) > mostFields ? 'metadata' : null;
}

/** Merges two JSON objects, and nested objects too. On conflicts the given value wins. */
function laidOver(stored: string | null, given: string | undefined): string | null {
  if (given === undefined || given === stored) return stored;
  if (stored === null) return given;
  return toJson(merged(fromJson<object>(stored) ?? {}, fromJson<object>(given)));
}

function merged(under: object, over: object): object {
  const all: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const known = all[name];
    const areObjects = isMap(known) && isMap(value);
    all[name] = areObjects ? merged(known, value) : value;
  }
  return all;
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const columns = [
  ...['name', 'display_name', 'avatar', 'external_id', 'is_archived', 'profile', 'preferences'],
  ...['tags', 'metadata'],
] as (keyof ContactRow)[];

function isOther(before: State, after: State): boolean {
  if (before.identities !== after.identities) return true;
  return columns.some((column) => before.row[column] !== after.row[column]);
}
