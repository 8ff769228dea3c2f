// Imports contacts that have to confirm a group. Their mails become due at a bounded rate, so that
// a mail of a single request need not wait for the whole import.
import { refusedServiceMail } from '../../access/keys/constraints.ts';
import { type Caller, callerId, type StreamedBody } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findAddressed } from '../../people/contacts/queries.ts';
import type { ImportQuery, ImportReport } from '../../people/contacts/schema.ts';
import { type ImportOptions, importContacts } from '../../people/imports/contacts.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { added, addressesLeft, checkAskingAny, optInGroup, unasked } from './asking.ts';
import { mailsPerSecond } from './limits.ts';
import { findConfirmations, insertConfirmations, updateConfirmation } from './queries.ts';

/**
 * Returns a function that the import calls in each transaction, to ask the imported contacts.
 * @throws ForbiddenError for a test key and for a key that may not send at once; else as
 * `checkAskingAny`
 */
export async function askImported(
  app: App,
  caller: Caller,
  groupId: string,
): Promise<NonNullable<ImportOptions['confirm']>> {
  if (caller.isTest) {
    throw new ForbiddenError(
      'A test key sends only to local mailboxes and @simulator.test: use a live key to import contacts ' +
        'that have to confirm',
    );
  }
  const refused = refusedServiceMail(caller, 'an import with requireConfirmation');
  if (refused) throw refused;
  const texts = await checkAskingAny(app, caller, groupId);
  const { organizationId } = caller;
  const keyId = callerId(caller);
  const start = app.clock.now();
  let asked = 0;
  return async (trx: Db, contactIds: readonly string[]) => {
    const now = app.clock.now();
    const group = await optInGroup(trx, organizationId, groupId);
    const known = new Map(
      (await findConfirmations(trx, groupId, contactIds)).map((row) => [row.contact_id, row]),
    );
    const ids = contactIds.filter((id) => (known.get(id)?.status ?? 'removed') === 'removed');
    const found = await findAddressed(trx, organizationId, ids);
    const folded = new Map(found.map(({ id, email }) => [id, foldAddress(email ?? '')]));
    const left = await addressesLeft(trx, group, [...folded.values()]);
    const rows = ids.map((id, at) => {
      // A file is not a new request of the person, so people that unsubscribed are not asked.
      const hasLeft = left.has(folded.get(id) ?? '');
      const standing = { isBlocked: hasLeft, hasLeft };
      const asking = { now, keyId, texts };
      const { row } = added(known.get(id) ?? unasked(group, id, now), standing, asking);
      const place = start + Math.floor(((asked + at) * 1_000) / mailsPerSecond);
      return row.due_at === null ? row : { ...row, due_at: Math.max(now, place) };
    });
    await insertConfirmations(
      trx,
      rows.filter((row) => !known.has(row.contact_id)),
    );
    for (const row of rows) if (known.has(row.contact_id)) await updateConfirmation(trx, row);
    asked += rows.length;
    return rows.length;
  };
}

/** Imports over HTTP. The content type decides the kind of file. */
export async function importStream(
  app: App,
  caller: Caller,
  stream: StreamedBody | undefined,
  { dryRun = false, map, requireConfirmation: groupId }: ImportQuery,
): Promise<ImportReport> {
  if (!stream) throw new Error('An import without its file');
  const as = stream.type === 'text/csv' ? 'csv' : 'ndjson';
  const confirm = groupId === undefined ? undefined : await askImported(app, caller, groupId);
  return importContacts(app, caller, stream.chunks, { as, dryRun, map, confirm });
}
