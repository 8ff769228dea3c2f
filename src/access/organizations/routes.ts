// The HTTP operations on the caller's own organization (specification 4.8, 5.6). All others belong to the
// operator.
import { area } from '../../core/api/area.ts';
import { ConflictError } from '../../platform/errors.ts';
import { reapplyOnboarding } from './onboarding.ts';
import { getOrganization } from './organizations.ts';
import { organizationOutput, reapplyOnboardingInput } from './schema.ts';

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
