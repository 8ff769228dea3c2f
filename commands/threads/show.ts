import { BaseCommand } from '../base/command.ts';
import { printCard } from '../base/output.ts';
import { callOnThread, threadArg, threadCard } from '../base/thread.ts';

export default class ThreadsShow extends BaseCommand {
  static override summary = 'Show a thread';

  static override examples = [
    {
      description: 'Show the state of a thread',
      command: 'svc threads show thread_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = threadArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsShow);
    const load = async () => (await import('../../src/threads/routes.ts')).threadRoutes.get;
    await printCard(flags, await callOnThread(flags, args.thread, load), threadCard);
  }
}
