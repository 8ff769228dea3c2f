// `svc domains catch-all enable`. Addresses of mailboxes take precedence over a catch-all
// (src/inbox/receiving/resolve.ts).
import { Flags } from '@oclif/core';
import { BaseCommand } from '../../base/command.ts';
import { domainArg, domainId as idOf } from '../../base/nouns/domain-id.ts';
import { print } from '../../base/output/output.ts';
import { runRoute } from '../../base/route.ts';
import { withCaller } from '../../base/session.ts';

export default class DomainsCatchAllEnable extends BaseCommand {
  static override summary = 'Deliver mail for unknown addresses to a mailbox';

  static override examples = [
    {
      description: 'Deliver mail for misspelt addresses to a mailbox',
      command: 'svc domains catch-all enable example.com --mailbox mbx_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = domainArg;

  static override flags = {
    mailbox: Flags.string({ description: 'Id of the mailbox', helpValue: 'MBX', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsCatchAllEnable);
    await withCaller(flags, async (app, caller) => {
      const { catchAllRoutes } = await import('../../../src/identity/mailboxes/routes.ts');
      const domainId = await idOf(app, caller, args.domain);
      const body = { domainId, mailboxId: flags.mailbox };
      const answer = await runRoute(app, caller, catchAllRoutes.enable, { body });
      const words = `${flags.mailbox} gets the mail for unknown addresses of ${args.domain}`;
      await print(flags, answer, () => words);
    });
  }
}
