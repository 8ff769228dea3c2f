// Links that the operator makes at the machine, for persons without mail from this service. A
// command prints the link; no answer of a route has it.
import type { App } from '../../core/app.ts';
import { invitationPath, linkPath } from '../../core/link-pages/person-links.ts';
import { byOperator, record } from '../../history/events/record.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { normalAddress } from '../members/address.ts';
import { startInvitation } from '../members/invitations.ts';
import { findInvitedByEmail, findPersonByEmail, selectPlaces } from '../members/queries.ts';
import { linkLivesMs, makeMailedLink } from './mailed-links.ts';

const dayMs = 24 * 3_600_000;

/** A link for the operator to hand over. */
interface PrintedLink {
  email: string;
  url: string;
  expiresAt: string;
}

/**
 * Makes a sign-in link for the person with an address; for an invited address, a link that accepts
 * the newest invitation within 24 hours. A mail warns the person and the owners of a sign-in link.
 * The audit of each affected organization has an entry.
 * @throws ResourceNotFoundError
 */
export async function makeLinkFor(app: App, address: string): Promise<PrintedLink> {
  const email = normalAddress(address) ?? address;
  return app.store.write(async (trx) => {
    const person = await findPersonByEmail(trx, email);
    if (!person) return printInvitation(app, trx, email);
    const made = { personId: person.id, email, browser: 'svc members link', address: '' };
    const link = { ...made, purpose: 'sign-in' } as const;
    const { token } = await makeMailedLink(app, trx, link, false);
    for (const { id, organization_id, status } of await selectPlaces(trx, person.id)) {
      if (status !== 'active') continue;
      const change = { subject: id, action: 'member.link-made' } as const;
      await record(app, trx, byOperator(organization_id), change);
    }
    await app.hooks.warnPerson(app, trx, person.id, 'link');
    return printed(app, email, linkPath + token, linkLivesMs['sign-in']);
  });
}

/** Makes a link that accepts the newest invitation of an address. @throws ResourceNotFoundError */
async function printInvitation(app: App, trx: Db, email: string): Promise<PrintedLink> {
  const row = await findInvitedByEmail(trx, email);
  if (!row) throw new ResourceNotFoundError('person', email);
  const token = await startInvitation(app, trx, row, { messageId: null, livesMs: dayMs });
  const change = { subject: row.id, action: 'member.link-made' } as const;
  await record(app, trx, byOperator(row.organization_id), change);
  return printed(app, email, invitationPath + token, dayMs);
}

function printed({ clock, publicUrl }: App, email: string, path: string, livesMs: number) {
  const url = publicUrl.current.replace(/\/$/, '') + path;
  return { email, url, expiresAt: isoTime(clock.now() + livesMs) };
}
