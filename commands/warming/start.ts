// `svc warming start`. src/identity/warming/windows.ts opens the windows.
import { Flags } from '@oclif/core';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { given, readData } from '../base/input/body.ts';
import { domainArg, domainId } from '../base/nouns/domain-id.ts';
import { simulationView, warmingView } from '../base/nouns/ramp.ts';
import { print } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class WarmingStart extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Start warming a domain: an allowance that grows day by day';

  static override description =
    'Each window lasts 24 hours; one that closes safe lets the next one grow. Direct sends count ' +
    'in the window, and the plan does not delay them unless --direct is defer: then those above ' +
    'the allowance wait in the queue for a later window. Campaigns, which allowances are for, do ' +
    'not exist in this version yet.';

  static override examples = [
    {
      description: 'Preview the ramp',
      command:
        'svc warming start example.com --identity new --initial 50 --growth 30 --target 5000 --simulate',
    },
    {
      description: 'Start the warming',
      command:
        'svc warming start example.com --identity new --initial 50 --growth 30 --target 5000',
    },
  ];

  static override args = domainArg;

  static override flags = {
    identity: Flags.string({
      description: 'History of the domain at receivers: new, migrating or returning',
    }),
    initial: Flags.integer({ description: 'Recipients of the first window', helpValue: 'N' }),
    growth: Flags.integer({
      description: 'Growth from a safe window to the next, in percent',
      helpValue: 'PERCENT',
    }),
    target: Flags.integer({ description: 'Recipients of the last window', helpValue: 'N' }),
    direct: Flags.string({
      description:
        'Direct sends above the allowance: count (they go, default) or defer (they wait)',
    }),
    simulate: Flags.boolean({ description: 'Show the ramp with its dates; start nothing' }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WarmingStart);
    const body = {
      ...(await readData(flags.data)),
      ...given({
        identity: flags.identity,
        initialDailyRecipients: flags.initial,
        dailyGrowthPercent: flags.growth,
        targetDailyRecipients: flags.target,
        direct: flags.direct,
      }),
    };
    await withSession(flags, async (session) => {
      const id = await domainId(session, args.domain);
      if (flags.simulate) {
        const { simulateRamp } = await import('../../src/identity/warming/ramp.ts');
        const { startWarmingInput } = await import('../../src/identity/warming/schema.ts');
        const { parseWith } = await import('../../src/core/api/validate.ts');
        const ramp = simulateRamp(parseWith(startWarmingInput, body, 'body'), session.now());
        return print(flags, ramp, () => simulationView(ramp));
      }
      const { warmingRoutes } = await import('../../src/identity/warming/routes.ts');
      const started = await session.ask(warmingRoutes.start, { params: { id }, body });
      return print(flags, started, () => warmingView(started));
    });
  }
}
