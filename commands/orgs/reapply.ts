// As `POST /v1/organizations/onboarding/reapply`; the organization is that of `--org`.
import { Flags } from '@oclif/core';
import { organizationCard as card } from '../base/fields.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Apply again for the onboarding review, after a rejection',
  examples: [
    ['The generation, and why it was rejected', 'svc audit --org acme'],
    [
      'As an owner or admin of it would by HTTP',
      'svc orgs reapply --org acme --expected-generation 1 --note "We have a website now"',
    ],
  ],
  flags: {
    'expected-generation': Flags.integer({
      description: 'The generation that was rejected; another is a conflict',
      helpValue: 'N',
      required: true,
    }),
    note: Flags.string({ description: 'What the reviewer should know' }),
  },
  route: async () => (await import('../../src/organizations/routes.ts')).organizationRoutes.reapply,
  card,
});
