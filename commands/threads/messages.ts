import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printList } from '../base/output.ts';
import { callOnThread, threadArg } from '../base/thread.ts';

export default class ThreadsMessages extends BaseCommand {
  static override summary = 'List the messages of a thread, oldest first';

  static override examples = [
    {
      description: 'List the messages with their senders',
      command: 'svc threads messages thread_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = threadArg;

  static override flags = {
    limit: Flags.string({ description: 'Number of items, at most 100' }),
    cursor: Flags.string({ description: 'nextCursor of the page before' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsMessages);
    const load = async () => (await import('../../src/threads/routes.ts')).threadRoutes.messages;
    const query = given({ limit: flags.limit, cursor: flags.cursor });
    const page = await callOnThread(flags, args.thread, load, { query });
    const columns = ['threadPosition', 'id', 'createdAt', 'from', 'kind', 'preview'];
    await printList(flags, page, columns, 'This thread has no messages: it began with a draft');
  }
}
