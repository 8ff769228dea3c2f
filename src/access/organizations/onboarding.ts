// The onboarding review (specification 4.8, 5.6): the operator lets an organization send to any
// address, or refuses it. Until it is approved it sends only to its own mailboxes and the simulator
// (src/identity/mailboxes/reach.ts); receiving and all else is not limited. A rejection does not
// stop queued mail, a pause does. Scheduled mail of a rejected organization is cancelled when it is
// due.
//
// status    event     to        also
// pending   approve   approved
// pending   reject    rejected
// approved  reject    rejected
// rejected  approve   approved
// rejected  reapply   pending   the generation grows: a verdict on an earlier generation is refused

import type { Caller } from '../../core/api/route.ts';
import { parseWith } from '../../core/api/validate.ts';
import type { App } from '../../core/app.ts';
import { actorOf, operatorActor } from '../../history/audit/audit.ts';
import { ConflictError, ForbiddenError } from '../../platform/errors.ts';
import { changeOrganization } from './organizations.ts';
import type { OrganizationRow } from './queries.ts';
import {
  type Organization,
  type ReapplyOnboarding,
  type ReviewOnboarding,
  reapplyOnboardingInput,
  reviewOnboardingInput,
} from './schema.ts';

const mayReapply = ['owner', 'admin'];

function requireGeneration(before: OrganizationRow, expected: number | undefined): void {
  const { onboarding_generation: generation, onboarding_status: status } = before;
  if (expected === undefined || expected === generation) return;
  throw new ConflictError(
    'organization',
    `The onboarding is at generation ${generation} (${status}), not ${expected}: ` +
      'read it again',
  );
}

/**
 * Stores the operator's verdict.
 * @throws ConflictError if it is already in force or was made for a different generation;
 * ResourceNotFoundError.
 */
export async function reviewOnboarding(
  app: App,
  idOrName: string,
  input: ReviewOnboarding,
): Promise<Organization> {
  const wanted = parseWith(reviewOnboardingInput, input, 'body');
  const { verdict, expectedGeneration, note } = wanted;
  return changeOrganization(app, idOrName, operatorActor, (before) => {
    requireGeneration(before, expectedGeneration);
    const { name, onboarding_status: status, onboarding_generation: generation } = before;
    if (status === verdict) {
      throw new ConflictError('organization', `The onboarding of "${name}" is already ${verdict}`);
    }
    return {
      set: { onboarding_status: verdict },
      action: `organization.onboarding-${verdict}`,
      details: { status: { before: status, after: verdict }, generation, note },
    };
  });
}

/**
 * Applies again for a rejected organization: it becomes pending, in the next generation.
 * @throws ForbiddenError unless the caller is an owner or admin; ConflictError if the organization
 * is not rejected or the generation differs.
 */
export async function reapplyOnboarding(
  app: App,
  caller: Caller,
  input: ReapplyOnboarding,
): Promise<Organization> {
  const { expectedGeneration, note } = parseWith(reapplyOnboardingInput, input, 'body');
  if (!mayReapply.includes(caller.roleName)) {
    throw new ForbiddenError('Only an owner or admin of the organization reapplies for its review');
  }
  return changeOrganization(app, caller.organizationId, actorOf(caller), (before) => {
    requireGeneration(before, expectedGeneration);
    const status = before.onboarding_status;
    if (status !== 'rejected') {
      throw new ConflictError(
        'organization',
        `The onboarding is ${status}: only a rejected organization reapplies`,
      );
    }
    const generation = before.onboarding_generation + 1;
    return {
      set: { onboarding_status: 'pending', onboarding_generation: generation },
      action: 'organization.onboarding-reapplied',
      details: { status: { before: status, after: 'pending' }, generation, note },
    };
  });
}
