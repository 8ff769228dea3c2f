// The operations on the caller's own organization (specification 4.8, 5.6). Further changes belong
// to the operator, and are not part of HTTP.
import { area } from '../../core/api/area.ts';
import { internalRoute } from '../../core/api/route.ts';
import { actorOf } from '../../history/audit/audit.ts';
import { ConflictError } from '../../platform/errors.ts';
import { reapplyOnboarding } from './onboarding.ts';
import { getOrganization, updateOrganization } from './organizations.ts';
import {
  organizationOutput,
  reapplyOnboardingInput,
  signInInput,
  updateOrganizationInput,
} from './schema.ts';

const at = area('organization', {
  about: 'The organization of the key: its onboarding review and its audit',
});

export const organizationRoutes = {
  current: at.get('/v1/organizations/current', {
    name: 'getCurrentOrganization',
    summary: 'Show the organization of the key',
    output: organizationOutput,
    run: (app, { caller }) => getOrganization(app, caller.organizationId),
  }),
  reapply: at.post('/v1/organizations/onboarding/reapply', {
    name: 'reapplyForOnboardingReview',
    summary: 'Reapply for the email onboarding review',
    description:
      'An owner or admin can reapply after a rejection: the review is pending again, with ' +
      'the next generation. `expectedGeneration` is the `onboarding.generation` that was ' +
      'read; a 409 means that the generation has changed, or that the organization is not ' +
      'rejected.',
    body: reapplyOnboardingInput,
    output: organizationOutput,
    throws: [ConflictError],
    status: 200,
    run: (app, { caller, body }) => reapplyOnboarding(app, caller, body),
  }),
};

export const organizationDesk = {
  update: internalRoute({
    name: 'organization',
    permission: 'operator',
    body: updateOrganizationInput,
    run: (app, { caller, body }) => updateOrganization(app, caller.organizationId, body),
  }),
  signIn: internalRoute({
    name: 'organization sign-in',
    permission: 'members:write',
    body: signInInput,
    run: (app, { caller, body }) =>
      updateOrganization(app, caller.organizationId, body, actorOf(caller)),
  }),
};
