// The HTTP operations on the caller's own organization (specification 4.8, 5.6). Whatever else is done
// to organizations is the operator's.
import { type Route, route } from '../api/route.ts';
import { reapplyOnboarding } from './onboarding.ts';
import { getOrganization } from './organizations.ts';
import { organizationOutput, reapplyOnboardingInput } from './schema.ts';

const area = 'organization';

export const organizationRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/organizations/current',
    name: 'getCurrentOrganization',
    summary: 'Show the organization of the key',
    area,
    permission: 'organization:read',
    status: 200,
    output: organizationOutput,
    run: (app, { caller }) => getOrganization(app, caller.organizationId),
  }),
  route({
    method: 'POST',
    path: '/v1/organizations/onboarding/reapply',
    name: 'reapplyForOnboardingReview',
    summary: 'Reapply for the email onboarding review',
    description:
      "An owner's or admin's, after a rejection: the review is pending again, one generation on. " +
      '`expectedGeneration` is the `onboarding.generation` that was seen; a 409 says that it is another ' +
      'now, or that the organization is not rejected.',
    area,
    permission: 'organization:write',
    body: reapplyOnboardingInput,
    status: 200,
    output: organizationOutput,
    errors: [409],
    run: (app, { caller, body }) => reapplyOnboarding(app, caller, body),
  }),
];
