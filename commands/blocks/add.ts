import { Args, Flags } from '@oclif/core';
import { given, readData } from '../base/body.ts';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { blockCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class BlocksAdd extends BaseCommand {
  static override summary = 'Block an address: it gets no mail from now on';

  static override description =
    'A send to it is still accepted; its delivery fails at once with the error code "suppressed".';

  static override examples = [
    { description: 'By hand', command: 'svc blocks add ada@example.com' },
    {
      description: 'They asked for it',
      command: 'svc blocks add ada@example.com --reason unsubscribe',
    },
  ];

  static override args = {
    address: Args.string({ description: 'The address' }),
  };

  static override flags = {
    reason: Flags.string({ description: 'bounce, complaint, unsubscribe or manual (default)' }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BlocksAdd);
    const { address } = args;
    const input = { ...(await readData(flags.data)), ...given({ address, reason: flags.reason }) };
    await withCaller(flags, async (app, caller) => {
      const { createBlock } = await import('../../src/blocks/blocks.ts');
      const { createBlockInput } = await import('../../src/blocks/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const block = await createBlock(app, caller, parseWith(createBlockInput, input, 'body'));
      await printCard(flags, block, blockCard);
    });
  }
}
