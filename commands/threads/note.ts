import { Flags } from '@oclif/core';
import { given, textFrom } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printCard } from '../base/output.ts';
import { callOnThread, threadArg } from '../base/thread.ts';

export default class ThreadsNote extends BaseCommand {
  static override summary = 'Write a note on a thread; notes are never mailed';

  static override examples = [
    {
      description: 'Write a note for the next person',
      command: 'svc threads note thread_06dq2k0qz8h3v5m1r9t4w7xy --body "Waits for the invoice"',
    },
  ];

  static override args = threadArg;

  static override flags = {
    body: Flags.string({ description: 'Text of the note; @FILE, or @- for standard input' }),
    color: Flags.string({
      description: 'Colour: yellow, green, blue, purple, pink, red, orange or gray',
    }),
    pinned: Flags.boolean({ description: 'Show it above the others' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsNote);
    const load = async () => (await import('../../src/threads/routes.ts')).noteRoutes.create;
    const { color } = flags;
    const pinned = flags.pinned ? true : undefined;
    const body = given({ body: await textFrom(flags.body), color, pinned });
    const note = await callOnThread(flags, args.thread, load, { body });
    const fields = ['id', 'author.kind', 'author.displayName', 'body', 'color', 'pinned'];
    await printCard(flags, note, [...fields, 'createdAt']);
  }
}
