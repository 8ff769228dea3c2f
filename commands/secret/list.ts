import { BaseCommand, tableFlags } from '../base/command.ts';
import { printList } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class SecretList extends BaseCommand {
  static override summary = 'List the root keys by their ids, never their bytes';

  static override description =
    'One key is in force. Earlier keys verify the links of mail sent while they were in force. A missing key is ' +
    'not in secret.key: links of its time do not work.';

  static override examples = [
    { description: 'Look at the keys after a rotation', command: 'svc secret list' },
  ];

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(SecretList);
    await withApp(flags, async (app) => {
      const { listRootKeys } = await import('../../src/key-rotation/rotate.ts');
      const items = await listRootKeys(app);
      const columns = ['id', 'status', 'addedAt', 'replacedAt'];
      await printList(flags, { items }, columns, 'The store has no root key.');
    });
  }
}
