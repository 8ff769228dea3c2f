// `svc orgs update`. src/access/organizations/organizations.ts has the operation.
import { Args, Flags } from '@oclif/core';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { given, readData } from '../base/input/body.ts';
import { organizationCard } from '../base/input/fields.ts';
import { organizationIdFrom } from '../base/nouns/organization-id.ts';
import { UsageError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

/** A number of days; `none` removes the setting. */
const daysFlag = Flags.custom<number | null>({
  helpValue: 'DAYS|none',
  parse: async (value, _context, { name }) => {
    if (value === 'none') return null;
    if (/^[1-9]\d{0,4}$/.test(value)) return Number(value);
    throw new UsageError(`--${name}: is not a number of days from 1 to 36500, or none`);
  },
});

export default class OrgsUpdate extends BaseCommand {
  static override summary = 'Change the name, plan or settings of an organization';

  static override description =
    'The daily quota changes with the next send, rate limit and tracking in every daemon ' +
    'within a second.';

  static override examples = [
    { description: 'Move it to a larger plan', command: 'svc orgs update acme --plan growth' },
    { description: 'Rename it; its id stays', command: 'svc orgs update acme --name acme-mail' },
    { description: 'Record its payment method', command: 'svc orgs update acme --payment-method' },
    {
      description: 'Track opens and clicks, unless a send says otherwise',
      command: 'svc orgs update acme --track-opens --track-clicks',
    },
    {
      description: 'Delete its mail after 90 days, texts after 30',
      command: 'svc orgs update acme --messages-days 90 --content-days 30',
    },
    {
      description: 'Search its messages by the metadata orderId',
      command: 'svc orgs update acme --metadata-key orderId',
    },
  ];

  static override args = {
    organization: Args.string({
      description: 'Id (org_…) or name of the organization',
      required: true,
    }),
  };

  static override flags = {
    name: Flags.string({ description: 'Unique name' }),
    plan: Flags.string({ description: 'Plan: free, starter, growth, scale or self-hosted' }),
    'payment-method': Flags.boolean({
      description: 'Record that a payment method is on file, or that none is',
      allowNo: true,
    }),
    timezone: Flags.string({
      description: 'Time zone: IANA name, such as Europe/Berlin',
      helpValue: 'ZONE',
    }),
    'track-opens': Flags.boolean({
      description: 'Track opens of messages that do not say otherwise',
      allowNo: true,
    }),
    'track-clicks': Flags.boolean({
      description: 'Track clicks in messages that do not say otherwise',
      allowNo: true,
    }),
    'messages-days': daysFlag({
      description:
        'Age at which its messages are deleted, if retention.messagesDays is not shorter',
    }),
    'content-days': daysFlag({
      description: 'Age at which its messages lose their content',
    }),
    'metadata-key': Flags.string({
      description:
        'Key of the metadata of messages to search by index, at most five; replaces all of them; ' +
        'none takes them back; may be repeated',
      helpValue: 'NAME|none',
      multiple: true,
    }),
    'sign-in': Flags.string({
      description: 'Proofs that open its console; strong: a passkey or single sign-on',
      options: ['any', 'strong'],
    }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OrgsUpdate);
    const input = {
      ...(await readData(flags.data)),
      ...given({
        name: flags.name,
        plan: flags.plan,
        paymentMethodOnFile: flags['payment-method'],
        timezone: flags.timezone,
        trackOpens: flags['track-opens'],
        trackClicks: flags['track-clicks'],
        messagesDays: flags['messages-days'],
        contentDays: flags['content-days'],
        signIn: flags['sign-in'],
        metadataKeys: flags['metadata-key']?.filter((key) => key !== 'none'),
      }),
    };
    await withApp(flags, async (app) => {
      const id = await organizationIdFrom(app, args.organization);
      const { updateOrganization } = await import(
        '../../src/access/organizations/organizations.ts'
      );
      const { updateOrganizationInput } = await import('../../src/access/organizations/schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const changes = parseWith(updateOrganizationInput, input, 'body');
      const updated = await updateOrganization(app, id, changes);
      const { askForQuota } = await import('../../src/outbound/queue/schedule/scheduled.ts');
      await askForQuota(app, updated.id);
      await printCard(flags, updated, organizationCard);
    });
  }
}
