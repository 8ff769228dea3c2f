// Links that the operator makes at the machine, for persons whom no mail reaches. A command prints
// the link; it is in no answer of a route.
import type { App } from '../../core/app.ts';
import { linkPath } from '../../core/link-pages/person-links.ts';
import { byOperator, record } from '../../history/events/record.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { normalAddress } from '../members/address.ts';
import { findPersonByEmail, selectPlaces } from '../members/queries.ts';
import { linkLivesMs, makeMailedLink } from './mailed-links.ts';

/** A link for the operator to hand over. */
interface PrintedLink {
  email: string;
  url: string;
  expiresAt: string;
}

/**
 * Makes a link that signs in as a person. The person and the owners are told by mail, and the audit
 * of each organization of the person has the act. @throws ResourceNotFoundError
 */
export async function makeLinkFor(app: App, address: string): Promise<PrintedLink> {
  const email = normalAddress(address) ?? address;
  return app.store.write(async (trx) => {
    const person = await findPersonByEmail(trx, email);
    if (!person) throw new ResourceNotFoundError('person', email);
    const made = { personId: person.id, email, browser: 'svc members link', address: '' };
    const link = { ...made, purpose: 'sign-in' } as const;
    const { token } = await makeMailedLink(app, trx, link, false);
    for (const { id, organization_id, status } of await selectPlaces(trx, person.id)) {
      if (status !== 'active') continue;
      const change = { subject: id, action: 'member.link-made' } as const;
      await record(app, trx, byOperator(organization_id), change);
    }
    await app.hooks.warnPerson(app, trx, person.id, 'link');
    const url = `${app.publicUrl.current.replace(/\/$/, '')}${linkPath}${token}`;
    return { email, url, expiresAt: isoTime(app.clock.now() + linkLivesMs['sign-in']) };
  });
}
