// A new start after a person lost every way to sign in. Passkeys and the binding to a provider open
// all organizations of the person, so the operator alone gives a new start, at the command line.
import type { App } from '../../core/app.ts';
import { byOperator, record } from '../../history/events/record.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { normalAddress } from '../members/address.ts';
import { endAllOfPerson } from '../members/persons.ts';
import { findPersonByEmail, lockPersons, selectPlaces, updatePerson } from '../members/queries.ts';

/**
 * Ends the sessions, links, passkeys and the binding of a person. A mailed link may then add a
 * single passkey. @throws ResourceNotFoundError without such a person
 */
export async function resetPerson(app: App, address: string): Promise<{ email: string }> {
  const email = normalAddress(address) ?? address;
  return app.store.write(async (trx) => {
    const person = await findPersonByEmail(trx, email);
    if (!person) throw new ResourceNotFoundError('person', email);
    await lockPersons(trx, [person.id]);
    await endAllOfPerson(app, trx, person.id);
    const unbound = { oidc_issuer: null, oidc_client: null, oidc_subject: null, bound_at: null };
    await updatePerson(trx, person.id, { ...unbound, new_start_at: app.clock.now() });
    for (const { id, organization_id, status } of await selectPlaces(trx, person.id)) {
      if (status !== 'active') continue;
      const change = { subject: id, action: 'member.reset' } as const;
      await record(app, trx, byOperator(organization_id), change);
    }
    await app.hooks.warnPerson(app, trx, person.id, 'reset');
    return { email };
  });
}
