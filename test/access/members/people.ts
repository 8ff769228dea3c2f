// People for tests: members of each role, and callers by key.
import { callerOf } from '../../../src/access/keys/key-caller.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import { keys } from '../../../src/access/keys/queries.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import {
  acceptInvitation,
  invitationLivesMs,
  startInvitation,
} from '../../../src/access/members/invitations.ts';
import { createMember } from '../../../src/access/members/members.ts';
import { memberCaller } from '../../../src/access/members/persons.ts';
import * as queries from '../../../src/access/members/queries.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import type { Role } from '../../../src/core/config/roles.ts';

/** Invites without a mail, and returns the id of the member and the token of a link. */
export async function invite(app: App, caller: Caller, email: string, role: Role) {
  const { id } = await createMember(app, caller, { email, role, mail: false });
  const token = await app.store.write(async (trx) => {
    const row = await queries.members.get(trx, caller.organizationId, id);
    return startInvitation(app, trx, row, { messageId: null, livesMs: invitationLivesMs });
  });
  return { id, token };
}

/** Makes an active member, and returns the caller of a session. */
export async function join(app: App, caller: Caller, email: string, role: Role): Promise<Caller> {
  const { token } = await invite(app, caller, email, role);
  const person = await queries.findPersonByEmail(app.store.db, email);
  const accepted = await acceptInvitation(app, token, person?.id ?? null);
  if (!accepted) throw new Error(`${email} could not accept`);
  return present(app, accepted.personId, caller.organizationId);
}

/** Returns the caller of a session of a person, with the rights of now. */
export async function present(app: App, personId: string, organizationId: string) {
  const caller = await memberCaller(app.store.db, { personId, organizationId });
  if (!caller) throw new Error(`${personId} has no active place in ${organizationId}`);
  return caller;
}

/** Makes a key, and returns its caller. */
export async function keyCaller(app: App, operator: Caller, input: CreateKey): Promise<Caller> {
  const { id } = await createKey(app, operator, input);
  return callerOf(await keys.get(app.store.db, operator.organizationId, id));
}

/** Id of the member of a caller. */
export function memberOf({ by }: Caller): string {
  return by.kind === 'member' ? by.memberId : '';
}

/** Id of the person of a caller. */
export function personOf({ by }: Caller): string {
  return by.kind === 'member' ? by.personId : '';
}
