// `svc threads forward`. src/inbox/replies/forwarded.ts makes the forwarded content.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { callOnMessage, contentFlags, printResult } from '../base/mail/mail-words.ts';
import { threadArg } from '../base/mail/thread.ts';

export default class ThreadsForward extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Forward a message, quoted and with its attachments';

  static override examples = [
    {
      description: 'Forward with a text above the quote',
      command:
        'svc threads forward thread_06dq2k0qz8h3v5m1r9t4w7xy --to boss@example.com --text "For you."',
    },
  ];

  static override args = threadArg;

  static override flags = {
    to: Flags.string({
      description: 'Recipient; may be repeated',
      helpValue: 'ADDRESS',
      multiple: true,
    }),
    ...contentFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsForward);
    const load = async () =>
      (await import('../../src/inbox/replies/routes.ts')).answeringRoutes.forward;
    await printResult(flags, await callOnMessage(flags, args.thread, load));
  }
}
