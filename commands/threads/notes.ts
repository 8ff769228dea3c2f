import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printList } from '../base/output.ts';
import { callOnThread, threadArg } from '../base/thread.ts';

export default class ThreadsNotes extends BaseCommand {
  static override summary = 'List the notes on a thread, oldest first';

  static override examples = [
    {
      description: 'List the notes with their authors',
      command: 'svc threads notes thread_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = threadArg;

  static override flags = {
    limit: Flags.string({ description: 'Number of items, at most 100' }),
    cursor: Flags.string({ description: 'nextCursor of the page before' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsNotes);
    const load = async () => (await import('../../src/threads/routes.ts')).noteRoutes.list;
    const query = given({ limit: flags.limit, cursor: flags.cursor });
    const page = await callOnThread(flags, args.thread, load, { query });
    const columns = ['id', 'createdAt', 'author.displayName', 'color', 'pinned', 'body'];
    await printList(
      flags,
      page,
      columns,
      'No notes yet. Write one: svc threads note THREAD --body TEXT',
    );
  }
}
