import { Args, Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printCard } from '../base/output.ts';
import { callOnThread, standingCard, threadArg } from '../base/thread.ts';

export default class ThreadsMove extends BaseCommand {
  static override summary = 'Move a thread to a folder, or mark it';

  static override examples = [
    {
      description: 'Archive a thread',
      command: 'svc threads move thread_06dq2k0qz8h3v5m1r9t4w7xy archive --read',
    },
  ];

  static override args = {
    ...threadArg,
    folder: Args.string({
      description: 'Folder: inbox, sent, archive, spam, trash or drafts (default: unchanged)',
    }),
  };

  static override flags = {
    read: Flags.boolean({ description: 'Mark it as read, or as unread', allowNo: true }),
    starred: Flags.boolean({ description: 'Star it, or remove the star', allowNo: true }),
    priority: Flags.string({ description: 'Priority: high, normal or low' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsMove);
    const load = async () => (await import('../../src/threads/routes.ts')).threadRoutes.update;
    const { read, starred, priority } = flags;
    const body = given({ folder: args.folder, read, starred, priority });
    const thread = await callOnThread(flags, args.thread, load, { body });
    await printCard(flags, thread, standingCard);
  }
}
