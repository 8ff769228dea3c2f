// What lets the mail of a paused organization, or of a held sending domain, go again (specification 3):
// the pause ends, and what waited in its lane is ready. What the pause does: ../stops.ts.
import type { Caller } from '../../api/route.ts';
import { parseWith } from '../../api/validate.ts';
import type { App } from '../../app.ts';
import { domainChange, getDomain, getDomainRows, toDomain } from '../../domains/domains.ts';
import { domainResumed } from '../../domains/events.ts';
import { type Domain, type ResumeDomain, resumeDomainInput } from '../../domains/schema.ts';
import { ConflictError } from '../../errors.ts';
import { record, told } from '../../events/record.ts';
import { workspaceResumed } from '../../organizations/events.ts';
import { getOrganization, resumeOrganization } from '../../organizations/organizations.ts';
import {
  type Organization,
  type ResumeOrganization,
  resumeOrganizationInput,
} from '../../organizations/schema.ts';
import type { Db } from '../../store/db.ts';
import { liftDomainHold } from '../../usage/domain-holds.ts';
import { forgive } from '../../usage/health.ts';
import { stopOfPause } from '../stops.ts';
import { changeQueue, giveTurnsNow, type OnProgress } from './queue-walk.ts';

/** What waits in this lane may go now. */
async function empty(app: App, lane: string, onProgress?: OnProgress): Promise<void> {
  const options = { half: 'due', filter: { lane } } as const;
  const giveTurns = async (trx: Db, rows: Parameters<typeof giveTurnsNow>[2]) =>
    (await giveTurnsNow(app, trx, rows)).length;
  await changeQueue(app, options, giveTurns, onProgress);
}

/**
 * Lets a paused organization send again: what waits is ready at once, and what its mail did so far
 * counts no more against it. The note is what the review found.
 * @throws ValidationError, ConflictError when it is not paused, ResourceNotFoundError.
 */
export async function resumeSending(
  app: App,
  idOrName: string,
  input: ResumeOrganization = {},
  onProgress?: OnProgress,
): Promise<Organization> {
  parseWith(resumeOrganizationInput, input, 'body');
  const { id, sendingStatus } = await getOrganization(app, idOrName);
  // Before the resume: the first outcome after it must not pause again for what was reviewed.
  if (sendingStatus === 'paused') await app.store.write((trx) => forgive(app, trx, id));
  const resumed = await resumeOrganization(app, id, input);
  await empty(app, stopOfPause(id), onProgress);
  return resumed;
}

/**
 * Ends the hold of a sending domain after a review: what waits is ready at once, and what its mail
 * did so far counts no more against it.
 * @throws ValidationError, ConflictError when it is not held, ResourceNotFoundError.
 */
export async function resumeDomain(
  app: App,
  caller: Caller,
  id: string,
  input: ResumeDomain,
  onProgress?: OnProgress,
): Promise<Domain> {
  const { note = null } = parseWith(resumeDomainInput, input, 'body');
  const { organizationId } = caller;
  const { domain } = await getDomain(app, caller, id);
  const organization = await getOrganization(app, organizationId);
  await app.store.write(async (trx) => {
    if (!(await liftDomainHold(app, trx, organizationId, domain))) {
      throw new ConflictError('domain', `Sending from ${domain} is not held`);
    }
    const rows = await getDomainRows(app, trx, organizationId, id);
    await record(app, trx, caller, {
      ...domainChange('domain.resumed', rows.domain),
      details: { domain, note },
      event: told(domainResumed, toDomain(app, rows), { note }),
    });
    const facts = { domain, sendingStatus: 'enabled', note };
    const event = told(workspaceResumed, organization, facts);
    await record(app, trx, caller, { subject: organizationId, event });
  });
  await empty(app, stopOfPause(organizationId, domain), onProgress);
  return getDomain(app, caller, id);
}
