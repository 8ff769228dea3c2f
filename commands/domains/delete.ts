// `svc domains delete` (contract 6). Keys and records: src/domains/domains.ts; looking them up:
// verification.ts there.
import { Args } from '@oclif/core';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/confirm.ts';
import { domainId } from '../base/domain-id.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class DomainsDelete extends BaseCommand {
  static override summary = 'Delete a sending domain and its DKIM keys for good';

  static override description =
    'Its senders may not send any more. Asks first on a terminal; elsewhere it needs --yes.';

  static override examples = [
    { description: 'In a script', command: 'svc domains delete example.com --yes' },
  ];

  static override args = {
    domain: Args.string({ description: 'Id (dom_…) or name', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsDelete);
    await withCaller(flags, async (app, caller) => {
      const { deleteDomain, getDomain } = await import('../../src/domains/domains.ts');
      const id = await domainId(app, caller, args.domain);
      const { domain } = await getDomain(app, caller, id);
      await confirmed(`Delete ${domain} and its DKIM keys for good?`, flags.yes);
      const deleted = await deleteDomain(app, caller, id);
      await print(flags, deleted, () => deleted.message);
    });
  }
}
