// Persons with places in organizations, and their browsers, for tests of the console.

import { newPerson } from '../../src/access/members/persons.ts';
import { insertPerson, members } from '../../src/access/members/queries.ts';
import { beginPersonSession, type SigningIn } from '../../src/access/sessions/person-sessions.ts';
import type { Browser, World } from './world.ts';

/** A place of a person. */
interface Place {
  organizationId?: string;
  role?: string;
  name?: string;
}

/** Makes a person with active places; the first organization without places. */
export async function makePerson(
  { test: { app, caller } }: World,
  email: string,
  places: readonly Place[] = [{}],
): Promise<{ personId: string; memberIds: string[] }> {
  const person = newPerson(app, email);
  const now = app.clock.now();
  const rows = places.map(({ organizationId = caller.organizationId, role = 'owner', name }) => ({
    id: app.newId({ prefix: 'mem' }),
    organization_id: organizationId,
    person_id: person.id,
    email,
    name: name ?? null,
    role,
    status: 'active' as const,
    invited_by: null,
    invitation_hash: null,
    invitation_token: null,
    invitation_message_id: null,
    expires_at: null,
    accepted_at: now,
    last_seen_at: null,
    created_at: now,
    updated_at: now,
  }));
  await app.store.write(async (trx) => {
    await insertPerson(trx, person);
    for (const row of rows) await members.insert(trx, row);
  });
  return { personId: person.id, memberIds: rows.map(({ id }) => id) };
}

/** Signs in a person. Returns the browser. */
export async function browserOf(
  world: World,
  personId: string,
  more: Partial<SigningIn> = {},
): Promise<Browser> {
  const token = await beginPersonSession(world.test.app, {
    personId,
    proof: 'link',
    browser: 'Firefox on Windows',
    network: '203.0.113.0/24',
    ...more,
  });
  return world.browser(`svc_console=${token}`);
}
