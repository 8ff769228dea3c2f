// `svc config show`. src/core/config/config.ts reads and checks the configuration,
// src/core/config/show.ts shows the configuration.
import { Flags } from '@oclif/core';
import type { ConfigRow } from '../../src/core/config/show.ts';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output/output.ts';
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
    const loaded = await readStoreConfig(flags, { usesStore: false });
    const { describeConfig } = await import('../../src/core/config/show.ts');
    const rows = describeConfig(loaded);
    const { file } = loaded;
    if (!flags.origin) {
      await print(flags, nested(rows), async () => {
        const { table } = await import('../base/output/format.ts');
        return `file: ${file ?? 'none, using the defaults'}\n\n${table(rows, ['key', 'value'])}`;
      });
      return;
    }
    const { storeInWords } = await import('../base/store-place.ts');
    const store = await storeInWords(loaded);
    await print(flags, { store, file, items: rows }, async () => {
      const format = await import('../base/output/format.ts');
      const places = file ?? ['none, using the defaults; looked for', ...loaded.usualPlaces];
      const head = `store: ${store}\nfile:  ${[places].flat().join('\n       ')}`;
      const isTable = process.stdout.isTTY;
      const columns = ['key', 'value', 'origin'];
      return `${head}\n\n${isTable ? format.table(rows, columns) : linesOf(rows, format.inWords)}`;
    });
  }
}

/** Width of values up to which origins are aligned. A longer value moves only its own origin. */
const widestValue = 24;

/** Returns a line for each key. A long value widens no further line. */
function linesOf(rows: readonly ConfigRow[], inWords: (value: unknown) => string): string {
  const widestKey = Math.max(...rows.map(({ key }) => key.length));
  const lines = [
    ['key', 'value', 'origin'],
    ...rows.map((row) => [row.key, inWords(row.value), row.origin]),
  ];
  return lines
    .map(([key = '', value = '', origin = '']) =>
      [key.padEnd(widestKey), value.padEnd(widestValue), origin].join('  '),
    )
    .join('\n');
}

/** Nests dotted keys: `http.port` becomes `{http: {port}}`. */
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
