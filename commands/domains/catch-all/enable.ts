// `svc domains catch-all enable`. Addresses of mailboxes take precedence over a catch-all
// (src/inbox/receiving/resolve.ts).
import { Flags } from '@oclif/core';
import { BaseCommand } from '../../base/command.ts';
import { domainArg, domainId as idOf } from '../../base/nouns/domain-id.ts';
import { print } from '../../base/output/output.ts';
import { withSession } from '../../base/route.ts';

export default class DomainsCatchAllEnable extends BaseCommand {
  static override asksServer = true;

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
    await withSession(flags, async (session) => {
      const { catchAllRoutes } = await import('../../../src/identity/mailboxes/routes.ts');
      const domainId = await idOf(session, args.domain);
      const body = { domainId, mailboxId: flags.mailbox };
      const answer = await session.ask(catchAllRoutes.enable, { body });
      const words = `${flags.mailbox} gets the mail for unknown addresses of ${args.domain}`;
      await print(flags, answer, () => words);
    });
  }
}
