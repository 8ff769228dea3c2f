// `svc members erase`. docs/people.md lists the data that stays.
import { Args } from '@oclif/core';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/input/ask.ts';
import { print } from '../base/output/output.ts';
import { withCaller } from '../base/session.ts';

export default class MembersErase extends BaseCommand {
  static override summary = 'Erase name and address of a deleted member';

  static override description =
    'Takes both out of the audit, runs and all records that name the member as author. The id stays there.';

  static override examples = [
    {
      description: 'Erase the name of a member who left',
      command: 'svc members erase mem_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the deleted member, as in svc audit', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MembersErase);
    const { id } = args;
    await confirmed(`Erase name and address of ${id} for good?`, flags.yes);
    await withCaller(flags, async (app, caller) => {
      const [{ requestErasureOfMember }, { eraseDue }] = await Promise.all([
        import('../../src/access/members/erase.ts'),
        import('../../src/service/erasing/eraser.ts'),
      ]);
      await requestErasureOfMember(app, caller, id);
      await eraseDue(app);
      await print(flags, { id }, () => `The records of ${id} have no name and no address`);
    });
  }
}
