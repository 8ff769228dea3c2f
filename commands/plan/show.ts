// `svc plan show` (specification 8). src/access/admission/plan-state.ts has the limits in
// force, and the ways to lift them.
import { BaseCommand } from '../base/command.ts';
import { printCard } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

const fields = [
  'name',
  'plan',
  'sendingStatus',
  'rate.perSecond',
  'rate.burst',
  'rate.burstPerKey',
  'daily.usedEmails',
  'daily.limitEmails',
  'daily.remainingEmails',
  'daily.resetsAt',
];

export default class PlanShow extends BaseCommand {
  static override summary = 'Show the limits of the plan, and which one binds now';

  static override examples = [
    { description: 'Show the limits of one organization', command: 'svc plan show --org acme' },
    {
      description: 'Print the emails left today',
      command: 'svc plan show --org acme --json | jq .daily.remainingEmails',
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(PlanShow);
    await withSession(flags, async (session) => {
      const { planRoutes } = await import('../../src/access/admission/routes.ts');
      const state = await session.ask(planRoutes.show, {});
      const { binds, liftedBy } = state;
      const note = liftedBy === null ? binds : `${binds}\nLifted by: ${liftedBy}`;
      await printCard(flags, state, fields, note);
    });
  }
}
