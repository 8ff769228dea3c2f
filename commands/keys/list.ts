// `svc keys list` (contract 3). What a key may do and who may make it: src/keys/keys.ts.
import { given } from '../base/body.ts';
import { BaseCommand, pageFlags } from '../base/command.ts';
import { keyColumns } from '../base/fields.ts';
import { printList } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class KeysList extends BaseCommand {
  static override summary = 'List the API keys of the organization, newest first';

  static override examples = [
    { description: 'All keys, the revoked ones too', command: 'svc keys list' },
    {
      description: 'Those of another organization',
      command: 'svc keys list --org acme --limit 100',
    },
  ];

  static override flags = { ...pageFlags };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysList);
    await withCaller(flags, async (app, caller) => {
      const { listKeys } = await import('../../src/keys/keys.ts');
      const { listKeysQuery } = await import('../../src/keys/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { page, limit } = flags;
      const query = parseWith(listKeysQuery, given({ page, limit }), 'query');
      const keys = await listKeys(app, caller, query);
      await printList(flags, keys, keyColumns, 'No keys yet: svc keys create --name NAME');
    });
  }
}
