// Finds the existing contacts of an import, by address and by external id. Rows of the same contact
// must keep their order, even if they name the contact by two addresses. If batches of a window
// would break the order, the rest of the window is batched again.
import type { App } from '../../core/app.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import type { Db } from '../../platform/store/db.ts';
import { findByExternalIds, idsOfNames } from '../contacts/bulk-queries.ts';
import {
  findContactRows,
  findIdentities,
  findIdentitiesNamed,
  lockContacts,
} from '../contacts/queries.ts';
import { writable } from './contact-rows.ts';
import type { Candidate, Known } from './merge.ts';
import { inBatches, nameOfExternalId, type ReadBatch, readBatch } from './window.ts';

export function candidatesOf({ candidates }: ReadBatch): Candidate[] {
  return JSON.parse(candidates) as Candidate[];
}

/**
 * Finds the contacts named by the rows of a batch. `lock` locks them until the transaction ends.
 */
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
 * Finds the batch of a window that contains a name (an address or an external id). The index is
 * built lazily, because only contacts with several names need it.
 */
export class NamesOfWindow {
  readonly #batches: readonly ReadBatch[];
  #batchOf: Map<string, ReadBatch> | null = null;

  constructor(batches: readonly ReadBatch[]) {
    this.#batches = batches;
  }

  /**
   * Tells whether a second batch of the window uses a name of a contact in `batch`. Writing the
   * batches in sequence would then break the order of the rows. Batches with an equal `place` are
   * in order already.
   */
  saysElsewhere({ rows, identities }: Known, batch: ReadBatch): boolean {
    const numbers = rows.flatMap(({ external_id }) => external_id ?? []);
    // With as many contacts as names, each contact has only a single name.
    if (numbers.length + identities.length === rows.length) return false;
    const names = [
      ...identities.map((one) => one.folded_identifier),
      ...numbers.map(nameOfExternalId),
    ];
    this.#batchOf ??= new Map(
      this.#batches.flatMap((one) => namesIn(one).map((name) => [name, one] as const)),
    );
    return names.some((name) => {
      const other = this.#batchOf?.get(name) ?? batch;
      return other !== batch && (other.place === null || other.place !== batch.place);
    });
  }
}

function namesIn({ addresses, externalIds }: ReadBatch): string[] {
  const numbers = JSON.parse(externalIds) as string[];
  return [...(JSON.parse(addresses) as string[]), ...numbers.map(nameOfExternalId)];
}

/**
 * Returns new batches in which all rows of an existing contact stay together and in order, whatever
 * name each row uses. Yields to the event loop after each batch.
 */
export async function inOrderOfContacts(
  { store: { db } }: App,
  organizationId: string,
  batches: readonly ReadBatch[],
): Promise<ReadBatch[]> {
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
    await sliceTurns('import rows', organizationId);
  }
  candidates.sort((a, b) => a.row - b.row);
  return inBatches(candidates.map(writable), contactOf).map(readBatch);
}
