// `svc config show`. Reading and checking is src/core/config/config.ts, showing
// src/core/config/show.ts.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output.ts';
import { readStoreConfig } from '../base/session.ts';

export default class ConfigShow extends BaseCommand {
  static override summary = 'Show the configuration in force, secrets hidden';

  static override description =
    'With --origin it also shows the store in use, and the origin of each value: the ' +
    'default, a line of the file, or a variable.';

  static override examples = [
    {
      description: 'Show the configuration for this directory',
      command: 'svc config show --origin',
    },
    {
      description: 'Print one value for a script',
      command: 'svc config show --json | jq .http.port',
    },
  ];

  static override flags = {
    origin: Flags.boolean({ description: 'Show the origin of each value' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigShow);
    const loaded = await readStoreConfig(flags);
    const { describeConfig } = await import('../../src/core/config/show.ts');
    const rows = describeConfig(loaded);
    const { file } = loaded;
    if (!flags.origin) {
      await print(flags, nested(rows), async () => {
        const { table } = await import('../base/format.ts');
        return `file: ${file ?? 'none, using the defaults'}\n\n${table(rows, ['key', 'value'])}`;
      });
      return;
    }
    const { configFileInWords, storeInWords } = await import('../base/store-place.ts');
    const store = await storeInWords(loaded);
    await print(flags, { store, file, items: rows }, async () => {
      const { table } = await import('../base/format.ts');
      const head = `store: ${store}\nfile:  ${configFileInWords(loaded)}`;
      return `${head}\n\n${table(rows, ['key', 'value', 'origin'])}`;
    });
  }
}

/** `http.port` as `{http: {port}}`. */
function nested(rows: readonly { key: string; value: unknown }[]): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const { key, value } of rows) {
    const names = key.split('.');
    const last = names.pop() ?? '';
    let section = tree;
    for (const name of names) {
      section[name] ??= {};
      section = section[name] as Record<string, unknown>;
    }
    section[last] = value;
  }
  return tree;
}
