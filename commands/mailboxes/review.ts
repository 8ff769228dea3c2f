// `svc mailboxes review`. commands/base/review/walk.ts goes through the proposals.

import { BaseCommand } from '../base/command.ts';
import { canShowAndAsk, chosen, typedLine } from '../base/input/ask.ts';
import { editedText } from '../base/input/editor.ts';
import { mailboxIdFrom, mailboxOrAllArg } from '../base/mail/mailbox-id.ts';
import { ExpectationError, UsageError } from '../base/output/failure.ts';
import { writeLine } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

const choices = [
  { key: 'a', name: 'Approve: it goes as shown', value: 'approve' },
  { key: 'e', name: 'Edit it in $EDITOR', value: 'edit' },
  { key: 'r', name: 'Reject it, with a note', value: 'reject' },
  { key: 's', name: 'Skip it: decide later', value: 'skip' },
  { key: 'q', name: 'Quit', value: 'quit' },
] as const;

export default class MailboxesReview extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Decide on proposals of keys, one by one';

  static override description =
    'Works on a terminal. Shows each proposal with the end of its thread; a letter and ' +
    'Enter decide. An edit opens recipients, subject and text in $VISUAL or $EDITOR, and ' +
    'shows the result before it is sent. The mail is sent as shown, byte for byte; "svc ' +
    'mailboxes actions show" saves its files. Ends with exit code 8 if an approved mail ' +
    'could not be sent.';

  static override examples = [
    { description: 'Review the proposals of all mailboxes', command: 'svc mailboxes review' },
    {
      description: 'Review the proposals of the mailbox inbox@',
      command: 'svc mailboxes review inbox@sandbox.test',
    },
  ];

  static override args = mailboxOrAllArg;

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesReview);
    if (flags.json || !canShowAndAsk()) {
      const others = 'svc mailboxes actions --state proposed, and approve or reject ACTION';
      throw new UsageError(`a review needs a terminal; elsewhere use ${others}`);
    }
    const { failed } = await withSession(flags, async (session) => {
      const { reviewProposals } = await import('../base/review/walk.ts');
      const id = typed.mailbox === undefined ? null : await mailboxIdFrom(session, typed.mailbox);
      const reviewed = await reviewProposals(session, id, {
        show: writeLine,
        choose: (question) => chosen(question, choices),
        why: () => typedLine('Note for the key that proposed it:'),
        edit: editedText,
      });
      const counts = Object.entries(reviewed).map(([name, count]) => `${count} ${name}`);
      const isAny = Object.values(reviewed).some((count) => count > 0);
      if (isAny) writeLine(`\n${counts.join(', ')}.`);
      return reviewed;
    });
    if (failed > 0)
      throw new ExpectationError(`${failed} of the approved proposals could not be sent`);
  }
}
