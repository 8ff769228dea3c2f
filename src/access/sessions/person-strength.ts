// Proofs that changes of a person's own account ask for. The account is the same in all
// organizations, so no organization decides: a person with a passkey or a binding to the provider
// must use it.
import type { App } from '../../core/app.ts';
import { findPerson } from '../members/queries.ts';
import { personsWithPasskey } from '../passkeys/queries.ts';
import type { Strength } from './proofs.ts';

/** Returns the proofs that a person's account asks for. */
export async function strengthOfPerson({ store }: App, personId: string): Promise<Strength> {
  const person = await findPerson(store.db, personId);
  const withPasskey = await personsWithPasskey(store.db, [personId]);
  return withPasskey.has(personId) || person?.oidc_subject ? 'strong' : 'any';
}
