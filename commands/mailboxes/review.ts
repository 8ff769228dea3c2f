// `svc mailboxes review`. How it goes through the proposals: commands/base/review/walk.ts.
import { canShowAndAsk, chosen, typedLine } from '../base/ask.ts';
import { BaseCommand } from '../base/command.ts';
import { editedText } from '../base/editor.ts';
import { ExpectationError, UsageError } from '../base/failure.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mailbox-id.ts';
import { writeLine } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

const choices = [
  { key: 'a', name: 'Approve: it goes as shown', value: 'approve' },
  { key: 'e', name: 'Edit it in $EDITOR', value: 'edit' },
  { key: 'r', name: 'Reject it, with a note', value: 'reject' },
  { key: 's', name: 'Skip it: it waits on', value: 'skip' },
  { key: 'q', name: 'Quit', value: 'quit' },
] as const;

export default class MailboxesReview extends BaseCommand {
  static override summary = 'Go through what keys proposed to send, and decide one by one';

  static override description =
    'On a terminal. Each is shown with the end of its thread; a letter and Enter decide. An edit opens ' +
    'recipients, subject and text in $VISUAL or $EDITOR, and is shown before it goes. What is shown is ' +
    'what goes, byte for byte; svc mailboxes actions show saves its files. Exit code 8 where ' +
    'one that was approved could not be sent.';

  static override examples = [
    { description: 'Of the mailbox inbox@', command: 'svc mailboxes review inbox@sandbox.test' },
  ];

  static override args = mailboxArg;

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesReview);
    if (flags.json || !canShowAndAsk()) {
      const others = 'svc mailboxes actions MAILBOX --state proposed, and approve or reject ACTION';
      throw new UsageError(`a review asks a person at a terminal; elsewhere use ${others}`);
    }
    const { failed } = await withCaller(flags, async (app, caller) => {
      const { reviewProposals } = await import('../base/review/walk.ts');
      const id = await mailboxIdFrom(app, caller, typed.mailbox ?? '');
      const reviewed = await reviewProposals(app, caller, id, {
        show: writeLine,
        choose: (question) => chosen(question, choices),
        why: () => typedLine('Why? Who proposed it reads that:'),
        edit: editedText,
      });
      const counts = Object.entries(reviewed).map(([name, count]) => `${count} ${name}`);
      const isAny = Object.values(reviewed).some((count) => count > 0);
      if (isAny) writeLine(`\n${counts.join(', ')}.`);
      return reviewed;
    });
    if (failed > 0) throw new ExpectationError(`${failed} could not be sent`);
  }
}
