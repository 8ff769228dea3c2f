// `svc threads forward`. What is sent on of a message: src/answering/forwarded.ts.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { contentFlags, mailFrom, printResult } from '../base/mail-words.ts';
import { callRoute } from '../base/route.ts';
import { args as mailboxArg } from '../mailboxes/show.ts';

export default class ThreadsForward extends BaseCommand {
  static override summary = 'Send a message on, quoted and with its attachments';

  static override examples = [
    {
      description: 'With a word on it',
      command:
        'svc threads forward mbx_06dq2k0qz8h3v5m1r9t4w7xy msg_06dq2k0qz8h3v5m1r9t4w7xy --to boss@example.com --text "For you."',
    },
  ];

  static override args = {
    ...mailboxArg,
    message: Args.string({ description: 'Id of the message (msg_…)', required: true }),
  };

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
    const input = {
      params: { id: args.id, messageId: args.message },
      body: await mailFrom(flags),
    };
    const load = async () =>
      (await import('../../src/answering/routes.ts')).answeringRoutes.forward;
    await printResult(flags, await callRoute(flags, load, input));
  }
}
