// Persons with places for tests of ways to sign in, stored as members stores them.

import { newPerson } from '../../../src/access/members/persons.ts';
import { insertPerson, type MemberRow, members } from '../../../src/access/members/queries.ts';
import type { App } from '../../../src/core/app.ts';

interface Place {
  email: string;
  organizationId: string;
  status?: MemberRow['status'];
  role?: string;
  acceptedAt?: number;
}

/** Makes a person with a place. Returns the id of the person. */
export async function joined(app: App, place: Place): Promise<string> {
  const person = newPerson(app, place.email);
  await app.store.write((trx) => insertPerson(trx, person));
  await join(app, person.id, place);
  return person.id;
}

/** Gives a person one more place. */
export async function join(
  app: App,
  personId: string,
  { email, organizationId, status = 'active', role = 'owner', acceptedAt }: Place,
): Promise<void> {
  const now = app.clock.now();
  const row: MemberRow = {
    id: app.newId({ prefix: 'mem' }),
    organization_id: organizationId,
    person_id: personId,
    email,
    name: null,
    role,
    status,
    invited_by: null,
    invitation_hash: null,
    invitation_token: null,
    invitation_message_id: null,
    expires_at: null,
    accepted_at: acceptedAt ?? now,
    last_seen_at: null,
    created_at: now,
    updated_at: now,
  };
  await app.store.write((trx) => members.insert(trx, row));
}
