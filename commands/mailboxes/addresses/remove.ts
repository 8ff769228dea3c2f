// `svc mailboxes addresses remove`. src/identity/mailboxes/mailboxes.ts handles the removal of a
// primary address.
import { Args } from '@oclif/core';
import { BaseCommand } from '../../base/command.ts';
import { printCard } from '../../base/output/output.ts';
import { callRoute } from '../../base/route.ts';
import { card, args as mailboxArg } from '../show.ts';

export default class MailboxesAddressesRemove extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Remove an address from a mailbox';

  static override description =
    'The next oldest address replaces a primary one. A mailbox keeps its last address.';

  static override examples = [
    {
      description: 'Remove an address by its id: svc mailboxes show MBX --json',
      command:
        'svc mailboxes addresses remove mbx_06dq2k0qz8h3v5m1r9t4w7xy mba_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = {
    ...mailboxArg,
    address: Args.string({ description: 'Id of the address (mba_…)', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MailboxesAddressesRemove);
    const { id, address: addressId } = args;
    const mailbox = await callRoute(
      flags,
      async () =>
        (await import('../../../src/identity/mailboxes/routes.ts')).mailboxRoutes.removeAddress,
      { params: { id, addressId } },
    );
    await printCard(flags, mailbox, card);
  }
}
