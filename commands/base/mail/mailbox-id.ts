// Mailboxes in arguments: by id, slug or address.
import { Args } from '@oclif/core';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';

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
export async function mailboxIdFrom(app: App, caller: Caller, named: string): Promise<string> {
  const { idPattern } = await import('../../../src/platform/runtime/ids.ts');
  if (idPattern('mailbox').test(named)) return named;
  const { findReceivers } = await import('../../../src/identity/mailboxes/receivers.ts');
  const { findFirstMailbox, mailboxes } = await import(
    '../../../src/identity/mailboxes/queries.ts'
  );
  const { db } = app.store;
  const { organizationId } = caller;
  if (named === '') {
    const first = await findFirstMailbox(db, organizationId);
    if (!first) throw new ResourceNotFoundError('mailbox', 'of this organization');
    return first.id;
  }
  if (/.@/.test(named)) {
    const { own } = await findReceivers(db, named);
    if (own?.organization_id === organizationId) return own.id;
    throw new ResourceNotFoundError('mailbox', named);
  }
  const bySlug = { equal: { slug: named } };
  const { rows } = await mailboxes.page(db, organizationId, { page: 1, limit: 1 }, bySlug);
  if (rows[0]) return rows[0].id;
  const { wholeId } = await import('../input/whole-id.ts');
  const id = await wholeId(app, organizationId, ['mailbox'], named);
  if (id === named) throw new ResourceNotFoundError('mailbox', named);
  return id;
}
