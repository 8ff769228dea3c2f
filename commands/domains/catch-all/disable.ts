import { BaseCommand } from '../../base/command.ts';
import { domainArg, domainId as idOf } from '../../base/nouns/domain-id.ts';
import { print } from '../../base/output/output.ts';
import { withSession } from '../../base/route.ts';

export default class DomainsCatchAllDisable extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Disable the catch-all of a domain';

  static override examples = [
    {
      description: 'Refuse mail for unknown addresses again',
      command: 'svc domains catch-all disable example.com',
    },
  ];

  static override args = domainArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DomainsCatchAllDisable);
    await withSession(flags, async (session) => {
      const { catchAllRoutes } = await import('../../../src/identity/mailboxes/routes.ts');
      const domainId = await idOf(session, args.domain);
      const answer = await session.ask(catchAllRoutes.disable, { body: { domainId } });
      await print(flags, answer, () => `Mail for unknown addresses of ${args.domain} is refused`);
    });
  }
}
