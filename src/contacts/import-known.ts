// Whom the rows of an import name: found by address and by external id. Before a window is written it is seen to
// that rows of one contact that is there, named in two ways, keep their order.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { Db } from '../store/db.ts';
import { findByExternalIds, idsOfNames } from './bulk-queries.ts';
import type { Candidate, Known } from './import-merge.ts';
import { type ReadBatch, readBatch, writable } from './import-rows.ts';
import { inBatches, nameOfExternalId } from './import-window.ts';
import { findContactRows, findIdentities, findIdentitiesNamed, lockContacts } from './queries.ts';

export function candidatesOf({ candidates }: ReadBatch): Candidate[] {
  return JSON.parse(candidates) as Candidate[];
}

/** Those whom the rows of a batch name. `lock`: until the transaction ends. */
export async function knownTo(
  db: Db,
  organizationId: string,
  batch: ReadBatch,
  lock: boolean,
): Promise<Known> {
  const ids = await idsOfNames(db, organizationId, batch);
  if (ids.length === 0) return { rows: [], identities: [] };
  if (lock) await lockContacts(db, ids);
  const rows = await findContactRows(db, organizationId, ids);
  const identities = await findIdentities(db, ids);
  return { rows, identities };
}

/**
 * The batches as they can be written one after the other: those of a window, unless two of them name one contact
 * in two ways. Sockets are served meanwhile.
 */
export async function inOrder(
  { store: { db } }: App,
  organizationId: string,
  batches: readonly ReadBatch[],
): Promise<readonly ReadBatch[]> {
  if (batches.length <= 1) return batches;
  const places = new Map<string, string>();
  for (const [at, batch] of batches.entries()) {
    const place = batch.place === null ? `${at}` : `of ${batch.place}`;
    for (const id of await idsOfNames(db, organizationId, batch)) {
      if ((places.get(id) ?? place) !== place)
        return inOrderOfContacts(db, organizationId, batches);
      places.set(id, place);
    }
    await nextTurn();
  }
  return batches;
}

/** In batches anew, by whom there is under which name. */
async function inOrderOfContacts(db: Db, organizationId: string, batches: readonly ReadBatch[]) {
  const contactOf = new Map<string, string>();
  const candidates: Candidate[] = [];
  for (const batch of batches) {
    const addresses = JSON.parse(batch.addresses) as string[];
    for (const one of await findIdentitiesNamed(db, organizationId, addresses)) {
      contactOf.set(one.folded_identifier, one.contact_id);
    }
    const externalIds = JSON.parse(batch.externalIds) as string[];
    for (const one of await findByExternalIds(db, organizationId, externalIds)) {
      contactOf.set(nameOfExternalId(one.external_id), one.id);
    }
    for (const candidate of candidatesOf(batch)) candidates.push(candidate);
    await nextTurn();
  }
  candidates.sort((a, b) => a.row - b.row);
  return inBatches(candidates.map(writable), contactOf).map(readBatch);
}
