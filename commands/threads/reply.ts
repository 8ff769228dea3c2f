// `svc threads reply`. Recipients of an answer: src/answering/recipients.ts.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { callOnMessage, contentFlags, printResult } from '../base/mail-words.ts';
import { threadArg } from '../base/thread.ts';

export default class ThreadsReply extends BaseCommand {
  static override summary = 'Answer a message in its thread';

  static override description =
    'To its Reply-To, or else its sender, from the address that it came to; with --all to everybody ' +
    'who is named in it, but for the mailbox. What is blocked is left out.';

  static override examples = [
    {
      description: 'To the sender',
      command: 'svc threads reply thread_06dq2k0qz8h3v5m1r9t4w7xy --text "Thank you."',
    },
  ];

  static override args = threadArg;

  static override flags = {
    all: Flags.boolean({ description: 'To everybody who is named in it' }),
    ...contentFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsReply);
    const load = async () => {
      const { answeringRoutes } = await import('../../src/answering/routes.ts');
      return flags.all ? answeringRoutes.replyAll : answeringRoutes.reply;
    };
    await printResult(flags, await callOnMessage(flags, args.thread, load));
  }
}
