import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { timeAhead } from '../base/input/since.ts';
import { callOnThread, standingCard, threadArg } from '../base/mail/thread.ts';
import { UsageError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';

export default class ThreadsSnooze extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Snooze a thread: it returns to the inbox unread';

  static override description = 'New mail in the thread ends the snooze too.';

  static override examples = [
    {
      description: 'Snooze a thread until tomorrow',
      command: 'svc threads snooze thread_06dq2k0qz8h3v5m1r9t4w7xy --until 1d',
    },
    {
      description: 'End the snooze now',
      command: 'svc threads snooze thread_06dq2k0qz8h3v5m1r9t4w7xy --end',
    },
  ];

  static override args = threadArg;

  static override flags = {
    until: Flags.string({
      description: 'End of the snooze: 10m, 1h or 7d from now, or an instant',
      helpValue: 'TIME',
    }),
    end: Flags.boolean({ description: 'End the snooze now' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsSnooze);
    const until = timeAhead('--until', flags.until, Date.now());
    if ((until === undefined) === !flags.end) throw new UsageError('give --until TIME or --end');
    const load = async () =>
      (await import('../../src/inbox/threads/routes.ts')).threadRoutes.update;
    const body = { snoozedUntil: until ?? null };
    const thread = await callOnThread(flags, args.thread, load, { body });
    await printCard(flags, thread, standingCard);
  }
}
