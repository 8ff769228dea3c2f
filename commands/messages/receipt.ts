// `svc messages receipt`. src/receipts/receipt.ts builds the receipt.
import { BaseCommand } from '../base/command.ts';
import { jsonText } from '../base/input/json-text.ts';
import { messageArg, messageIdFrom } from '../base/mail/message-id.ts';
import { writeLine } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class MessagesReceipt extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Write a proof of delivery that others can check';

  static override description =
    'Prints JSON, with and without --json: the events of the message, the answers of servers, ' +
    'the digest of the mail, and the path to a signed head. "svc receipt verify" checks it ' +
    'without a store.';

  static override examples = [
    { description: 'Keep the receipt', command: 'svc messages receipt @last > receipt.json' },
  ];

  static override args = messageArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesReceipt);
    await withSession(flags, async (session) => {
      const id = await messageIdFrom(session, args.id);
      const { receiptRoutes } = await import('../../src/receipts/routes.ts');
      const receipt = await session.ask(receiptRoutes.get, { params: { id } });
      writeLine(jsonText(receipt));
    });
  }
}
