// Ends bindings of persons to accounts of a provider, for the operator and for My account.
import type { App } from '../../core/app.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { normalAddress } from '../members/address.ts';
import { recordOfPerson } from '../members/persons.ts';
import * as queries from '../members/queries.ts';
import { deleteSessionsOfProof } from './queries.ts';

const unbound = { oidc_issuer: null, oidc_client: null, oidc_subject: null, bound_at: null };
/** Most persons that a transaction unbinds. */
const batch = 100;

/** Unbinds a person. Open sessions stay. Returns false for a person without a binding. */
export async function unbindPerson(app: App, trx: Db, personId: string): Promise<boolean> {
  const person = await queries.findPerson(trx, personId);
  if (!person?.oidc_issuer) return false;
  await queries.updatePerson(trx, personId, unbound);
  const details = { issuer: person.oidc_issuer };
  await recordOfPerson(app, trx, personId, { action: 'member.provider-unbound', details });
  return true;
}

/** Unbinds a person for the operator: the sessions that the provider began end too. */
async function endBinding(app: App, trx: Db, personId: string): Promise<boolean> {
  await deleteSessionsOfProof(trx, personId, 'provider');
  return unbindPerson(app, trx, personId);
}

/** Unbinds the person of an address. @throws ResourceNotFoundError without a bound person */
export async function unbindAddress(app: App, address: string): Promise<void> {
  const email = normalAddress(address);
  const isUnbound = await app.store.write(async (trx) => {
    const person = email === null ? undefined : await queries.findPersonByEmail(trx, email);
    return person !== undefined && endBinding(app, trx, person.id);
  });
  if (!isUnbound) throw new ResourceNotFoundError('person bound to a provider', address);
}

/** Unbinds all persons of an issuer, a hundred in a transaction. Returns their number. */
export async function unbindIssuer(app: App, issuer: string): Promise<number> {
  for (let count = 0; ; ) {
    const ids = await app.store.write(async (trx) => {
      const rows = await queries.selectBoundPersons(trx, issuer, batch);
      for (const { id } of rows) await endBinding(app, trx, id);
      return rows;
    });
    count += ids.length;
    if (ids.length < batch) return count;
  }
}
