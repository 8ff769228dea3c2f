// `svc threads delete`. Where it goes first: src/threads/threads.ts.

import { confirmed } from '../base/ask.ts';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { print } from '../base/output.ts';
import { callOnThread, threadArg } from '../base/thread.ts';

export default class ThreadsDelete extends BaseCommand {
  static override summary = 'Move a thread to trash; delete it for good from there';

  static override examples = [
    {
      description: 'Delete a thread for good',
      command: 'svc threads delete thread_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = threadArg;
  static override flags = yesFlag;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsDelete);
    const routes = async () => (await import('../../src/threads/routes.ts')).threadRoutes;
    const shown = await callOnThread(flags, args.thread, async () => (await routes()).get);
    if (shown.folder === 'trash') {
      const { subject, messageCount } = shown;
      const question = `Delete "${subject ?? ''}" for good, with its ${messageCount} messages?`;
      await confirmed(question, flags.yes === true);
    }
    const answer = await callOnThread(flags, args.thread, async () => (await routes()).delete);
    await print(flags, answer, () => answer.message);
  }
}
