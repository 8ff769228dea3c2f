// Mailboxes in arguments: by id, slug or address.
import { Args } from '@oclif/core';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Local, Session } from '../asking.ts';
import { findItem, itemsOf } from '../items.ts';

function argOf(byDefault: string) {
  return {
    mailbox: Args.string({
      description: `Id, slug or address of the mailbox (default: ${byDefault})`,
    }),
  };
}

/** The argument of commands on a single mailbox. */
export const mailboxArg = argOf('the oldest');

/** The argument of commands on a single mailbox or all mailboxes. */
export const mailboxOrAllArg = argOf('all mailboxes');

/**
 * Returns the id of the named mailbox.
 * @throws ResourceNotFoundError if the organization has no such mailbox.
 */
export async function mailboxIdFrom(session: Session, named: string): Promise<string> {
  const { idPattern } = await import('../../../src/platform/runtime/ids.ts');
  if (idPattern('mailbox').test(named)) return named;
  const found = await (session.local
    ? findInStore(session.local, named)
    : findInList(session, named));
  if (found) return found.id;
  if (named === '') throw new ResourceNotFoundError('mailbox', 'of this organization');
  if (isAddress(named)) throw new ResourceNotFoundError('mailbox', named);
  const { wholeId } = await import('../input/whole-id.ts');
  const id = await wholeId(session.findIds, ['mailbox'], named);
  if (id === named) throw new ResourceNotFoundError('mailbox', named);
  return id;
}

const isAddress = (named: string) => /.@/.test(named);

type Found = { id: string } | undefined;

/** Finds a mailbox by address or slug; the oldest for an empty name. */
async function findInStore({ app, caller }: Local, named: string): Promise<Found> {
  const { findFirstMailbox, mailboxes } = await import(
    '../../../src/identity/mailboxes/queries.ts'
  );
  const { db } = app.store;
  const { organizationId } = caller;
  if (named === '') return findFirstMailbox(db, organizationId);
  if (isAddress(named)) {
    const { findReceivers } = await import('../../../src/identity/mailboxes/receivers.ts');
    const { own } = await findReceivers(db, named);
    return own?.organization_id === organizationId ? own : undefined;
  }
  const bySlug = { equal: { slug: named } };
  const { rows } = await mailboxes.page(db, organizationId, { page: 1, limit: 1 }, bySlug);
  return rows[0];
}

/** Finds a mailbox by the rules of `findInStore`, in the list of the API. */
async function findInList(session: Session, named: string): Promise<Found> {
  const { mailboxRoutes } = await import('../../../src/identity/mailboxes/routes.ts');
  const all = itemsOf(session, mailboxRoutes.list);
  if (named !== '') {
    const address = named.toLowerCase();
    return findItem(all, ({ slug, addresses, primaryAddress }) =>
      isAddress(named) ? [primaryAddress, ...addresses].includes(address) : slug === named,
    );
  }
  let oldest: { id: string } | undefined;
  for await (const mailbox of all) if (!oldest || mailbox.id < oldest.id) oldest = mailbox;
  return oldest;
}
