// `svc threads reply`. src/inbox/replies/recipients.ts chooses the recipients.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { callOnMessage, contentFlags, printResult } from '../base/mail/mail-words.ts';
import { threadArg } from '../base/mail/thread.ts';

export default class ThreadsReply extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Reply to a message in its thread';

  static override description =
    'Replies to its Reply-To, or else its sender, from the address that received it; ' +
    'with --all to everybody named in the message except the mailbox. Blocked addresses ' +
    'are left out.';

  static override examples = [
    {
      description: 'Reply to the sender',
      command: 'svc threads reply thread_06dq2k0qz8h3v5m1r9t4w7xy --text "Thank you."',
    },
  ];

  static override args = threadArg;

  static override flags = {
    all: Flags.boolean({ description: 'Reply to everybody named in the message' }),
    ...contentFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsReply);
    const load = async () => {
      const { answeringRoutes } = await import('../../src/inbox/replies/routes.ts');
      return flags.all ? answeringRoutes.replyAll : answeringRoutes.reply;
    };
    await printResult(flags, await callOnMessage(flags, args.thread, load));
  }
}
