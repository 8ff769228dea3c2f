import { BaseCommand } from '../../base/command.ts';
import { domainArg, domainId as idOf } from '../../base/nouns/domain-id.ts';
import { print } from '../../base/output/output.ts';
import { runRoute } from '../../base/route.ts';
import { withCaller } from '../../base/session.ts';

export default class DomainsCatchAllDisable extends BaseCommand {
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
    await withCaller(flags, async (app, caller) => {
      const { catchAllRoutes } = await import('../../../src/identity/mailboxes/routes.ts');
      const domainId = await idOf(app, caller, args.domain);
      const answer = await runRoute(app, caller, catchAllRoutes.disable, { body: { domainId } });
      await print(flags, answer, () => `Mail for unknown addresses of ${args.domain} is refused`);
    });
  }
}
