// Keeps strangers out of threads. A foreign Message-ID is only as unique as the maker keeps it:
//
//   id in In-Reply-To, References, Message-ID | joins
//   ------------------------------------------+---------------------------------------------------------
//   of ours                                   | mail of everybody
//   foreign                                   | mail of everybody
//   foreign, shared: mails without a common   | mail with a participant of the thread; each thread with
//   participant bear it as their own          | a mail of this id counts
//
// Two threads merge only if somebody outside the organization takes part in both. Participants
// stand in From, To and Cc; the addresses of the mailbox do not count. A thread that waits for a
// parent joins with the parent, as it would have if the parent had come first, unless we wrote in
// the thread meanwhile.

import { selectAddresses } from '../../../identity/mailboxes/queries.ts';
import { findReceiversOf } from '../../../identity/mailboxes/receivers.ts';
import { findMessageRows, findRecipients } from '../../../outbound/messages/queries.ts';
import type { Db } from '../../../platform/store/db.ts';
import { findThread, type ThreadMessageRow } from '../queries.ts';
import { selectRecent } from '../recent-queries.ts';
import { participantOf } from './keys.ts';
import type { Reference } from './reference-queries.ts';

/**
 * Number of newest messages of a thread that are read for participants. A message has at most 500
 * recipients.
 */
const mostRead = 50;
/** Limit of the common participants looked up. */
const mostLookedUp = 100;

/** A received message that seeks a thread. */
export interface Arriving {
  mailboxId: string;
  messageId: string;
  from: string;
  /** Participants in the form of `participantOf`, the author first. */
  participants: readonly string[];
}

type People = ReadonlySet<string>;

const commonOf = (one: People, other: People) => [...one].filter((email) => other.has(email));
const haveCommon = (one: People, other: People) => commonOf(one, other).length > 0;

/** Reads the participants of messages and threads. Reads each thread only once. */
export class Participants {
  readonly #trx: Db;
  readonly #mailboxId: string;
  readonly #recent = new Map<string, Promise<ThreadMessageRow[]>>();
  readonly #threads = new Map<string, Promise<People>>();
  #own: Promise<People> | undefined;

  constructor(trx: Db, mailboxId: string) {
    this.#trx = trx;
    this.#mailboxId = mailboxId;
  }

  /** Leaves out the addresses of the mailbox, unless they are the only participants. */
  async #without(all: Iterable<string>): Promise<People> {
    this.#own ??= selectAddresses(this.#trx, [this.#mailboxId]).then(
      (rows) => new Set(rows.map(({ address }) => participantOf(address))),
    );
    const people = new Set(all);
    const own = await this.#own;
    const others = new Set([...people].filter((email) => !own.has(email)));
    return others.size > 0 ? others : people;
  }

  ofArriving({ participants }: Arriving): Promise<People> {
    return this.#without(participants);
  }

  /** Returns the participants of these messages. */
  async ofMessages(ids: readonly string[]): Promise<People> {
    const messages = await findMessageRows(this.#trx, ids);
    const recipients = await findRecipients(this.#trx, ids);
    const shown = recipients.flatMap(({ kind, email }) => (kind === 'bcc' ? [] : email));
    const authors = messages.map(({ from_email }) => from_email);
    return this.#without([...authors, ...shown].map(participantOf));
  }

  #recentOf(id: string): Promise<ThreadMessageRow[]> {
    const found = this.#recent.get(id) ?? selectRecent(this.#trx, id, 0, mostRead);
    this.#recent.set(id, found);
    return found;
  }

  /** Returns the participants of the newest messages of a thread. */
  ofThread(id: string): Promise<People> {
    const found =
      this.#threads.get(id) ??
      this.#recentOf(id).then((rows) => this.ofMessages(rows.map(({ message_id }) => message_id)));
    this.#threads.set(id, found);
    return found;
  }

  /** Tells whether the mailbox wrote any of the newest messages of a thread. */
  async hasSent(id: string): Promise<boolean> {
    return (await this.#recentOf(id)).some(({ kind }) => kind === 'sent');
  }
}

/** References by which a message may join threads. */
export interface Allowed {
  references: Reference[];
  /** Threads with the same Message-ID as this message, if strangers share it; else empty. */
  sharing: readonly string[];
}

/** Leaves out threads of shared ids in which no participant of the message takes part. */
export async function withoutStrangers(
  people: Participants,
  arriving: Arriving,
  own: string | null,
  named: readonly Reference[],
): Promise<Allowed> {
  const mine = await people.ofArriving(arriving);
  const shared = new Set(
    named.flatMap(({ is_shared, message_id_hash }) => (is_shared === 1 ? message_id_hash : [])),
  );
  const bearer = named.find(
    ({ message_id_hash, bearer_id }) => message_id_hash === own && bearer_id !== null,
  )?.bearer_id;
  if (own !== null && bearer && bearer !== arriving.messageId && !shared.has(own)) {
    const theirs = await people.ofMessages([bearer]);
    if (theirs.size > 0 && !haveCommon(mine, theirs)) shared.add(own);
  }
  const references: Reference[] = [];
  for (const one of named) {
    const isOpen = !shared.has(one.message_id_hash);
    if (isOpen || haveCommon(mine, await people.ofThread(one.thread_id))) references.push(one);
  }
  const isShared = own !== null && shared.has(own);
  const sharing = named.flatMap(({ message_id_hash, thread_id }) =>
    isShared && message_id_hash === own ? thread_id : [],
  );
  return { references, sharing };
}

/**
 * Returns the threads of `others` that merge with the thread `id`, which the message joins. A
 * thread merges if a person outside of the organization takes part in both. The author of the
 * message counts for `id`; named recipients do not, as any mail may name them. `waiting` are
 * threads that came before the message and name it: they merge without such a person too, unless
 * the mailbox wrote in them.
 */
export async function mergeable(
  trx: Db,
  people: Participants,
  { from }: Pick<Arriving, 'from'>,
  id: string,
  others: readonly string[],
  waiting: ReadonlySet<string>,
): Promise<string[]> {
  const here = new Set([...(await people.ofThread(id)), participantOf(from)]);
  const found: string[] = [];
  for (const other of others) {
    if (waiting.has(other) && !(await people.hasSent(other))) {
      found.push(other);
      continue;
    }
    const common = commonOf(here, await people.ofThread(other)).slice(0, mostLookedUp);
    if (await hasOutsider(trx, id, common)) found.push(other);
  }
  return found;
}

/** Tells whether any of these addresses is outside of the thread's organization. */
async function hasOutsider(trx: Db, threadId: string, addresses: readonly string[]) {
  if (addresses.length === 0) return false;
  const organizationId = (await findThread(trx, threadId))?.organization_id;
  const receivers = await findReceiversOf(trx, addresses);
  return receivers.some(({ own, domain }) => {
    if (own !== undefined) return own.organization_id !== organizationId;
    return domain.state !== 'owned' || domain.owner.organization_id !== organizationId;
  });
}
