// Finds anything by a text: people, messages, threads, campaigns and templates that the caller may
// read. Each noun is read by an index, and in bounded time:
//
//   noun      | found by                                       | examined
//   ----------+------------------------------------------------+--------------------------------
//   people    | words of the name, the beginning of an address | 1,000 of a frequent name
//   messages  | id; an address; the beginning of the subject;  | 1,000 of a frequent subject
//             | a value of `metadataKeys`, as it is written    |
//   threads   | words of their messages                        | 200 messages of 20 mailboxes
//   campaigns | words of the name                              | the newest 1,000
//   templates | words of the name, the slug                    | the newest 1,000
import { isBound, refusedPermission } from '../access/keys/constraints.ts';
import { newestCampaignNames } from '../campaigns/setup/queries.ts';
import { newestTemplateNames } from '../content/templates/queries.ts';
import { searchInTime } from '../core/api/filtered-page.ts';
import type { Permission } from '../core/api/permission.ts';
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { reachOf } from '../identity/mailboxes/bound-keys.ts';
import { mailboxes } from '../identity/mailboxes/queries.ts';
import { findThreads } from '../inbox/threads/queries.ts';
import { searchMailboxes } from '../inbox/threads/search.ts';
import { presentContacts } from '../people/contacts/present.ts';
import { findContactRows } from '../people/contacts/queries.ts';
import { searchContacts } from '../people/contacts/search.ts';
import { wordsOf } from '../people/contacts/words.ts';
import { ValidationError } from '../platform/errors.ts';
import { type FullTextQuery, parseQuery } from '../platform/full-text/query.ts';
import { foldAddress, parseAddress } from '../platform/net/address.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { foldCase } from '../platform/runtime/fold-case.ts';
import type { Db } from '../platform/store/db.ts';
import { answerFor } from './address.ts';
import { findAnyMessages, idsOfMessages } from './messages.ts';
import type { Found, FoundAddress, FoundPerson, FoundThread } from './schema.ts';

/** Most results of a noun. */
const most = 6;
const mostNames = 1_000;
const mostMailboxes = 20;
/** Most contacts of a frequent name to examine; a list of contacts examines 5,000. */
const mostPeople = 1_000;

/**
 * Tells whether a caller may read a noun of the whole organization. A caller that is bound to
 * mailboxes may only read mailboxes.
 */
function maySee(caller: Caller, permission: Permission): boolean {
  const isReached = !isBound(caller.constraints) || permission.startsWith('mailboxes:');
  return isReached && refusedPermission(caller, permission) === null;
}

async function peopleOf(
  { store }: App,
  { organizationId }: Caller,
  ids: readonly string[],
): Promise<FoundPerson[]> {
  const rows = new Map(
    (await findContactRows(store.db, organizationId, ids)).map((row) => [row.id, row]),
  );
  const known = ids.flatMap((id) => rows.get(id) ?? []);
  const contacts = await presentContacts(store.db, organizationId, known);
  return contacts.map(({ id, name, status, identities }) => {
    return { id, name, status, email: identities[0]?.identifier ?? null };
  });
}

/**
 * Parses a question as a full-text query; null if it is not valid. The last word may be a prefix if
 * the question has no `@` and ends with three letters or digits.
 */
function fullTextOf(q: string): FullTextQuery | null {
  const plain = q.replaceAll('*', ' ').trim();
  try {
    const isBegun = /^[^@]*[\p{L}\p{N}]{3}$/u.test(plain);
    return parseQuery(isBegun ? `${plain}*` : plain);
  } catch (error) {
    if (error instanceof ValidationError) return null;
    throw error;
  }
}

async function threadsOf(app: App, db: Db, caller: Caller, q: string): Promise<FoundThread[]> {
  const query = fullTextOf(q);
  if (query === null) return [];
  const page = { page: 1, limit: mostMailboxes };
  const where = reachOf(app, caller);
  const { rows } = await mailboxes.page(db, caller.organizationId, page, { where });
  const ids = rows.map(({ id }) => id);
  const found = await searchMailboxes(db, ids, query, { now: app.clock.now(), limit: most });
  const threads = new Map(
    (
      await findThreads(
        db,
        found.map(({ id }) => id),
      )
    ).map((row) => [row.id, row]),
  );
  return found.flatMap(({ id }) => {
    const row = threads.get(id);
    if (!row) return [];
    const { mailbox_id: mailboxId, subject, from_name, from_address } = row;
    const lastActivityAt = isoTime(row.last_activity_at);
    return { mailboxId, id, subject, from: from_name ?? from_address, lastActivityAt };
  });
}

/** Returns the first six rows that have all words of the question in their texts together. */
function named<Row>(rows: readonly Row[], q: string, textsOf: (row: Row) => string[]): Row[] {
  const words = foldCase(q).split(/\s+/);
  const fits = (row: Row) => {
    const text = foldCase(textsOf(row).join(' '));
    return words.every((word) => text.includes(word));
  };
  return rows.filter(fits).slice(0, most);
}

/** Returns contact, blocks and messages of an address; null if the caller may see none of them. */
async function addressOf(
  app: App,
  caller: Caller,
  email: string,
  people: readonly FoundPerson[],
): Promise<FoundAddress | null> {
  const may = {
    blocks: maySee(caller, 'blocks:read'),
    messages: maySee(caller, 'messages:read'),
  };
  const isOf = (one: FoundPerson) =>
    one.email !== null && foldAddress(one.email) === foldAddress(email);
  const contact = people.find(isOf) ?? null;
  if (contact === null && !may.blocks && !may.messages) return null;
  return answerFor(app, caller, { email, contact }, may);
}

/**
 * Finds up to six resources of each noun, and explains the mail to the address in the question.
 * @throws ValidationError on `q` if the store is too slow
 */
export async function search(app: App, caller: Caller, q: string): Promise<Found> {
  const { organizationId } = caller;
  const may = (permission: Permission) => maySee(caller, permission);
  const read = await searchInTime(app.store, organizationId, 'q', async (db) => {
    const words = { words: wordsOf(q), prefix: foldAddress(q) };
    return {
      contacts: may('contacts:read')
        ? (await searchContacts(db, { organizationId }, words, mostPeople)).slice(0, most)
        : [],
      messages: may('messages:read') ? await idsOfMessages(db, organizationId, q, most) : [],
      threads: may('mailboxes:read') ? await threadsOf(app, db, caller, q) : [],
      campaigns: may('campaigns:read')
        ? await newestCampaignNames(db, organizationId, mostNames)
        : [],
      templates: may('templates:read')
        ? await newestTemplateNames(db, organizationId, mostNames)
        : [],
    };
  });
  const people = await peopleOf(app, caller, read.contacts);
  const asked = parseAddress(q)?.email ?? (people.length === 1 ? people[0]?.email : null) ?? null;
  return {
    address: asked === null ? null : await addressOf(app, caller, asked, people),
    people,
    messages: await findAnyMessages(app, caller, read.messages),
    threads: read.threads,
    campaigns: named(read.campaigns, q, ({ name }) => [name]),
    templates: named(read.templates, q, ({ name, slug }) => [name, slug]),
  };
}
