// Resumes sending for a paused organization or a held sending domain (specification 3). The pause
// ends, and deliveries in the lane of the pause become ready. ../claiming/stops.ts has the effect
// of a pause.

import { workspaceResumed } from '../../../access/organizations/events.ts';
import {
  getOrganization,
  resumeOrganization,
} from '../../../access/organizations/organizations.ts';
import {
  type Organization,
  type ResumeOrganization,
  resumeOrganizationInput,
} from '../../../access/organizations/schema.ts';
import type { Caller } from '../../../core/api/route.ts';
import { parseWith } from '../../../core/api/validate.ts';
import type { App } from '../../../core/app.ts';
import { eventToRecord, record } from '../../../history/events/record.ts';
import {
  domainChange,
  getDomain,
  getDomainRows,
  toDomain,
} from '../../../identity/domains/domains.ts';
import { domainResumed } from '../../../identity/domains/events.ts';
import {
  type Domain,
  type ResumeDomain,
  resumeDomainInput,
} from '../../../identity/domains/schema.ts';
import { liftDomainHold } from '../../../identity/reputation/domain-holds.ts';
import { forgive } from '../../../identity/reputation/health.ts';
import { ConflictError } from '../../../platform/errors.ts';
import { stopOfPause } from '../claiming/stops.ts';
import { emptyLane, type OnProgress } from './queue-walk.ts';

/**
 * Lets a paused organization send again. Waiting mail is ready at once, and past results no longer
 * count against the organization. The note states the finding of the review. @throws
 * ValidationError; ConflictError if it is not paused; ResourceNotFoundError.
 */
export async function resumeSending(
  app: App,
  idOrName: string,
  input: ResumeOrganization = {},
  onProgress?: OnProgress,
): Promise<Organization> {
  parseWith(resumeOrganizationInput, input, 'body');
  const { id, sendingStatus } = await getOrganization(app, idOrName);
  // Forgives results before the resume: the first outcome after it must not cause a new pause by
  // reviewed results.
  if (sendingStatus === 'paused') await app.store.write((trx) => forgive(app, trx, id));
  const resumed = await resumeOrganization(app, id, input);
  await emptyLane(app, stopOfPause(id), onProgress);
  return resumed;
}

/**
 * Ends the hold of a sending domain after a review: waiting mail is ready at once, and past results
 * no longer count against the domain.
 * @throws ValidationError; ConflictError if it is not held; ResourceNotFoundError.
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
      event: eventToRecord(domainResumed, toDomain(app, rows), { note }),
    });
    const facts = { domain, sendingStatus: 'enabled', note };
    const event = eventToRecord(workspaceResumed, organization, facts);
    await record(app, trx, caller, { subject: organizationId, event });
  });
  await emptyLane(app, stopOfPause(organizationId, domain), onProgress);
  return getDomain(app, caller, id);
}
