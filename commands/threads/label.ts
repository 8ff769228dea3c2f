import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { standingCard, threadArg, threadParams } from '../base/mail/thread.ts';
import { UsageError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

const several = { multiple: true, multipleNonGreedy: true } as const;

export default class ThreadsLabel extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Add labels to a thread, or remove them';

  static override description =
    'A label keeps its letter case and is compared without it. Removing a label that the ' +
    'thread lacks has no effect.';

  static override examples = [
    {
      description: 'Add and remove a label',
      command:
        'svc threads label thread_06dq2k0qz8h3v5m1r9t4w7xy --add billing --add vip --remove new',
    },
  ];

  static override args = threadArg;

  static override flags = {
    add: Flags.string({ description: 'Label to add; may be repeated', ...several }),
    remove: Flags.string({ description: 'Label to remove; may be repeated', ...several }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsLabel);
    const { add, remove } = flags;
    if (!add && !remove) throw new UsageError('give --add LABEL or --remove LABEL');
    const routes = async () => (await import('../../src/inbox/threads/routes.ts')).threadRoutes;
    const changes = [
      { labels: remove, load: async () => (await routes()).removeLabels },
      { labels: add, load: async () => (await routes()).addLabels },
    ];
    await withSession(flags, async (session) => {
      const params = await threadParams(session, args.thread);
      let standing: object = {};
      for (const { labels, load } of changes) {
        if (!labels) continue;
        standing = await session.ask(await load(), { params, body: { labels } });
      }
      await printCard(flags, standing, standingCard);
    });
  }
}
