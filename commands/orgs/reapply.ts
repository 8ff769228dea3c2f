// `svc orgs reapply`: `POST /v1/organizations/onboarding/reapply` for the organization of `--org`.
import { organizationRoutes } from '../../src/access/organizations/routes.ts';
import { organizationCard as card } from '../base/input/fields.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Apply for the onboarding review again after a rejection',
  examples: [
    [
      'Apply again for an organization',
      'svc orgs reapply --org acme --expected-generation 1 --note "We have a website now"',
    ],
    ['Show the generation and the reason of the rejection', 'svc audit --org acme'],
  ],
  route: organizationRoutes.reapply,
  card,
});
