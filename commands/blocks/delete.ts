import { Args } from '@oclif/core';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/confirm.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class BlocksDelete extends BaseCommand {
  static override summary = 'Lift a block: the address gets mail again';

  static override description =
    'What was suppressed meanwhile stays unsent. Asks first on a terminal; elsewhere it needs --yes.';

  static override examples = [
    { description: 'By its address', command: 'svc blocks delete ada@example.com' },
    {
      description: 'In a script',
      command: 'svc blocks delete blk_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the block (blk_…) or the address', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BlocksDelete);
    await withCaller(flags, async (app, caller) => {
      const { deleteBlock, getBlockNamed } = await import('../../src/blocks/blocks.ts');
      const { id, address, reason } = await getBlockNamed(app, caller, args.id);
      await confirmed(`Send to ${address} again (blocked: ${reason})?`, flags.yes);
      const deleted = await deleteBlock(app, caller, id);
      await print(flags, deleted, () => `${deleted.message}: ${address} gets mail again.`);
    });
  }
}
