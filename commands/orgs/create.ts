// `svc orgs create`. src/access/organizations/organizations.ts has the operation.
import { Flags } from '@oclif/core';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { given, readData } from '../base/input/body.ts';
import { organizationCard } from '../base/input/fields.ts';
import { printCard } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class OrgsCreate extends BaseCommand {
  static override summary = 'Create an organization';

  static override description =
    'Each key, domain and message belongs to one organization. The plan sets its limits: ' +
    'free, starter, growth, scale, or self-hosted, which has none; the configuration can ' +
    'change and add plans.';

  static override examples = [
    {
      description: 'Create one on the free plan that has paid already',
      command: 'svc orgs create --name acme --plan free --payment-method',
    },
    {
      description: 'Create a key for it',
      command: 'svc keys create --org acme --name first --role owner',
    },
  ];

  static override flags = {
    name: Flags.string({ description: 'Unique name' }),
    plan: Flags.string({ description: 'Plan: free, starter, growth, scale or self-hosted' }),
    'payment-method': Flags.boolean({ description: 'Record that a payment method is on file' }),
    timezone: Flags.string({
      description: 'Time zone: IANA name, such as Europe/Berlin',
      helpValue: 'ZONE',
    }),
    'created-at': Flags.string({
      description: 'Time of creation, ISO 8601 (default: now)',
      helpValue: 'TIME',
    }),
    onboarding: Flags.string({
      description:
        'Onboarding: pending allows only sends to its own mailboxes until "svc orgs review" ' +
        'approves it',
      helpValue: 'approved|pending',
    }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(OrgsCreate);
    const input = {
      ...(await readData(flags.data)),
      ...given({
        name: flags.name,
        plan: flags.plan,
        paymentMethodOnFile: flags['payment-method'] || undefined,
        timezone: flags.timezone,
        createdAt: flags['created-at'],
        onboarding: flags.onboarding,
      }),
    };
    await withApp(flags, async (app) => {
      const { createOrganization } = await import(
        '../../src/access/organizations/organizations.ts'
      );
      const { createOrganizationInput } = await import('../../src/access/organizations/schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const wanted = parseWith(createOrganizationInput, input, 'body');
      const made = await createOrganization(app, wanted);
      const next = `Create a key for it: svc keys create --org ${made.name} --name first --role owner`;
      await printCard(flags, made, organizationCard, next);
    });
  }
}
